/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h - who sends how much to whom in alltoallv
 *
 * As nccl-tests 2.19.6 has it (NVIDIA/nccl-tests, src/alltoallv.cu): either each rank
 * sends the same total, spread over its peers evenly (spread 0) or in proportion to their
 * distance in ranks (spread 1, the default; what lies between blends the two), or a
 * matrix says the bytes from the rank of its row to that of its column. Every part is
 * rounded down to 16 bytes. Parts lie one behind the other, in the order of ranks. */
#ifndef RINGBENCH_COMMON_SPEC_TRAFFIC_H
#define RINGBENCH_COMMON_SPEC_TRAFFIC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/spec/collective.h"

#define TRAFFIC_RANKS_MAX 128 /* of a matrix */

struct traffic {
    double spread;
    int n;            /* of the matrix; 0: none */
    uint64_t *matrix; /* n * n bytes, by rows */
};

/* {"spread": 0 to 1} or {"matrix": [[bytes, ...], ...]}. On failure *out is as
 * traffic_init left it. */
void traffic_init(struct traffic *traffic);
int traffic_parse(const json_t *json, struct traffic *out, struct error *err);
void traffic_release(struct traffic *traffic);
json_t *traffic_to_json(const struct traffic *traffic);

/* Bytes from one rank to another, when each sends `total` bytes in all (no matrix). */
uint64_t traffic_bytes(const struct traffic *traffic, int from, int to, int n,
                       uint64_t total);

/* The most that a rank sends or receives by the matrix; 0: no matrix. */
uint64_t traffic_matrix_most(const struct traffic *traffic);

/* What one rank does in a call: elements, by peer. */
struct traffic_plan {
    int n;
    size_t *send_count, *send_at; /* to the peer, and where that begins */
    size_t *recv_count, *recv_at; /* from the peer */
    size_t *peer_at;              /* where in the peer's send buffer this rank's begins */
    size_t most;                  /* that any rank sends or receives: the same for all */
};

/* For `rank` of n; adjusts the layout of collective_layout() to this rank's totals.
 */
struct traffic_plan *traffic_plan_create(const struct traffic *traffic, enum dtype type,
                                         int rank, int n,
                                         struct collective_layout *layout);
void traffic_plan_destroy(struct traffic_plan *plan);

#endif
