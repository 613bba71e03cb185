/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog_set.h - NCCL's logs of several processes in one stream, told apart by host and
 * process: a program's that starts more of them, or a file that a user has */
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
    struct ncclog_process **items; /* in the order in which they spoke first */
    size_t n, max, capacity;
    json_t *places; /* in items, by process; NULL: none */
    size_t last;
    json_t *left_out; /* processes beyond `max`, as keys; NULL: none */
    size_t n_left_out;
    json_t *left_out_by_sockets; /* hosts of these, as keys; NULL: none */
    /* Of a line that names no process: */
    char version[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
};

/* max: processes, 1 to NCCLOG_PROCESSES_MAX; lines of more are left out. Allocates
 * nothing. */
void ncclog_set_init(struct ncclog_set *set, size_t max);
void ncclog_set_release(struct ncclog_set *set);

/* A line without what colours it, cut to size; how long that is. */
size_t ncclog_plain(const char *line, size_t len, char *out, size_t size);

/* As ncclog_line. */
enum ncclog_line ncclog_set_line(struct ncclog_set *set, const char *line, size_t len);

/* How many links they have named so far. */
long ncclog_set_links(const struct ncclog_set *set);

/* What one of them says, with `host` and `pid`; NULL when nothing. A new reference. */
json_t *ncclog_set_json(const struct ncclog_set *set, size_t i);

/* ncclog_failure() of the first process that has one which is no echo; else of the first
 * that has one. NULL: none. */
const char *ncclog_set_failure(const struct ncclog_set *set);

#endif
