/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - compare every element of a collective's result, on every rank */
#include "agent/worker/bench/check.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/fault.h"
#include "agent/worker/data/pattern.h"
#include "common/base/memory.h"

#define BLOCK_BYTES 32768
#define POISON 0xA5u

struct wrong_element {
    uint64_t index;
    char expected[PATTERN_TEXT_MAX], got[PATTERN_TEXT_MAX];
};

/* Ranks exchange this struct. */
struct findings {
    uint64_t wrong;
    uint32_t kept;
    struct wrong_element first[CHECK_ERRORS_MAX];
};

struct check {
    struct bench *bench;
    const struct bench_row *row;
    struct pattern *pattern;
    size_t element;
    char *expected, *got; /* BLOCK_BYTES each */
    bool receives;        /* this rank receives a result in the row's call */
    /* the receive buffer's expected contents if this rank receives nothing */
    struct backend_untouched untouched;
    struct findings findings;
};

/* Poison the receive buffer before writing the input: in place, the two buffers
 * overlap. */
static int write_inputs(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct collective_layout *layout = &check->row->layout;
    unsigned char poison = POISON;
    size_t at_once = BLOCK_BYTES / check->element;
    char *to = (char *)(uintptr_t)check->row->call.send;

    if (bench_fill(bench, check->row->recv_base, &poison, 1, layout->size_bytes, err))
        return -1;
    if (bench->backend->check) {
        int status = bench->backend->check->put_input(
            bench->comm, check->pattern, bench_place(bench), layout->send_count, to, err);
        if (status <= 0)
            return status;
    }
    for (size_t done = 0; done < layout->send_count; done += at_once) {
        size_t left = layout->send_count - done;
        size_t part = left < at_once ? left : at_once;
        pattern_input(check->pattern, bench_place(bench), done, part, check->expected);
        if (bench_write(bench, to + done * check->element, check->expected,
                        part * check->element, err))
            return -1;
        progress_check(bench->progress);
    }
    return 0;
}

static unsigned allowed_ulps(const struct check *check)
{
    return check->row->call.redop == REDOP_AVG ? check->bench->backend->avg_ulps : 0;
}

static bool is_right(const struct check *check, const char *expected, const char *got)
{
    return pattern_distance(check->row->call.dtype, expected, got) <= allowed_ulps(check);
}

static void note_wrong(struct check *check, uint64_t index, const char *expected,
                       const char *got)
{
    struct findings *findings = &check->findings;
    enum dtype type = check->row->call.dtype;

    if (findings->kept < CHECK_ERRORS_MAX) {
        struct wrong_element *element = &findings->first[findings->kept++];
        element->index = index;
        pattern_format(type, expected, element->expected);
        pattern_format(type, got, element->got);
    }
}

static void compare_block(struct check *check, uint64_t first, size_t count)
{
    size_t size = check->element;

    if (memcmp(check->expected, check->got, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *expected = check->expected + i * size, *got = check->got + i * size;
        if (memcmp(expected, got, size) != 0 && !is_right(check, expected, got)) {
            check->findings.wrong++;
            note_wrong(check, first + i, expected, got);
        }
    }
}

static void expect_traffic(const struct check *check, uint64_t first, size_t count)
{
    const struct traffic_plan *plan = check->row->call.traffic;

    for (int peer = 0; peer < plan->n; peer++) {
        uint64_t begin = plan->recv_at[peer], end = begin + plan->recv_count[peer];
        uint64_t from = first > begin ? first : begin;
        uint64_t to = first + count < end ? first + count : end;
        if (from < to) {
            pattern_input(check->pattern, peer, plan->peer_at[peer] + (from - begin),
                          (size_t)(to - from),
                          check->expected + (from - first) * check->element);
        }
    }
}

/* Compute what elements first to first + count - 1 of the receive buffer must contain. */
static void expect(struct check *check, uint64_t first, size_t count)
{
    const struct backend_untouched *untouched = &check->untouched;
    const struct backend_call *call = &check->row->call;
    int rank = bench_place(check->bench);
    size_t size = check->element;

    if (check->receives && call->traffic) {
        expect_traffic(check, first, count);
        return;
    }
    if (check->receives) {
        pattern_expected(check->pattern, call->kind, rank, call->root, call->count, first,
                         count, check->expected);
        return;
    }
    uint64_t from = first > untouched->own ? first : untouched->own;
    uint64_t to = first + count < untouched->own_end ? first + count : untouched->own_end;
    memset(check->expected, untouched->byte, count * size);
    if (from < to) {
        pattern_input(check->pattern, rank, from - untouched->own, (size_t)(to - from),
                      check->expected + (from - first) * size);
    }
}

/* The device found this element wrong. Compare it again on the host, and record it. */
static int note_found(struct check *check, uint64_t index, struct error *err)
{
    const struct backend_call *call = &check->row->call;
    const char *from = (const char *)call->recv + index * check->element;

    expect(check, index, 1);
    if (bench_read(check->bench, check->got, from, check->element, err))
        return -1;
    if (is_right(check, check->expected, check->got)) {
        return error_set(err, ERROR_INTERNAL,
                         "check: element %llu is wrong on the device, but right on the "
                         "host",
                         (unsigned long long)index);
    }
    note_wrong(check, index, check->expected, check->got);
    return 0;
}

/* Returns 1 if the device cannot compare. */
static int compare_on_device(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    struct backend_compare compare = {.pattern = check->pattern,
                                      .call = &check->row->call,
                                      .rank = bench_place(bench),
                                      .ulps = allowed_ulps(check),
                                      .end = check->row->layout.recv_count,
                                      .untouched =
                                          check->receives ? NULL : &check->untouched};
    struct backend_wrong found;

    int status = bench->backend->check->find_wrong(bench->comm, &compare, &found, err);
    if (status == 0)
        check->findings.wrong += found.count;
    while (status == 0 && found.count > 0 && check->findings.kept < CHECK_ERRORS_MAX) {
        if (bench_stopped(bench, err) || note_found(check, found.first, err))
            return -1;
        compare.first = found.first + 1;
        status = bench->backend->check->find_wrong(bench->comm, &compare, &found, err);
    }
    return status;
}

/* In place, the send buffer lies in the receive buffer. */
static struct backend_untouched untouched_of(const struct check *check)
{
    const struct collective_layout *layout = &check->row->layout;
    struct backend_untouched untouched = {.byte = POISON};

    if (check->row->row.in_place) {
        const char *send = check->row->call.send, *recv = check->row->call.recv;
        untouched.own = (uint64_t)(send - recv) / check->element;
        untouched.own_end = untouched.own + layout->send_count;
    }
    return untouched;
}

static int compare(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct backend_call *call = &check->row->call;
    size_t total = check->row->layout.recv_count, at_once = BLOCK_BYTES / check->element;

    check->receives = pattern_receives(call->kind, bench_place(bench), call->root);
    check->untouched = untouched_of(check);
    if (bench->backend->check) {
        int status = compare_on_device(check, err);
        if (status <= 0)
            return status;
    }
    for (size_t done = 0; done < total; done += at_once) {
        size_t part = total - done < at_once ? total - done : at_once;
        const char *from = (const char *)call->recv + done * check->element;
        expect(check, done, part);
        if (bench_read(bench, check->got, from, part * check->element, err))
            return -1;
        compare_block(check, done, part);
        progress_check(bench->progress);
        if (bench_stopped(bench, err))
            return -1;
    }
    return 0;
}

/* FAULT_WRONG: flip bits of one element of this rank's result. */
static int spoil(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct fault *fault = &bench->file->fault;
    unsigned char element[8];

    if (fault->kind != FAULT_WRONG || fault->rank != bench->rank ||
        fault->row != check->row->row.row ||
        fault->index >= check->row->layout.recv_count)
        return 0;
    char *at = (char *)check->row->call.recv + fault->index * check->element;
    if (bench_read(bench, element, at, check->element, err))
        return -1;
    element[check->element - 1] ^= 0x21u;
    return bench_write(bench, at, element, check->element, err);
}

/* Run the checked call, as a graph if the row's timed calls use one. */
static int run_call(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct backend *backend = bench->backend;
    const struct backend_graph *graph = bench_replays(bench) > 0 ? backend->graph : NULL;

    if (bench->file->fault.op > 0 && fault_act(bench, FAULT_NO_ROW, err))
        return -1;
    progress_begin(bench->progress);
    if ((graph && graph->begin(bench->comm, err)) ||
        backend->run(bench->comm, &check->row->call, err) ||
        (graph && (graph->end(bench->comm, err) ||
                   graph->replay(bench->comm, &check->row->call, err))) ||
        bench_wait(bench, err))
        return -1;
    if (graph)
        graph->drop(bench->comm);
    progress_finish(bench->progress);
    return 0;
}

static int one_pass(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;

    if (check->row->is_idle) {
        int status = bench_barrier(bench, err);
        return status ? status : bench_barrier(bench, err);
    }
    if (write_inputs(check, err) || bench_barrier(bench, err) || run_call(check, err))
        return -1;
    /* No rank may write the next input while a peer still reads the current one. */
    if (bench_barrier(bench, err) || spoil(check, err))
        return -1;
    return compare(check, err);
}

static void list_errors(const struct findings *found, int rank, json_t *errors)
{
    for (uint32_t i = 0; i < found->kept; i++) {
        const struct wrong_element *element = &found->first[i];
        if (json_array_size(errors) < CHECK_ERRORS_MAX) {
            json_array_append_new(errors,
                                  json_pack("{s:i, s:I, s:s, s:s}", "rank", rank, "index",
                                            (json_int_t)element->index, "expected",
                                            element->expected, "got", element->got));
        }
    }
}

/* Add each rank's count to its group's total. True if any element is wrong. */
static bool add_counts(const struct check *check, const uint64_t *counts, uint64_t *wrong)
{
    const struct split_groups *groups = &check->bench->file->groups;
    bool has_wrong = false;

    for (int rank = 0; rank < groups->n_ranks; rank++) {
        wrong[groups->of[rank]] += counts[rank];
        has_wrong = has_wrong || counts[rank] > 0;
    }
    return has_wrong;
}

static int combine(struct check *check, uint64_t *wrong, json_t **errors, bool *has_wrong,
                   struct error *err)
{
    const struct split_groups *groups = &check->bench->file->groups;
    size_t n = (size_t)groups->n_ranks;
    struct findings *all = memory_zeroed(n, sizeof(*all), "check");
    uint64_t *counts = memory_zeroed(n, sizeof(*counts), "check");
    int status = bench_allgather(check->bench, &check->findings.wrong, sizeof(*counts),
                                 counts, err);

    *has_wrong = !status && add_counts(check, counts, wrong);
    if (*has_wrong) {
        status = bench_allgather(check->bench, &check->findings, sizeof(*all), all, err);
        for (int rank = 0; !status && rank < groups->n_ranks; rank++)
            list_errors(&all[rank], rank, errors[groups->of[rank]]);
    }
    free(all);
    free(counts);
    return status;
}

static uint64_t pass_seed(const struct check *check, long pass)
{
    uint64_t row = check->row->row.row;

    return check->bench->file->seed * UINT64_C(1000003) + row * UINT64_C(1009) +
           (uint64_t)pass;
}

static int run_passes(struct check *check, long passes, uint64_t *wrong, json_t **errors,
                      struct error *err)
{
    const struct backend_call *call = &check->row->call;
    bool has_wrong = false;

    for (long pass = 0; pass < passes && !has_wrong; pass++) {
        check->pattern =
            pattern_create(call->dtype, call->redop, bench_group_size(check->bench),
                           pass_seed(check, pass));
        int status = one_pass(check, err);
        pattern_destroy(check->pattern);
        if (status || combine(check, wrong, errors, &has_wrong, err))
            return -1;
    }
    return 0;
}

int check_row(struct bench *bench, const struct bench_row *row, long passes,
              uint64_t *wrong, json_t **errors, struct error *err)
{
    struct check check = {
        .bench = bench, .row = row, .element = dtype_size(row->call.dtype)};

    check.expected = memory_zeroed(BLOCK_BYTES, 1, "check");
    check.got = memory_zeroed(BLOCK_BYTES, 1, "check");
    for (int i = 0; i < bench->file->groups.n; i++)
        errors[i] = json_array();
    int status = run_passes(&check, passes, wrong, errors, err);
    free(check.expected);
    free(check.got);
    return status;
}
