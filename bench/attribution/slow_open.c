/* A disk that answers late: every picture that is opened is there after some milliseconds.
 * LD_PRELOAD it; SLOW_OPEN_US says how many microseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(const char *path) {
  const char *end = strrchr(path, '.');
  const char *slow = getenv("SLOW_OPEN_US");
  if (slow && end && strcmp(end, ".png") == 0) usleep(atoi(slow));
}

#define SLOW(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    static int (*real)(const char *, int, ...);                           \
    va_list list;                                                         \
    va_start(list, flags);                                                \
    mode_t mode = va_arg(list, mode_t);                                   \
    va_end(list);                                                         \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                 \
    wait_for(path);                                                       \
    return real(path, flags, mode);                                       \
  }

SLOW(open)
SLOW(open64)
