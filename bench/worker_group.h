/* SPDX-License-Identifier: Apache-2.0 */
/* worker_group.h - worker processes on a case, without server and agent, for tests and
 * benchmarks */
#ifndef RINGBENCH_TESTS_WORKER_GROUP_H
#define RINGBENCH_TESTS_WORKER_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bench/rendezvous_stub.h"

#define WORKER_GROUP_MAX 256

struct worker_source {
    pid_t pid; /* 0: it has ended */
    int fd;    /* -1: at its end */
    char *line;
    size_t len;
    int status; /* of waitpid, once at its end */
};

struct worker_group {
    struct rendezvous_stub store;
    int n;
    struct worker_source workers[WORKER_GROUP_MAX];
};

/* A whole line of an event, without its newline. */
typedef void worker_line_fn(void *arg, int rank, const char *line, size_t len);

/* Start a store and n workers with the environment of
 * docs/development/worker-contract.md. per_host: 0, or every so many ranks form a host of
 * their own. -1 on failure. */
int worker_group_start(struct worker_group *group, const char *program,
                       const char *case_path, int n, int per_host);

/* The same in two steps: the store, and each of the n workers. */
int worker_group_open(struct worker_group *group, int n);
int worker_group_add(struct worker_group *group, const char *program,
                     const char *case_path, int rank, int per_host);

/* Hand out lines until every worker has ended (returns 0), or nothing has come for
 * timeout_ms (returns 1), or *stop (may be NULL) became true (returns 1). */
int worker_group_read(struct worker_group *group, int timeout_ms, const bool *stop,
                      worker_line_fn *fn, void *arg);

/* Send a worker a signal. -1 if it has ended: kill() of its pid 0 would reach the
 * caller's whole process group. */
int worker_group_signal(const struct worker_group *group, int rank, int signum);

/* Kill what is left, and the store. */
void worker_group_end(struct worker_group *group);

#endif
