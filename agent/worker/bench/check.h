/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - whether a collective gives the right result, every element on every rank */
#ifndef RINGBENCH_WORKER_BENCH_CHECK_H
#define RINGBENCH_WORKER_BENCH_CHECK_H

#include <jansson.h>

#include "agent/worker/bench/bench_state.h"

#define CHECK_ERRORS_MAX 8

/* Run the row's collective `passes` times on fresh inputs, into poisoned buffers, and
 * compare; a pass with wrong elements is the last one. By group of ranks: the wrong
 * elements over its ranks, and the first of them as {"rank","index","expected","got"},
 * new arrays (rank: of the case). A collective call. */
int check_row(struct bench *bench, const struct bench_row *row, long passes,
              uint64_t *wrong, json_t **errors, struct error *err);

#endif
