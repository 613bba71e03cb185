/* ceiling.h - the bus bandwidth that the links of a run's nodes allow, and which of them
 * limits it. Of rings, as NCCL and the host backend make them of large messages: all that
 * a node sends goes over all of its ports, all that a GPU sends over its own links.
 * Plain functions of the inventories; docs/explanation/method.md has the formulas. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CEILING_H
#define RINGBENCH_SERVER_ANALYSIS_CEILING_H

#include <jansson.h>
#include <stddef.h>

/* A node of the run. Borrowed. */
struct ceiling_node {
    const json_t *inventory;
    const char *address; /* at which others reach it; or NULL */
    int ranks;
};

/* The verdict: {"kind": "ceiling", "answer": "expected|not_enough_data", "sentence",
 * "evidence": {"limit": "8 x 400 Gb/s NIC", "busbw_gbs": {COLLECTIVE: GB/s}}}, of the
 * collectives of which it can be said; evidence is empty where an input is missing. env:
 * of the run. A new object. */
json_t *ceiling_verdict(const char *backend, const struct ceiling_node *nodes, size_t n,
                        const json_t *env);

#endif
