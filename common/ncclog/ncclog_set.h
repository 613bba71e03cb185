/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog_set.h - separates the NCCL logs of several processes in one stream by host and
 * process. The stream comes from a program that starts further processes, or from a
 * user's file. */
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
    struct ncclog_process **items; /* in the order of their first lines */
    size_t n, max, capacity;
    json_t *places; /* indices into `items`, keyed by process; NULL: none */
    size_t last;
    json_t *left_out; /* processes beyond `max`, as keys; NULL: none */
    size_t n_left_out;
    json_t *left_out_by_sockets; /* hosts of processes beyond `max` that use sockets, as
                                    keys; NULL: none */
    /* Values from lines without a process. */
    char version[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
};

/* Initialize a set. max: limit of processes, 1 to NCCLOG_PROCESSES_MAX; lines of further
 * processes are ignored. Allocates nothing. */
void ncclog_set_init(struct ncclog_set *set, size_t max);
void ncclog_set_release(struct ncclog_set *set);

/* Copy a line without its color codes to `out`, truncated to `size`. Return the length of
 * the copy. */
size_t ncclog_plain(const char *line, size_t len, char *out, size_t size);

/* Parse one line of any process, as ncclog_line() does. */
enum ncclog_line ncclog_set_line(struct ncclog_set *set, const char *line, size_t len);

/* Return the number of link lines so far. */
long ncclog_set_links(const struct ncclog_set *set);

/* Return the JSON object of ncclog_json() for process i, with `host` and `pid`; NULL if
 * it would be empty. The result is a new reference. */
json_t *ncclog_set_json(const struct ncclog_set *set, size_t i);

/* Return the first result of ncclog_failure() that is not only a consequence. If there is
 * none, return the first result for any process, or NULL. */
const char *ncclog_set_failure(const struct ncclog_set *set);

#endif
