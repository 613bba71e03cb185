/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.c - computes the bytes that each rank sends to each peer in alltoallv */
#include "common/spec/traffic.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define WHAT "traffic between ranks" /* named in the message if memory runs out */
#define ALIGN_BYTES 16
#define CELL_MAX (INT64_C(1) << 46)

void traffic_init(struct traffic *traffic)
{
    *traffic = (struct traffic){.spread = 1.0};
}

void traffic_release(struct traffic *traffic)
{
    free(traffic->matrix);
    traffic_init(traffic);
}

static int parse_row(const json_t *row, int n, uint64_t *out, struct error *err)
{
    for (int i = 0; i < n; i++) {
        const json_t *cell = json_array_get(row, (size_t)i);

        if (!json_is_integer(cell) || json_integer_value(cell) < 0 ||
            json_integer_value(cell) > CELL_MAX)
            return error_set(err, ERROR_INVALID,
                             "matrix: each cell must be a number of bytes, an integer");
        out[i] = (uint64_t)json_integer_value(cell) / ALIGN_BYTES * ALIGN_BYTES;
    }
    return 0;
}

static int parse_matrix(const json_t *rows, struct traffic *out, struct error *err)
{
    size_t n = json_array_size(rows);
    uint64_t *matrix;

    if (n == 0 || n > TRAFFIC_RANKS_MAX)
        return error_set(err, ERROR_INVALID, "matrix: must be an array of 1 to %d rows",
                         TRAFFIC_RANKS_MAX);
    matrix = memory_zeroed(n * n, sizeof(*matrix), WHAT);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);

        if (json_array_size(row) != n)
            error_set(err, ERROR_INVALID,
                      "matrix: row %zu must have %zu cells, one for "
                      "each row",
                      i, n);
        if (json_array_size(row) != n || parse_row(row, (int)n, matrix + i * n, err)) {
            free(matrix);
            return -1;
        }
    }
    out->matrix = matrix;
    out->n = (int)n;
    return 0;
}

int traffic_parse(const json_t *json, struct traffic *out, struct error *err)
{
    const json_t *spread = json_object_get(json, "spread");
    const json_t *matrix = json_object_get(json, "matrix");

    if (!json_is_object(json) || json_object_size(json) != 1 || (!spread && !matrix))
        return error_set(err, ERROR_INVALID,
                         "must be an object with either spread or matrix");
    if (matrix)
        return parse_matrix(matrix, out, err);
    if (!json_is_number(spread) || json_number_value(spread) < 0.0 ||
        json_number_value(spread) > 1.0)
        return error_set(err, ERROR_INVALID, "spread: must be a number from 0 to 1");
    out->spread = json_number_value(spread);
    return 0;
}

json_t *traffic_to_json(const struct traffic *traffic)
{
    size_t n = (size_t)traffic->n;
    json_t *rows;

    if (!traffic->matrix)
        return json_pack("{s:f}", "spread", traffic->spread);
    rows = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();

        for (size_t k = 0; k < n; k++)
            json_array_append_new(row,
                                  json_integer((json_int_t)traffic->matrix[i * n + k]));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o}", "matrix", rows);
}

uint64_t traffic_bytes(const struct traffic *traffic, int from, int to, int n,
                       uint64_t total)
{
    double even = (double)total / n, far, bytes;
    double distances = (double)n * (n - 1) / 2;

    if (traffic->matrix)
        return from < traffic->n && to < traffic->n
                   ? traffic->matrix[(size_t)from * (size_t)traffic->n + (size_t)to]
                   : 0;
    if (n == 1)
        return total / ALIGN_BYTES * ALIGN_BYTES;
    far = (double)((to - from + n) % n) * (double)total / distances;
    bytes = (1.0 - traffic->spread) * even + traffic->spread * far;
    return (uint64_t)bytes / ALIGN_BYTES * ALIGN_BYTES;
}

/* Return the largest total that any of the first n ranks sends or receives, in bytes. */
static uint64_t most_bytes(const struct traffic *traffic, int n, uint64_t total)
{
    /* Without a matrix all ranks are equal. */
    int ranks = traffic->matrix ? n : 1;
    uint64_t most = 0;

    for (int i = 0; i < ranks; i++) {
        uint64_t sent = 0, received = 0;

        for (int k = 0; k < n; k++) {
            sent += traffic_bytes(traffic, i, k, n, total);
            received += traffic_bytes(traffic, k, i, n, total);
        }
        most = sent > most ? sent : most;
        most = received > most ? received : most;
    }
    return most;
}

uint64_t traffic_matrix_most(const struct traffic *traffic)
{
    return traffic->matrix ? most_bytes(traffic, traffic->n, 0) : 0;
}

static void fill_plan(const struct traffic *traffic, size_t element, int rank,
                      uint64_t total, struct traffic_plan *plan)
{
    size_t sent = 0, received = 0;
    int n = plan->n;

    for (int peer = 0; peer < n; peer++) {
        plan->send_count[peer] = traffic_bytes(traffic, rank, peer, n, total) / element;
        plan->recv_count[peer] = traffic_bytes(traffic, peer, rank, n, total) / element;
        plan->send_at[peer] = sent;
        plan->recv_at[peer] = received;
        sent += plan->send_count[peer];
        received += plan->recv_count[peer];
        for (int before = 0; before < rank; before++)
            plan->peer_at[peer] +=
                traffic_bytes(traffic, peer, before, n, total) / element;
    }
    plan->most = most_bytes(traffic, n, total) / element;
}

static void adjust(const struct traffic *traffic, const struct traffic_plan *plan,
                   size_t element, struct collective_layout *layout)
{
    size_t last = (size_t)plan->n - 1;

    layout->send_count = plan->send_at[last] + plan->send_count[last];
    layout->recv_count = plan->recv_at[last] + plan->recv_count[last];
    layout->size_bytes = layout->moved_bytes = plan->most * element;
    if (traffic->matrix)
        layout->count = plan->most / (size_t)plan->n;
    if (plan->most == 0)
        layout->count = 0;
    else if (layout->count == 0)
        layout->count = 1;
}

struct traffic_plan *traffic_plan_create(const struct traffic *traffic, enum dtype type,
                                         int rank, int n,
                                         struct collective_layout *layout)
{
    size_t element = dtype_size(type), count = (size_t)n;
    struct traffic_plan *plan = memory_zeroed(1, sizeof(*plan), WHAT);

    plan->n = n;
    plan->send_count = memory_zeroed(count, sizeof(*plan->send_count), WHAT);
    plan->send_at = memory_zeroed(count, sizeof(*plan->send_at), WHAT);
    plan->recv_count = memory_zeroed(count, sizeof(*plan->recv_count), WHAT);
    plan->recv_at = memory_zeroed(count, sizeof(*plan->recv_at), WHAT);
    plan->peer_at = memory_zeroed(count, sizeof(*plan->peer_at), WHAT);
    fill_plan(traffic, element, rank, (uint64_t)layout->count * count * element, plan);
    adjust(traffic, plan, element, layout);
    return plan;
}

void traffic_plan_destroy(struct traffic_plan *plan)
{
    if (!plan)
        return;
    free(plan->send_count);
    free(plan->send_at);
    free(plan->recv_count);
    free(plan->recv_at);
    free(plan->peer_at);
    free(plan);
}
