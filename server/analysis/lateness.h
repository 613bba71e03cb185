/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.h - decides if a rank arrives late at operations for which all ranks wait
 *
 * If each call begins after a barrier, the worker reports when each rank reached the
 * barrier and how well the clocks agree (agent/worker/bench/arrival.h). */
#ifndef RINGBENCH_SERVER_ANALYSIS_LATENESS_H
#define RINGBENCH_SERVER_ANALYSIS_LATENESS_H

#include <jansson.h>
#include <stddef.h>

/* Return the node of a rank, or NULL. */
typedef const char *rank_node(const void *arg, int rank);

struct lateness;

/* late: minimum delay of a late rank, as a fraction of a call's time. lateness_destroy()
 * accepts NULL. */
struct lateness *lateness_create(size_t ranks, double late, rank_node *node_of,
                                 const void *arg);
void lateness_destroy(struct lateness *lateness);

/* Add a row of a run with `isolated` timing. Rows without evidence are ignored: rows of
 * collectives for which ranks do not wait, skipped rows, and rows of a subset of the
 * ranks. */
void lateness_add(struct lateness *lateness, const json_t *row);

/* Return the `lateness` verdict as a new object. */
json_t *lateness_verdict(const struct lateness *lateness);

#endif
