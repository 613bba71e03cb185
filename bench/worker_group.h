/* SPDX-License-Identifier: Apache-2.0 */
/* worker_group.h - runs the workers of a case without server and agent, for tests and
 * benchmarks */
#ifndef RINGBENCH_TESTS_WORKER_GROUP_H
#define RINGBENCH_TESTS_WORKER_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bench/rendezvous_stub.h"

#define WORKER_GROUP_MAX 256

struct worker_source {
    pid_t pid; /* 0: the worker has ended */
    int fd;    /* descriptor of the worker's events; -1: closed at its end */
    char *line;
    size_t len;
    int status; /* status from waitpid(), set after the worker's end */
};

struct worker_group {
    struct rendezvous_stub store;
    int n;
    struct worker_source workers[WORKER_GROUP_MAX];
};

/* The line is an event, without its newline. */
typedef void worker_line_fn(void *arg, int rank, const char *line, size_t len);

/* Start a store and n workers with the environment of
 * docs/development/worker-contract.md. per_host: ranks per simulated host, or 0. */
int worker_group_start(struct worker_group *group, const char *program,
                       const char *case_path, int n, int per_host);

/* Like worker_group_start(), but in steps: open the store once, then add each worker. */
int worker_group_open(struct worker_group *group, int n);
int worker_group_add(struct worker_group *group, const char *program,
                     const char *case_path, int rank, int per_host);

/* Pass lines to fn. Returns 0 when every worker has ended. Returns 1 if no line arrives
 * for timeout_ms or *stop (may be NULL) is true. */
int worker_group_read(struct worker_group *group, int timeout_ms, const bool *stop,
                      worker_line_fn *fn, void *arg);

/* Returns -1 if the worker has ended: kill() of pid 0 would reach the caller's group. */
int worker_group_signal(const struct worker_group *group, int rank, int signum);

/* Kill the remaining workers and the store. */
void worker_group_end(struct worker_group *group);

#endif
