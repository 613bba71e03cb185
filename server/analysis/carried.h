/* carried.h - whether the network ports of a case's nodes carried what its ranks moved
 *
 * Agents read the counters before the first rank of a case starts and after the last has
 * ended (agent/machine/ports.h). */
#ifndef RINGBENCH_SERVER_ANALYSIS_CARRIED_H
#define RINGBENCH_SERVER_ANALYSIS_CARRIED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The `ports` of an agent's event, as far as they are valid: a new array of {"kind",
 * "name", "sent_bytes", "received_bytes"}; NULL: the agent does not tell of ports. */
json_t *carried_ports(const json_t *ports);

/* Of one attempt of a case; all zero: nothing yet. */
struct carried {
    int64_t attempt;
    size_t nodes;     /* that told of their ports */
    double bytes;     /* which these sent and received */
    int64_t row_size; /* of the largest row, bytes */
};

/* Take a node's event `conditions`, and the size of a measured row. */
void carried_add_node(struct carried *carried, const json_t *conditions);
void carried_add_row(struct carried *carried, int64_t attempt, int64_t size);

/* Whether n nodes' ports carried less than one call of the largest row moves between
 * nodes; rows below 1 MiB cannot tell. */
bool carried_is_little(const struct carried *carried, size_t n);

/* A case whose ranks have to move their bytes between hosts. */
struct carried_case {
    size_t number;
    double bytes;
    int64_t row_size;
    bool is_little;
};

/* The verdict of kind `traffic`. mark: see verdict_json. A new object; NULL where there
 * is no case. */
json_t *carried_verdict(const struct carried_case *cases, size_t n, const char *mark);

#endif
