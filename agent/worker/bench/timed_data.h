/* SPDX-License-Identifier: Apache-2.0 */
/* timed_data.h - the contents of the buffers while calls are timed
 *
 * Both buffers hold the rank's input for the operation, as a check would generate it
 * (pattern.h), repeated every 64 KiB. Calls out of place always read this input. In
 * place, each call reads the previous call's result: sums grow to infinity, integers
 * wrap. */
#ifndef RINGBENCH_WORKER_BENCH_TIMED_DATA_H
#define RINGBENCH_WORKER_BENCH_TIMED_DATA_H

#include "agent/worker/bench/bench_state.h"

struct timed_data *timed_data_create(void);
void timed_data_destroy(struct timed_data *data);

/* Fill both buffers with the input for `type` and `redop`; redop -1: no reduction. */
int timed_data_put(struct bench *bench, enum dtype type, int redop, struct error *err);

/* Prepare the buffers for a row. They are filled only if they hold data of another type
 * or operation. A row in place always starts from the rank's own input. */
int timed_data_begin(struct bench *bench, const struct bench_row *row, struct error *err);

#endif
