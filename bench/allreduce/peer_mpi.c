/* All-reduce by MPI: peer_mpi BYTES:REPEATS[,...] under mpirun.
   Measures as the example all_reduce_speed of crates/comm does, and prints the same line. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2 };

static void add_up(float *values, int count) {
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static double milliseconds(int count, int repeats, int size) {
  float *values = malloc(sizeof(float) * count);
  for (int i = 0; i < count; i++) values[i] = i % 1000;
  add_up(values, count);
  for (int i = 0; i < count; i++) {
    if (values[i] != (float)((i % 1000) * size)) {
      fprintf(stderr, "a wrong sum\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  memset(values, 0, sizeof(float) * count);
  for (int i = 0; i < WARM_UP; i++) add_up(values, count);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < repeats; i++) add_up(values, count);
  MPI_Barrier(MPI_COMM_WORLD);
  double taken = MPI_Wtime() - start;
  free(values);
  return taken * 1e3 / repeats;
}

int main(int words, char **word) {
  int rank, size;
  MPI_Init(&words, &word);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (char *load = strtok(word[1], ","); load; load = strtok(NULL, ",")) {
    int bytes, repeats;
    if (sscanf(load, "%d:%d", &bytes, &repeats) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    double taken = milliseconds(bytes / 4, repeats, size);
    if (rank == 0) printf("%.4f ", taken);
  }
  if (rank == 0) printf("\n");
  MPI_Finalize();
  return 0;
}
