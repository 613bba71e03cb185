/* expected.c - what a rank must have received after a call, alltoallv among them */
#include "agent/worker/bench/expected.h"

static void expected_traffic(const struct pattern *pattern,
                             const struct backend_call *call, uint64_t first,
                             size_t count, char *out)
{
    const struct traffic_plan *plan = call->traffic;
    size_t size = dtype_size(call->dtype);

    for (int peer = 0; peer < plan->n; peer++) {
        uint64_t begin = plan->recv_at[peer], end = begin + plan->recv_count[peer];
        uint64_t from = first > begin ? first : begin;
        uint64_t to = first + count < end ? first + count : end;
        if (from < to) {
            pattern_input(pattern, peer, plan->peer_at[peer] + (from - begin),
                          (size_t)(to - from), out + (from - first) * size);
        }
    }
}

void expected_elements(const struct pattern *pattern, const struct backend_call *call,
                       int rank, uint64_t first, size_t count, void *out)
{
    if (call->traffic) {
        expected_traffic(pattern, call, first, count, out);
    } else {
        pattern_expected(pattern, call->kind, rank, call->root, call->count, first, count,
                         out);
    }
}
