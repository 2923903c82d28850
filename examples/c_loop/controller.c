// A controller at 1 kHz in C: computed torque by exported dynamics, to a robot that answers over UDP.
//
// controller PORT SECONDS: moves all joints to 0.5 (rad or m) within the time, and prints how well it kept it. Nothing
// in the loop allocates; memory is locked and the process has real-time priority where the system allows it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arm/arm.h"

enum { period = 1000000 };                                   // ns
static const double stiffness = 100, damping = 20, goal = 0.5; // 1/s^2, 1/s, rad

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000L * t.tv_sec + t.tv_nsec;
}

static void sleep_until(long ns) {
  const struct timespec t = {ns / 1000000000L, ns % 1000000000L};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: controller PORT SECONDS\n");
    return 2;
  }
  const long cycles = 1000 * atol(arguments[2]);
  const struct sockaddr_in robot = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1])),
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int link = socket(AF_INET, SOCK_DGRAM, 0);
  if (link < 0 || connect(link, (const struct sockaddr *)&robot, sizeof robot) != 0) {
    perror("controller");
    return 1;
  }
  const struct sched_param priority = {.sched_priority = 80};
  const int real_time = mlockall(MCL_CURRENT | MCL_FUTURE) == 0 && sched_setscheduler(0, SCHED_FIFO, &priority) == 0;

  double state[ARM_NQ + ARM_N] = {0}, qdd[ARM_N], tau[ARM_N];
  const double *q = state, *qd = state + ARM_NQ;
  long latest = 0, longest = 0, missed = 0, next = now();
  for (long k = 0; k < cycles; k++) {
    sleep_until(next);
    const long begin = now();
    latest = begin - next > latest ? begin - next : latest;
    missed += recv(link, state, sizeof state, MSG_DONTWAIT) != (ssize_t)sizeof state && k > 0;
    for (int i = 0; i < ARM_N; i++) {
      qdd[i] = stiffness * (goal - q[i]) - damping * qd[i];
    }
    const long before = now();
    arm_inverse_dynamics(q, qd, qdd, tau);
    const long taken = now() - before;
    longest = taken > longest ? taken : longest;
    if (send(link, tau, sizeof tau, 0) < 0) {
      perror("controller");
      return 1;
    }
    next += period;
  }
  double error = 0;
  for (int i = 0; i < ARM_N; i++) {
    error = q[i] - goal > error ? q[i] - goal : goal - q[i] > error ? goal - q[i] : error;
  }
  printf("%ld cycles%s: %.3g rad from the goal; latest %.1f us, inverse dynamics at most %.1f us, %ld states missed\n",
    cycles, real_time ? " in real time" : "", error, 1e-3 * (double)latest, 1e-3 * (double)longest, missed);
  return error > 1e-3;
}
