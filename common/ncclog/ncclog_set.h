/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog_set.h - NCCL logs of several processes in one stream, separated by host and
 * process: from a program that starts more processes, or from a user's file */
#ifndef RINGBENCH_COMMON_NCCLOG_NCCLOG_SET_H
#define RINGBENCH_COMMON_NCCLOG_NCCLOG_SET_H

#include "common/ncclog/ncclog.h"

#define NCCLOG_PROCESSES_MAX 16384

struct ncclog_process {
    char host[NCCLOG_NAME_MAX];
    long pid;
    struct ncclog log;
};

struct ncclog_set {
    struct ncclog_process **items; /* in order of their first lines */
    size_t n, max, capacity;
    json_t *places; /* indices in items, keyed by process; NULL: none */
    size_t last;
    json_t *left_out; /* processes beyond `max`, as keys; NULL: none */
    size_t n_left_out;
    json_t *left_out_by_sockets; /* hosts of these processes, as keys; NULL: none */
    /* From lines that name no process: */
    char version[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
};

/* Initialize a set. max: processes, 1 to NCCLOG_PROCESSES_MAX; lines of further processes
 * are left out. Allocates nothing. */
void ncclog_set_init(struct ncclog_set *set, size_t max);
void ncclog_set_release(struct ncclog_set *set);

/* Copy a line without color codes to out, cut to size. Return its length. */
size_t ncclog_plain(const char *line, size_t len, char *out, size_t size);

/* As ncclog_line. */
enum ncclog_line ncclog_set_line(struct ncclog_set *set, const char *line, size_t len);

/* Return the number of link lines so far. */
long ncclog_set_links(const struct ncclog_set *set);

/* Return the report of process i, with `host` and `pid`, or NULL if it is empty. A new
 * reference. */
json_t *ncclog_set_json(const struct ncclog_set *set, size_t i);

/* Return the first ncclog_failure() of a process that is no echo, else the first of any
 * process, else NULL. */
const char *ncclog_set_failure(const struct ncclog_set *set);

#endif
