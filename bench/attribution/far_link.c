/* A link to a machine far away: whatever is sent over a socket leaves some milliseconds late.
 * LD_PRELOAD it; FAR_LINK_US says how many microseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void wait_for(int fd) {
  int kind;
  socklen_t length = sizeof kind;
  const char *late = getenv("FAR_LINK_US");
  if (late && getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 && kind == SOCK_STREAM)
    usleep(atoi(late));
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  static ssize_t (*real)(int, const void *, size_t, int);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "send");
  wait_for(fd);
  return real(fd, bytes, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
  wait_for(fd);
  return real(fd, message, flags);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "writev");
  wait_for(fd);
  return real(fd, parts, count);
}
