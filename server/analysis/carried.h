/* SPDX-License-Identifier: Apache-2.0 */
/* carried.h - decides if the nodes' network ports carried the bytes that a case's ranks
 * moved
 *
 * Agents read the ports' counters before a case's first rank starts and after its last
 * rank has ended (agent/machine/ports.h). */
#ifndef RINGBENCH_SERVER_ANALYSIS_CARRIED_H
#define RINGBENCH_SERVER_ANALYSIS_CARRIED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the valid `ports` of an agent's event as a new array of {"kind", "name",
 * "sent_bytes", "received_bytes"}, or NULL if the agent does not report ports. */
json_t *carried_ports(const json_t *ports);

/* Traffic of one attempt of a case. Initialize with zeros. */
struct carried {
    int64_t attempt;
    size_t nodes;     /* number of nodes that reported their ports */
    double bytes;     /* bytes that these nodes sent and received */
    int64_t row_size; /* size of the largest row, in bytes */
};

/* Add a node's `conditions` event, or the size in bytes of a measured row. */
void carried_add_node(struct carried *carried, const json_t *conditions);
void carried_add_row(struct carried *carried, int64_t attempt, int64_t size);

/* Return true if n nodes' ports carried fewer bytes than one call of the largest row
 * moves between nodes. Always false for rows below 1 MiB, because other traffic may
 * exceed their bytes. */
bool carried_is_little(const struct carried *carried, size_t n);

/* A case whose ranks must exchange bytes between hosts. */
struct carried_case {
    size_t number;
    double bytes;
    int64_t row_size;
    bool is_little;
};

/* Return the `traffic` verdict as a new object, or NULL if there is no case. mark: suffix
 * of the sentence, see verdict_json(). */
json_t *carried_verdict(const struct carried_case *cases, size_t n, const char *mark);

#endif
