/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.h - computes the bus bandwidth that the links of a run's nodes allow, and finds
 * the link that limits it
 *
 * The limit applies to rings, which NCCL and the host backend use for large messages. A
 * node sends over all of its ports, and a GPU over its own links. The functions depend
 * only on the inventories; docs/explanation/method.md gives the formulas. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CEILING_H
#define RINGBENCH_SERVER_ANALYSIS_CEILING_H

#include <jansson.h>
#include <stddef.h>

/* A node of the run. Members are borrowed. */
struct ceiling_node {
    const json_t *inventory;
    const char *address; /* address at which other nodes reach this node, or NULL */
    int ranks;
};

/* Return a new verdict {"kind": "ceiling", "answer": "expected|not_enough_data",
 * "sentence", "evidence": {"limit": "8 x 400 Gb/s NIC", "busbw_gbs": {COLLECTIVE:
 * GB/s}}}. busbw_gbs contains only collectives with a known limit. The evidence is empty
 * if an input is missing. env: the run's variables. */
json_t *ceiling_verdict(const char *backend, const struct ceiling_node *nodes, size_t n,
                        const json_t *env);

#endif
