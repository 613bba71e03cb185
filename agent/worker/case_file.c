/* case_file.c - the case that a worker is started for */
#include "agent/worker/case_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_util.h"

#define CASE_BYTES_MAX (8u << 20)
#define ITERS_MAX 10000000L
#define UNALIGN_MAX 4096
#define SIZE_BYTES_MAX (INT64_C(1) << 46)

static int read_long(const json_t *json, const char *key, long min, long max, long *out,
                     struct error *err)
{
    const json_t *value = json_object_get(json, key);

    if (!json_is_integer(value) || json_integer_value(value) < min ||
        json_integer_value(value) > max) {
        return error_set(err, ERROR_INVALID, "case: %s must be a number from %ld to %ld",
                         key, min, max);
    }
    *out = (long)json_integer_value(value);
    return 0;
}

/* Leaves *out alone where the case does not say it. */
static int read_optional(const json_t *json, const char *key, long min, long max,
                         long *out, struct error *err)
{
    return json_object_get(json, key) ? read_long(json, key, min, max, out, err) : 0;
}

/* An array of names; out gets the values as ints, which the enums are converted from. */
static int read_names(const json_t *json, const char *key, int (*lookup)(const char *),
                      int max, int *out, size_t *n, struct error *err)
{
    const json_t *array = json_object_get(json, key), *item;
    size_t i;

    if (!json_is_array(array) || json_array_size(array) == 0 ||
        json_array_size(array) > (size_t)max) {
        return error_set(err, ERROR_INVALID, "case: %s must be an array of 1 to %d names",
                         key, max);
    }
    json_array_foreach(array, i, item)
    {
        out[i] = json_is_string(item) ? lookup(json_string_value(item)) : -1;
        if (out[i] < 0) {
            return error_set(err, ERROR_INVALID, "case: %s[%zu] is not known", key, i);
        }
    }
    *n = json_array_size(array);
    return 0;
}

static int read_kinds(struct case_file *file, const json_t *json, struct error *err)
{
    int values[COLLECTIVE_COUNT + DTYPE_COUNT + REDOP_COUNT] = {0};
    struct series_plan *plan = &file->plan;

    if (json_array_size(json_object_get(json, "collectives")) == 0 &&
        file->control.kinds) {
        plan->n_collectives = 0;
    } else if (read_names(json, "collectives", collective_lookup, COLLECTIVE_COUNT,
                          values, &plan->n_collectives, err)) {
        return -1;
    }
    for (size_t i = 0; i < plan->n_collectives; i++) {
        file->collectives[i] = (enum collective_kind)values[i];
    }
    if (read_names(json, "dtypes", dtype_lookup, DTYPE_COUNT, values, &plan->n_dtypes,
                   err)) {
        return -1;
    }
    for (size_t i = 0; i < plan->n_dtypes; i++) {
        file->dtypes[i] = (enum dtype)values[i];
    }
    if (read_names(json, "redops", redop_lookup, REDOP_COUNT, values, &plan->n_redops,
                   err)) {
        return -1;
    }
    for (size_t i = 0; i < plan->n_redops; i++) {
        file->redops[i] = (enum redop)values[i];
    }
    return 0;
}

/* With control series there may be no collectives. */
static int read_control(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *control = json_object_get(json, "control");

    if (control && control_plan_read(control, &file->control, err)) {
        return error_prefix(err, "case");
    }
    return 0;
}

static int read_sizes(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *array = json_object_get(json, "sizes"), *item;
    size_t n = json_array_size(array), i;

    if (n == 0 || n > RUN_SPEC_SIZES_MAX) {
        return error_set(err, ERROR_INVALID, "case: sizes must be an array of 1 to %d",
                         RUN_SPEC_SIZES_MAX);
    }
    file->sizes = calloc(n, sizeof(*file->sizes));
    if (!file->sizes) {
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    }
    json_array_foreach(array, i, item)
    {
        json_int_t value = json_integer_value(item);
        if (!json_is_integer(item) || value < 1 || value > SIZE_BYTES_MAX) {
            return error_set(err, ERROR_INVALID,
                             "case: sizes[%zu] must be a number of bytes", i);
        }
        file->sizes[i] = (uint64_t)value;
    }
    file->plan.n_sizes = n;
    return 0;
}

static int read_in_place(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *array = json_object_get(json, "in_place"), *item;
    size_t i;

    json_array_foreach(array, i, item)
    {
        if (!json_is_boolean(item)) {
            return error_set(err, ERROR_INVALID, "case: in_place[%zu] must be a boolean",
                             i);
        }
        if (json_is_true(item)) {
            file->plan.in_place = true;
        } else {
            file->plan.out_of_place = true;
        }
    }
    if (!file->plan.in_place && !file->plan.out_of_place) {
        return error_set(err, ERROR_INVALID,
                         "case: in_place must be an array of booleans");
    }
    return 0;
}

static int read_numbers(struct case_file *file, const json_t *json, struct error *err)
{
    long world_size = 0;

    if (read_long(json, "world_size", 1, INT_MAX / 2, &world_size, err) ||
        read_long(json, "case", 0, LONG_MAX, &file->number, err) ||
        read_long(json, "attempt", 0, LONG_MAX, &file->attempt, err) ||
        read_long(json, "root", -1, world_size - 1, &file->plan.root, err) ||
        read_long(json, "iters", 1, ITERS_MAX, &file->iters, err) ||
        read_long(json, "warmup", 0, ITERS_MAX, &file->warmup, err) ||
        read_long(json, "agg_iters", 1, ITERS_MAX, &file->agg_iters, err) ||
        read_long(json, "check", 0, ITERS_MAX, &file->check, err)) {
        return -1;
    }
    file->world_size = file->plan.world_size = (int)world_size;
    file->plan.cycles = 1;
    if (read_optional(json, "cycles", 1, ITERS_MAX, &file->plan.cycles, err) ||
        read_optional(json, "blocking", 0, BLOCKING_EACH_ITERATION, &file->blocking,
                      err) ||
        read_optional(json, "unalign", 0, UNALIGN_MAX, &file->unalign, err)) {
        return -1;
    }
    file->per_iter = json_get_bool(json, "per_iter", false);
    file->repeat = (long)json_get_int(json, "repeat", 0);
    file->stall_s = (long)json_get_int(json, "stall_s", 30);
    file->seed = (uint64_t)json_get_int(json, "seed", 1);
    return 0;
}

static int read_timing(struct case_file *file, const json_t *json, struct error *err)
{
    const char *timing = json_get_str(json, "timing", "throughput");

    if (strcmp(timing, "throughput") == 0) {
        file->timing = TIMING_THROUGHPUT;
    } else if (strcmp(timing, "isolated") == 0) {
        file->timing = TIMING_ISOLATED;
    } else {
        return error_set(err, ERROR_INVALID,
                         "case: timing must be throughput or isolated, not %s", timing);
    }
    return 0;
}

static int read_fault(struct fault *fault, const json_t *json, struct error *err)
{
    static const char *const kinds[] = {[FAULT_WRONG] = "wrong",
                                        [FAULT_DIE] = "die",
                                        [FAULT_HANG] = "hang",
                                        [FAULT_SLOW] = "slow",
                                        [FAULT_NO_JOIN] = "no_join"};
    const char *kind = json_get_str(json, "kind", "");

    for (int i = FAULT_WRONG; i <= FAULT_NO_JOIN; i++) {
        if (strcmp(kind, kinds[i]) == 0) {
            fault->kind = (enum fault_kind)i;
        }
    }
    if (fault->kind == FAULT_NONE) {
        return error_set(err, ERROR_INVALID, "case: fault kind \"%s\" is not known",
                         kind);
    }
    fault->rank = (int)json_get_int(json, "rank", 0);
    fault->row = (uint64_t)json_get_int(json, "row", 0);
    fault->index = (uint64_t)json_get_int(json, "index", 0);
    fault->us = (long)json_get_int(json, "us", 1000);
    return 0;
}

/* "ranks": optional, but if there are any, all of them. */
static int read_nodes(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *array = json_object_get(json, "ranks"), *item;
    size_t n = (size_t)file->world_size, i;

    if (json_array_size(array) == 0) {
        return 0;
    }
    if (json_array_size(array) != n) {
        return error_set(err, ERROR_INVALID, "case: ranks must be an array of %zu", n);
    }
    file->nodes = calloc(n, sizeof(*file->nodes));
    if (!file->nodes) {
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    }
    json_array_foreach(array, i, item)
    {
        int64_t rank = json_get_int(item, "rank", -1);
        const char *node = json_get_str(item, "node", NULL);
        if (rank < 0 || rank >= (int64_t)n || file->nodes[rank] || !node) {
            return error_set(err, ERROR_INVALID,
                             "case: ranks[%zu] must be another rank with its node", i);
        }
        file->nodes[rank] = strdup(node);
        if (!file->nodes[rank]) {
            return error_set(err, ERROR_MEMORY, "case: out of memory");
        }
    }
    return 0;
}

static bool is_same_node(const struct case_file *file, int a, int b)
{
    const char *left = file->nodes[a], *right = file->nodes[b];

    return left && right && strcmp(left, right) == 0;
}

/* By rank: the number of its node, in the order of first ranks. */
static void number_nodes(const struct case_file *file, int *node_of)
{
    for (int rank = 0; file->nodes && rank < file->world_size; rank++) {
        int first = 0, next = 0;

        for (int i = 0; i < rank; i++) {
            next = node_of[i] >= next ? node_of[i] + 1 : next;
        }
        while (first < rank && !is_same_node(file, first, rank)) {
            first++;
        }
        node_of[rank] = first < rank ? node_of[first] : next;
    }
}

static void read_local_ranks(const json_t *ranks, int *local_rank)
{
    const json_t *item;
    size_t i;

    json_array_foreach(ranks, i, item)
    {
        local_rank[json_get_int(item, "rank", 0)] =
            (int)json_get_int(item, "local_rank", 0);
    }
}

/* Which ranks form communicators; after read_nodes. */
static int read_split(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *asked = json_object_get(json, "split");
    size_t n = (size_t)file->world_size;
    struct split split = {SPLIT_NONE, 0};
    int *node_of, *local_rank, status;

    if (asked && split_parse(asked, &split, err)) {
        return error_prefix(err, "case: split");
    }
    node_of = calloc(n, sizeof(*node_of));
    local_rank = calloc(n, sizeof(*local_rank));
    status = node_of && local_rank ? 0 : -1;
    if (!status) {
        number_nodes(file, node_of);
        read_local_ranks(json_object_get(json, "ranks"), local_rank);
        status = split_form(&split, node_of, local_rank, file->world_size, &file->groups);
    }
    free(node_of);
    free(local_rank);
    if (status) {
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    }
    file->plan.n_groups = file->groups.n;
    file->plan.world_size = split_smallest(&file->groups);
    if (file->plan.root >= file->plan.world_size) {
        return error_set(err, ERROR_INVALID,
                         "case: root is %ld, but the smallest group has %d ranks",
                         file->plan.root, file->plan.world_size);
    }
    return 0;
}

static int read_traffic(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *traffic = json_object_get(json, "traffic");

    traffic_init(&file->traffic);
    if (traffic && traffic_parse(traffic, &file->traffic, err)) {
        return error_prefix(err, "case: traffic");
    }
    return 0;
}

static int parse(struct case_file *file, const json_t *json, bool heed_faults,
                 struct error *err)
{
    const json_t *fault = json_object_get(json, "fault");

    if (!json_is_object(json)) {
        return error_set(err, ERROR_INVALID, "case: not an object");
    }
    const char *secret = json_get_str(json, "store_secret", NULL);

    file->run = strdup(json_get_str(json, "run", ""));
    file->store_secret = secret ? strdup(secret) : NULL;
    if (!file->run || (secret && !file->store_secret)) {
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    }
    if (read_numbers(file, json, err) || read_control(file, json, err) ||
        read_kinds(file, json, err) || read_sizes(file, json, err) ||
        read_in_place(file, json, err) || read_timing(file, json, err) ||
        read_nodes(file, json, err) || read_split(file, json, err) ||
        read_traffic(file, json, err)) {
        return -1;
    }
    file->nccl = json_incref(json_object_get(json, "nccl"));
    file->plan.collectives = file->collectives;
    file->plan.dtypes = file->dtypes;
    file->plan.redops = file->redops;
    file->plan.sizes = file->sizes;
    if (heed_faults && json_is_object(fault)) {
        return read_fault(&file->fault, fault, err);
    }
    return 0;
}

struct case_file *case_file_parse(const json_t *json, bool heed_faults, struct error *err)
{
    struct case_file *file = calloc(1, sizeof(*file));

    if (!file) {
        error_set(err, ERROR_MEMORY, "case: out of memory");
        return NULL;
    }
    if (parse(file, json, heed_faults, err)) {
        case_file_destroy(file);
        return NULL;
    }
    return file;
}

struct case_file *case_file_read(const char *path, bool heed_faults, struct error *err)
{
    json_t *json = json_read_file(path, CASE_BYTES_MAX, err);

    if (!json) {
        error_prefix(err, "case");
        return NULL;
    }
    struct case_file *file = case_file_parse(json, heed_faults, err);
    json_decref(json);
    return file;
}

void case_file_destroy(struct case_file *file)
{
    if (!file) {
        return;
    }
    free(file->run);
    free(file->store_secret);
    for (int i = 0; file->nodes && i < file->world_size; i++) {
        free(file->nodes[i]);
    }
    free(file->nodes);
    split_release(&file->groups);
    traffic_release(&file->traffic);
    json_decref(file->nccl);
    free(file->sizes);
    free(file);
}
