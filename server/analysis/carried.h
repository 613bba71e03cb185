/* carried.h - what the network carried of what collectives move between nodes, in words.
 * The worker counts it around the timed part of rows
 * (agent/worker/bench/port_traffic.h). */
#ifndef RINGBENCH_SERVER_ANALYSIS_CARRIED_H
#define RINGBENCH_SERVER_ANALYSIS_CARRIED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The node of a rank, or NULL. */
typedef const char *carried_node(const void *arg, int rank);

/* The row's traffic with a "sentence", and with the "node" of ranks that deviate. A new
 * object, or NULL: the row has none, or memory is out. */
json_t *carried_traffic(const json_t *row, carried_node *node_of, const void *arg);

/* What is kept of a run's rows; all zero: none yet. */
struct carried {
    int64_t size; /* of the largest row */
    json_t *row;  /* its traffic */
    size_t rows;  /* that say a share */
    double least, most;
};

void carried_note(struct carried *carried, const json_t *row);
void carried_release(struct carried *carried);

/* The verdict of kind `traffic`: of the largest row. mark: see verdict_json. A new
 * object; NULL where no row was counted, or memory is out. */
json_t *carried_verdict(const struct carried *carried, const char *mark);

#endif
