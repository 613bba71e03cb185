/* unreached.h - who could not reach whom, as a finding of a preflight
 *
 * Ranks try each other's addresses when they join. Of those that failed the fewest nodes
 * are named that have part in all (greedily, which is no more than ln n from the fewest:
 * V. Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of
 * Operations Research 4(3), 1979). Plain functions; nothing is kept. */
#ifndef RINGBENCH_SERVER_ANALYSIS_UNREACHED_H
#define RINGBENCH_SERVER_ANALYSIS_UNREACHED_H

#include <jansson.h>
#include <stdbool.h>

#define UNREACHED_WAYS_MAX 256
#define UNREACHED_FINDINGS_MAX 16

/* Add a way {"over": "ranks" | "nccl", "from", "to": names of nodes, "rank", "peer",
 * "address", "interface", "via", "reason"} (borrowed) to the array, once for each pair of
 * nodes; false: it has it, or there are too many. */
bool unreached_add(json_t *ways, json_t *way);

/* A verdict of kind preflight: {"checks": [as preflight.h has them], "ways": [those above
 * with "node", which of both is named; the first are of the first finding]}. A new
 * object. */
json_t *unreached_verdict(const char *backend, const json_t *ways);

#endif
