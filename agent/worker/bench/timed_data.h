/* SPDX-License-Identifier: Apache-2.0 */
/* timed_data.h - what the buffers hold while calls are timed: the kind of data that a
 * check has, other data on each rank
 *
 * Both buffers are full of a rank's input for the operation (see pattern.h), repeated
 * every 64 KiB. Calls out of place read it for ever. In place each call reads what the
 * one before it has left: sums grow, to infinity in the end, and integers wrap. */
#ifndef RINGBENCH_WORKER_BENCH_TIMED_DATA_H
#define RINGBENCH_WORKER_BENCH_TIMED_DATA_H

#include "agent/worker/bench/bench_state.h"

/* Valid as long as the benchmark; nothing is in the buffers yet. */
struct timed_data *timed_data_create(void);
void timed_data_destroy(struct timed_data *data);

/* Fill both buffers with data of that type for that operation; redop -1: none. */
int timed_data_put(struct bench *bench, enum dtype type, int redop, struct error *err);

/* Before a row is timed: fill the buffers unless they hold data of its type and operation
 * already, a check's included; in place it begins with the rank's own input in any case.
 */
int timed_data_begin(struct bench *bench, const struct bench_row *row, struct error *err);

#endif
