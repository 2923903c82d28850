// A robot over UDP, in C: for each message of efforts it moves on by a millisecond, and answers with its state.
//
// robot: prints its port, and ends when no message has come for five seconds.
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "arm/arm.h"

int main(void) {
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, controller;
  socklen_t size = sizeof own;
  const struct timeval patience = {.tv_sec = 5};
  const int link = socket(AF_INET, SOCK_DGRAM, 0);
  if (link < 0 || bind(link, (struct sockaddr *)&own, size) != 0 ||
      getsockname(link, (struct sockaddr *)&own, &size) != 0 ||
      setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
    perror("robot");
    return 1;
  }
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);
  double state[ARM_NQ + ARM_N] = {0}, tau[ARM_N];
  double *q = state, *qd = state + ARM_NQ;
  for (;;) {
    size = sizeof controller;
    if (recvfrom(link, tau, sizeof tau, 0, (struct sockaddr *)&controller, &size) != (ssize_t)sizeof tau) {
      return 0;
    }
    arm_step(q, qd, tau, 1e-3, q, qd);
    sendto(link, state, sizeof state, 0, (struct sockaddr *)&controller, size);
  }
}
