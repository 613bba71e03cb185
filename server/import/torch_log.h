/* SPDX-License-Identifier: Apache-2.0 */
/* torch_log.h - what PyTorch printed of a job that did not get on: its watchdog's lines,
 * and the last error that it got from NCCL
 *
 * Source of the forms: PyTorch 1.10 to 2.9, torch/csrc/distributed/c10d,
 * ProcessGroupNCCL.cpp and NCCLUtils.cpp. */
#ifndef RINGBENCH_SERVER_IMPORT_TORCH_LOG_H
#define RINGBENCH_SERVER_IMPORT_TORCH_LOG_H

#include <jansson.h>
#include <stddef.h>

#define TORCH_TEXT_SIZE 200

struct torch_rank;
struct torch_error;

struct torch_log {
    struct torch_rank *ranks; /* one for each group that it spoke of */
    size_t n_ranks, ranks_capacity;
    json_t *places; /* of these, by group and rank */
    struct torch_error *errors;
    size_t n_errors, errors_capacity;
    long rank;    /* whose error is being read; -1: it does not say */
    int to_error; /* lines in which that may come; 0: none does */
    int is_next;  /* the next line is it */
};

void torch_log_init(struct torch_log *log);
void torch_log_release(struct torch_log *log);

/* One line, without its newline, of any bytes. */
void torch_log_line(struct torch_log *log, const char *line, size_t len);

/* Append what it comes to: verdicts of kind `transport`, the cause first. nodes: the name
 * of each rank's node as far as it is known, by its number as text; n_ranks: of the job,
 * 0: not known. */
void torch_log_verdicts(const struct torch_log *log, const json_t *nodes, long n_ranks,
                        json_t *verdicts);

#endif
