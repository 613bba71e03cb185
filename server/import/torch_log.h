/* SPDX-License-Identifier: Apache-2.0 */
/* torch_log.h - reads PyTorch's output of a stuck job: lines of PyTorch's watchdog, and
 * the last error that NCCL returned to PyTorch
 *
 * Source of the formats: PyTorch 1.10 to 2.9, torch/csrc/distributed/c10d,
 * ProcessGroupNCCL.cpp and NCCLUtils.cpp. */
#ifndef RINGBENCH_SERVER_IMPORT_TORCH_LOG_H
#define RINGBENCH_SERVER_IMPORT_TORCH_LOG_H

#include <jansson.h>
#include <stddef.h>

#define TORCH_TEXT_SIZE 200

struct torch_rank;
struct torch_error;

struct torch_log {
    struct torch_rank *ranks; /* an entry per rank and group */
    size_t n_ranks, ranks_capacity;
    json_t *places; /* index into `ranks`, by group and rank */
    struct torch_error *errors;
    size_t n_errors, errors_capacity;
    long rank;    /* rank that reported the error being read; -1: unknown */
    int to_error; /* number of further lines in which "Last error:" may appear */
    int is_next;  /* true if the next line is the error */
};

void torch_log_init(struct torch_log *log);
void torch_log_release(struct torch_log *log);

/* Read a line without its newline; any bytes are allowed. */
void torch_log_line(struct torch_log *log, const char *line, size_t len);

/* Append the verdicts, of kind `transport`; the cause comes first. nodes: the node names
 * of the known ranks; keys are ranks as text. n_ranks: number of ranks in the job; 0:
 * unknown. */
void torch_log_verdicts(const struct torch_log *log, const json_t *nodes, long n_ranks,
                        json_t *verdicts);

#endif
