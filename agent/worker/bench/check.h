/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - compare every element of a collective's result, on every rank */
#ifndef RINGBENCH_WORKER_BENCH_CHECK_H
#define RINGBENCH_WORKER_BENCH_CHECK_H

#include <jansson.h>

#include "agent/worker/bench/bench_state.h"

#define CHECK_ERRORS_MAX 8

/* Run the row's collective up to `passes` times on fresh inputs and poisoned receive
 * buffers. A pass with wrong elements is the last, as in nccl-tests. A collective call.
 * wrong[group]: number of wrong elements on all ranks of the group. errors[group]: a new
 * array of the first wrong elements, {"rank","index","expected","got"}, with the rank in
 * the case. */
int check_row(struct bench *bench, const struct bench_row *row, long passes,
              uint64_t *wrong, json_t **errors, struct error *err);

#endif
