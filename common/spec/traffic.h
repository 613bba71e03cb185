/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h - computes the bytes that each rank sends to each peer in alltoallv. As in
 * nccl-tests 2.19.6 (NVIDIA/nccl-tests, src/alltoallv.cu), each rank sends the same
 * total. Its peers share the total evenly (spread 0) or in proportion to their distance
 * in ranks (spread 1, the default); values between blend the two. Alternatively a matrix
 * gives the bytes from the row's rank to the column's rank. The size of every part is
 * rounded down to a multiple of 16 bytes. Parts are contiguous, in the order of ranks. */
#ifndef RINGBENCH_COMMON_SPEC_TRAFFIC_H
#define RINGBENCH_COMMON_SPEC_TRAFFIC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/spec/collective.h"

#define TRAFFIC_RANKS_MAX 128 /* maximum number of a matrix's rows and columns */

struct traffic {
    double spread;
    int n;            /* number of the matrix's rows and columns; 0: no matrix */
    uint64_t *matrix; /* n * n bytes, row by row */
};

/* Parse {"spread": 0 to 1} or {"matrix": [[bytes, ...], ...]}. On failure *out equals the
 * result of traffic_init(). */
void traffic_init(struct traffic *traffic);
int traffic_parse(const json_t *json, struct traffic *out, struct error *err);
void traffic_release(struct traffic *traffic);
json_t *traffic_to_json(const struct traffic *traffic);

/* Return the bytes from one rank to another if each rank sends `total` bytes. Valid only
 * without a matrix. */
uint64_t traffic_bytes(const struct traffic *traffic, int from, int to, int n,
                       uint64_t total);

/* Return the matrix's largest total that a rank sends or receives; 0: no matrix. */
uint64_t traffic_matrix_most(const struct traffic *traffic);

/* One rank's part in a call. Counts and offsets are in elements, one for each peer. */
struct traffic_plan {
    int n;
    size_t *send_count, *send_at; /* elements to the peer, and their offset */
    size_t *recv_count, *recv_at; /* elements from the peer, and their offset */
    size_t *peer_at; /* offset of this rank's part in the peer's send buffer */
    size_t most;     /* the largest total that any rank sends or receives; the same on all
                        ranks */
};

/* Return the plan for `rank` of n. Adjust *layout, the result of collective_layout(), to
 * this rank's totals. */
struct traffic_plan *traffic_plan_create(const struct traffic *traffic, enum dtype type,
                                         int rank, int n,
                                         struct collective_layout *layout);
void traffic_plan_destroy(struct traffic_plan *plan);

#endif
