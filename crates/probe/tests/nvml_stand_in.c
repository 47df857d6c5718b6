/* Stands in for a GPU driver's library in tests: two GPUs, the second of which tells little.
 *
 * The file beside the library with `.processes` at the end of its name lists who computes on the
 * first GPU, one line a process: number, bytes of memory, percent of computing. Where one with
 * `.fails` is there, the driver does not start. Every look at what processes compute adds a byte
 * to the one with `.looks`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu, compute; } process_t;
typedef struct { unsigned pid; unsigned long long time; unsigned sm, mem, enc, dec; } share_t;

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
static unsigned long long looks;

static FILE *beside(const char *end, const char *mode) {
  Dl_info own;
  char path[4096];
  if (!dladdr((void *)beside, &own)) return NULL;
  snprintf(path, sizeof path, "%s%s", own.dli_fname, end);
  return fopen(path, mode);
}

int nvmlInit_v2(void) {
  FILE *fails = beside(".fails", "r");
  if (fails) fclose(fails);
  return fails ? 9 : 0;
}
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = (void *)(size_t)(index + 1);
  return 0;
}
static int first(void *device) { return (size_t)device == 1; }

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
  snprintf(name, length, "Stand-in %d", first(device) ? 0 : 1);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
  memory->total = 8ull << 30;
  memory->used = first(device) ? 3ull << 30 : 1ull << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void *device, utilization_t *rates) {
  rates->gpu = first(device) ? 70 : 5;
  rates->memory = 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  if (!first(device)) return NOT_SUPPORTED;
  *milliwatts = 123500;
  return 0;
}

static int lines(process_t *found, unsigned *percents, int most) {
  FILE *file = beside(".processes", "r");
  int count = 0;
  unsigned pid, percent;
  unsigned long long used;
  if (!file) return 0;
  while (count < most && fscanf(file, "%u %llu %u", &pid, &used, &percent) == 3) {
    memset(&found[count], 0, sizeof found[count]);
    found[count].pid = pid;
    found[count].used = used;
    percents[count++] = percent;
  }
  fclose(file);
  return count;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *infos) {
  process_t found[100];
  unsigned percents[100];
  if (!first(device)) return NOT_SUPPORTED;
  int own = lines(found, percents, 100);
  if ((unsigned)own > *count) { *count = own; return INSUFFICIENT_SIZE; }
  memcpy(infos, found, own * sizeof *found);
  *count = own;
  return 0;
}
int nvmlDeviceGetProcessUtilization(void *device, share_t *shares, unsigned *count,
                                    unsigned long long since) {
  process_t found[100];
  unsigned percents[100];
  if (!first(device)) return NOT_SUPPORTED;
  /* Nobody has seen what is still to come. */
  if (since > looks) return NOT_SUPPORTED;
  int own = lines(found, percents, 100);
  if (own == 0) return NOT_FOUND;
  if ((unsigned)own > *count) { *count = own; return INSUFFICIENT_SIZE; }
  looks += 1;
  FILE *told = beside(".looks", "a");
  if (told) {
    fputc('.', told);
    fclose(told);
  }
  for (int index = 0; index < own; index++) {
    memset(&shares[index], 0, sizeof shares[index]);
    shares[index].pid = found[index].pid;
    shares[index].time = looks;
    shares[index].sm = percents[index];
  }
  *count = own;
  return 0;
}
