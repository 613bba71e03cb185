/* SPDX-License-Identifier: Apache-2.0 */
/* unreached.h - reports nodes that could not reach each other, as a preflight finding
 *
 * Ranks try each other's addresses when they join. The report names as few nodes as
 * possible that cover all failed paths. The greedy choice is at most a factor of ln n
 * from the minimum (V. Chvatal, "A greedy heuristic for the set-covering problem",
 * Mathematics of Operations Research 4(3), 1979). The functions do no I/O. */
#ifndef RINGBENCH_SERVER_ANALYSIS_UNREACHED_H
#define RINGBENCH_SERVER_ANALYSIS_UNREACHED_H

#include <jansson.h>
#include <stdbool.h>

#define UNREACHED_WAYS_MAX 256
#define UNREACHED_FINDINGS_MAX 16

/* Add a failed path (borrowed) to the array, once for each pair of nodes: {"over":
 * "ranks" | "nccl", "from", "to": node names, "rank", "peer", "address", "interface",
 * "via", "reason"}. Returns false if the pair is already in the array or there are too
 * many paths. */
bool unreached_add(json_t *ways, json_t *way);

/* Return a new `preflight` verdict: {"checks": [see preflight.h], "ways": [the paths,
 * each with "node", the end that the verdict names]}. The paths of the first finding come
 * first. */
json_t *unreached_verdict(const char *backend, const json_t *ways);

#endif
