/* check.c - whether a collective gives the right result */
#include "agent/worker/check.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/pattern.h"

#define BLOCK_BYTES 32768
#define POISON 0xA5u

struct wrong_element {
    uint64_t index;
    char expected[PATTERN_TEXT_MAX], got[PATTERN_TEXT_MAX];
};

/* One rank's findings, as they are exchanged. */
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
    struct findings findings;
};

int check_neutralise(struct bench *bench, enum dtype type, size_t bytes,
                     struct error *err)
{
    const struct backend *backend = bench->backend;
    unsigned char one[8];

    pattern_one(type, one);
    if (backend->fill(bench->comm, bench->send, one, dtype_size(type), bytes, err)) {
        return -1;
    }
    return backend->fill(bench->comm, bench->recv, one, dtype_size(type), bytes, err);
}

/* The whole receive side is poisoned, then the input written: in place they overlap. */
static int write_inputs(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct collective_layout *layout = &check->row->layout;
    unsigned char poison = POISON;
    size_t at_once = BLOCK_BYTES / check->element;
    char *to = (char *)(uintptr_t)check->row->call.send;

    if (bench->backend->fill(bench->comm, bench->recv, &poison, 1, layout->size_bytes,
                             err)) {
        return -1;
    }
    if (bench->backend->put_input) {
        int status = bench->backend->put_input(bench->comm, check->pattern, bench->rank,
                                               layout->send_count, to, err);
        if (status <= 0) {
            return status;
        }
    }
    for (size_t done = 0; done < layout->send_count; done += at_once) {
        size_t left = layout->send_count - done;
        size_t part = left < at_once ? left : at_once;
        pattern_input(check->pattern, bench->rank, done, part, check->expected);
        if (bench->backend->write(bench->comm, to + done * check->element,
                                  check->expected, part * check->element, err)) {
            return -1;
        }
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

    if (memcmp(check->expected, check->got, count * size) == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *expected = check->expected + i * size, *got = check->got + i * size;
        if (memcmp(expected, got, size) != 0 && !is_right(check, expected, got)) {
            check->findings.wrong++;
            note_wrong(check, first + i, expected, got);
        }
    }
}

/* An element that the device calls wrong, as the host sees it. */
static int note_found(struct check *check, uint64_t index, struct error *err)
{
    const struct backend_call *call = &check->row->call;
    const char *from = (const char *)call->recv + index * check->element;

    pattern_expected(check->pattern, call->kind, check->bench->rank, call->root,
                     call->count, index, 1, check->expected);
    if (check->bench->backend->read(check->bench->comm, check->got, from, check->element,
                                    err)) {
        return -1;
    }
    if (is_right(check, check->expected, check->got)) {
        return error_set(err, ERROR_INTERNAL,
                         "check: element %llu is wrong to the device, but right to the "
                         "host",
                         (unsigned long long)index);
    }
    note_wrong(check, index, check->expected, check->got);
    return 0;
}

/* 1: the device cannot. */
static int compare_on_device(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    struct backend_compare compare = {.pattern = check->pattern,
                                      .call = &check->row->call,
                                      .rank = bench->rank,
                                      .ulps = allowed_ulps(check),
                                      .end = check->row->layout.recv_count};
    struct backend_wrong found;

    int status = bench->backend->find_wrong(bench->comm, &compare, &found, err);
    if (status == 0) {
        check->findings.wrong += found.count;
    }
    while (status == 0 && found.count > 0 && check->findings.kept < CHECK_ERRORS_MAX) {
        if (bench_stopped(bench, err) || note_found(check, found.first, err)) {
            return -1;
        }
        compare.first = found.first + 1;
        status = bench->backend->find_wrong(bench->comm, &compare, &found, err);
    }
    return status;
}

static int compare(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct backend_call *call = &check->row->call;
    size_t total = check->row->layout.recv_count, at_once = BLOCK_BYTES / check->element;

    if (!pattern_receives(call->kind, bench->rank, call->root)) {
        return 0;
    }
    if (bench->backend->find_wrong) {
        int status = compare_on_device(check, err);
        if (status <= 0) {
            return status;
        }
    }
    for (size_t done = 0; done < total; done += at_once) {
        size_t part = total - done < at_once ? total - done : at_once;
        const char *from = (const char *)call->recv + done * check->element;
        pattern_expected(check->pattern, call->kind, bench->rank, call->root, call->count,
                         done, part, check->expected);
        if (bench->backend->read(bench->comm, check->got, from, part * check->element,
                                 err)) {
            return -1;
        }
        compare_block(check, done, part);
        if (bench_stopped(bench, err)) {
            return -1;
        }
    }
    return 0;
}

/* Tests: spoil one element of this rank's result. */
static int spoil(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;
    const struct fault *fault = &bench->file->fault;
    unsigned char element[8];

    if (fault->kind != FAULT_WRONG || fault->rank != bench->rank ||
        fault->row != check->row->row.row ||
        fault->index >= check->row->layout.recv_count) {
        return 0;
    }
    char *at = (char *)check->row->call.recv + fault->index * check->element;
    if (bench->backend->read(bench->comm, element, at, check->element, err)) {
        return -1;
    }
    element[check->element - 1] ^= 0x21u;
    return bench->backend->write(bench->comm, at, element, check->element, err);
}

static int one_pass(struct check *check, struct error *err)
{
    struct bench *bench = check->bench;

    if (write_inputs(check, err) || bench_barrier(bench, err)) {
        return -1;
    }
    progress_begin(bench->progress);
    if (bench->backend->run(bench->comm, &check->row->call, err) ||
        bench->backend->wait(bench->comm, err)) {
        return -1;
    }
    progress_finish(bench->progress);
    /* Nobody writes the next pass's input into what a peer still reads. */
    if (bench_barrier(bench, err) || spoil(check, err)) {
        return -1;
    }
    return compare(check, err);
}

static void list_errors(const struct findings *all, int n, json_t *errors)
{
    for (int rank = 0; rank < n; rank++) {
        for (uint32_t i = 0; i < all[rank].kept; i++) {
            const struct wrong_element *element = &all[rank].first[i];
            if (json_array_size(errors) < CHECK_ERRORS_MAX) {
                json_array_append_new(
                    errors, json_pack("{s:i, s:I, s:s, s:s}", "rank", rank, "index",
                                      (json_int_t)element->index, "expected",
                                      element->expected, "got", element->got));
            }
        }
    }
}

static int combine(struct check *check, uint64_t *wrong, json_t *errors,
                   struct error *err)
{
    int n = check->bench->file->world_size;
    struct findings *all = calloc((size_t)n, sizeof(*all));
    uint64_t *counts = calloc((size_t)n, sizeof(*counts));
    int status = all && counts ? 0 : error_set(err, ERROR_MEMORY, "check: out of memory");

    if (!status) {
        status = bench_allgather(check->bench, &check->findings.wrong, sizeof(*counts),
                                 counts, err);
    }
    *wrong = 0;
    for (int rank = 0; !status && rank < n; rank++) {
        *wrong += counts[rank];
    }
    if (!status && *wrong > 0) {
        status = bench_allgather(check->bench, &check->findings, sizeof(check->findings),
                                 all, err);
        if (!status) {
            list_errors(all, n, errors);
        }
    }
    free(all);
    free(counts);
    return status;
}

/* Other data in every row and pass. */
static uint64_t pass_seed(const struct check *check, long pass)
{
    uint64_t row = check->row->row.row;

    return check->bench->file->seed * UINT64_C(1000003) + row * UINT64_C(1009) +
           (uint64_t)pass;
}

static int run_passes(struct check *check, long passes, struct error *err)
{
    const struct backend_call *call = &check->row->call;

    for (long pass = 0; pass < passes; pass++) {
        check->pattern =
            pattern_create(call->dtype, call->redop, check->bench->file->world_size,
                           pass_seed(check, pass), err);
        int status = check->pattern ? one_pass(check, err) : -1;
        pattern_destroy(check->pattern);
        if (status) {
            return -1;
        }
    }
    return 0;
}

int check_row(struct bench *bench, const struct bench_row *row, long passes,
              uint64_t *wrong, json_t **errors, struct error *err)
{
    struct check check = {
        .bench = bench, .row = row, .element = dtype_size(row->call.dtype)};
    json_t *list = json_array();
    int status = -1;

    check.expected = malloc(BLOCK_BYTES);
    check.got = malloc(BLOCK_BYTES);
    if (!check.expected || !check.got || !list) {
        error_set(err, ERROR_MEMORY, "check: out of memory");
    } else {
        status = run_passes(&check, passes, err);
    }
    if (!status) {
        status = combine(&check, wrong, list, err);
    }
    /* Hashed bits may be numbers that the next row's arithmetic is slow on. */
    if (!status) {
        status = check_neutralise(bench, row->call.dtype, row->layout.size_bytes, err);
    }
    free(check.expected);
    free(check.got);
    if (status) {
        json_decref(list);
        return -1;
    }
    *errors = list;
    return 0;
}
