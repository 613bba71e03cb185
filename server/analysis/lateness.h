/* lateness.h - whether a rank comes late to what all wait for. Where each call begins
 * behind a barrier, the worker reports when each rank came to it and how well clocks
 * agree (agent/worker/bench/arrival.h). */
#ifndef RINGBENCH_SERVER_ANALYSIS_LATENESS_H
#define RINGBENCH_SERVER_ANALYSIS_LATENESS_H

#include <jansson.h>
#include <stddef.h>

/* The node of a rank, or NULL. */
typedef const char *rank_node(const void *arg, int rank);

struct lateness;

/* late: a rank that is a greater part of a call behind is late. destroy takes NULL. */
struct lateness *lateness_create(size_t ranks, double late, rank_node *node_of,
                                 const void *arg);
void lateness_destroy(struct lateness *lateness);

/* A row of a run in `isolated` timing. What says nothing of it is passed over: other
 * collectives, rows that were skipped, those of a part of the ranks. */
void lateness_add(struct lateness *lateness, const json_t *row);

/* The verdict of kind `lateness`, a new object. */
json_t *lateness_verdict(const struct lateness *lateness);

#endif
