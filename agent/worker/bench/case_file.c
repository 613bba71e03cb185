/* SPDX-License-Identifier: Apache-2.0 */
/* case_file.c - read the case that a worker is started for */
#include "agent/worker/bench/case_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/placed.h"

#define CASE_BYTES_MAX (8u << 20)

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

static int read_numbers(struct case_file *file, const json_t *json, struct error *err)
{
    long world_size = 0;

    if (read_long(json, "world_size", 1, INT_MAX / 2, &world_size, err) ||
        read_long(json, "case", 0, LONG_MAX, &file->number, err) ||
        read_long(json, "attempt", 0, LONG_MAX, &file->attempt, err))
        return -1;
    file->world_size = (int)world_size;
    file->repeat = (long)json_get_int(json, "repeat", 0);
    file->seed = (uint64_t)json_get_int(json, "seed", 1);
    return 0;
}

static int read_fault(struct fault *fault, const json_t *json, int world_size,
                      struct error *err)
{
    static const char *const kinds[] = {[FAULT_WRONG] = "wrong",
                                        [FAULT_DIE] = "die",
                                        [FAULT_HANG] = "hang",
                                        [FAULT_SLOW] = "slow",
                                        [FAULT_NO_JOIN] = "no_join"};
    const char *kind = json_get_str(json, "kind", "");

    for (int i = FAULT_WRONG; i <= FAULT_NO_JOIN; i++)
        if (strcmp(kind, kinds[i]) == 0)
            fault->kind = (enum fault_kind)i;
    if (fault->kind == FAULT_NONE)
        return error_set(err, ERROR_INVALID, "case: unknown fault kind \"%s\"", kind);
    json_int_t rank = json_get_int(json, "rank", 0);

    if (rank < 0 || rank >= world_size) {
        return error_set(err, ERROR_INVALID,
                         "case: the fault's rank %lld does not exist; ranks are 0 to %d",
                         (long long)rank, world_size - 1);
    }
    fault->rank = (int)rank;
    fault->row = (uint64_t)json_get_int(json, "row", 0);
    fault->index = (uint64_t)json_get_int(json, "index", 0);
    fault->op = (uint64_t)json_get_int(json, "op", 0);
    fault->us = (long)json_get_int(json, "us", 1000);
    return 0;
}

static int read_node(struct case_file *file, const char *name, int ranks, int *rank)
{
    for (int last = *rank + ranks; *rank < last; (*rank)++) {
        file->nodes[*rank] = strdup(name);
        if (!file->nodes[*rank])
            return -1;
    }
    return 0;
}

/* "placed" is optional: [name, ranks] per node in the order of ranks (placed.h). */
static int read_nodes(struct case_file *file, const json_t *json, struct error *err)
{
    const json_t *array = json_object_get(json, "placed"), *item;
    int rank = 0, n = file->world_size;
    size_t i;

    if (json_array_size(array) == 0)
        return 0;
    file->nodes = calloc((size_t)n, sizeof(*file->nodes));
    if (!file->nodes)
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    json_array_foreach (array, i, item) {
        char name[PLACED_NAME_MAX + 32];
        struct placed entry;

        if (placed_read(item, &entry) ||
            placed_count(&entry) * entry.ranks > (long)(n - rank)) {
            return error_set(err, ERROR_INVALID,
                             "case: placed[%zu] must be a node's name and how many of "
                             "the %d ranks run there",
                             i, n);
        }
        for (long k = 0; k < placed_count(&entry); k++) {
            placed_name(&entry, k, name, sizeof(name));
            if (read_node(file, name, entry.ranks, &rank))
                return error_set(err, ERROR_MEMORY, "case: out of memory");
        }
    }
    return rank == n ? 0
                     : error_set(err, ERROR_INVALID, "case: placed lists %d of %d ranks",
                                 rank, n);
}

/* Node indices and local ranks, by rank. Call after read_nodes. */
static void place_ranks(const struct case_file *file, int *node_of, int *local_rank)
{
    for (int rank = 1; file->nodes && rank < file->world_size; rank++) {
        bool is_next = strcmp(file->nodes[rank], file->nodes[rank - 1]) != 0;

        node_of[rank] = node_of[rank - 1] + is_next;
        local_rank[rank] = is_next ? 0 : local_rank[rank - 1] + 1;
    }
}

/* Derive the communicators, and then the rows. Call after read_nodes. */
static int form_groups(struct case_file *file, struct error *err)
{
    size_t n = (size_t)file->world_size;
    int *node_of = memory_zeroed(n, sizeof(*node_of), "a case");
    int *local_rank = memory_zeroed(n, sizeof(*local_rank), "a case");

    place_ranks(file, node_of, local_rank);
    split_form(&file->spec->split, node_of, local_rank, file->world_size, &file->groups);
    free(node_of);
    free(local_rank);
    file->plan = run_spec_plan(file->spec);
    file->plan.n_groups = file->groups.n;
    file->plan.world_size = split_smallest(&file->groups);
    if (file->plan.root >= file->plan.world_size) {
        return error_set(err, ERROR_INVALID,
                         "case: root is %ld, but the smallest group has %d ranks",
                         file->plan.root, file->plan.world_size);
    }
    return 0;
}

static int parse(struct case_file *file, json_t *json, bool allow_faults,
                 struct error *err)
{
    if (!json_is_object(json))
        return error_set(err, ERROR_INVALID, "case: must be a JSON object");
    const char *secret = json_get_str(json, "store_secret", NULL);

    file->run = strdup(json_get_str(json, "run", ""));
    file->store_secret = secret ? strdup(secret) : NULL;
    if (!file->run || (secret && !file->store_secret))
        return error_set(err, ERROR_MEMORY, "case: out of memory");
    file->spec = run_spec_read_case(json, err);
    if (!file->spec)
        return error_prefix(err, "case");
    if (read_numbers(file, json, err) || read_nodes(file, json, err) ||
        form_groups(file, err))
        return -1;
    if (!file->spec->fault)
        return 0;
    if (!allow_faults) {
        return error_set(
            err, ERROR_INVALID,
            "case: the spec injects a fault, which this node does not allow. "
            "Start its agent with RINGBENCH_ALLOW_FAULTS=1");
    }
    return read_fault(&file->fault, file->spec->fault, file->world_size, err);
}

struct case_file *case_file_parse(json_t *json, bool allow_faults, struct error *err)
{
    struct case_file *file = calloc(1, sizeof(*file));

    if (!file) {
        error_set(err, ERROR_MEMORY, "case: out of memory");
        return NULL;
    }
    if (parse(file, json, allow_faults, err)) {
        case_file_destroy(file);
        return NULL;
    }
    return file;
}

struct case_file *case_file_read(const char *path, bool allow_faults, struct error *err)
{
    json_t *json = json_read_file(path, CASE_BYTES_MAX, err);

    if (!json) {
        error_prefix(err, "case");
        return NULL;
    }
    struct case_file *file = case_file_parse(json, allow_faults, err);
    json_decref(json);
    return file;
}

void case_file_destroy(struct case_file *file)
{
    if (!file)
        return;
    free(file->run);
    free(file->store_secret);
    for (int i = 0; file->nodes && i < file->world_size; i++)
        free(file->nodes[i]);
    free(file->nodes);
    split_release(&file->groups);
    run_spec_destroy(file->spec);
    free(file);
}
