/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - distributes ranks over one or several simultaneous communicators: by node, by
 * place on the node, or by nccl-tests' arithmetic on the rank number (NCCL_TESTS_SPLIT,
 * NVIDIA/nccl-tests 2.19.6, src/common.cu). Groups are numbered in the order of their
 * first ranks; within a group ranks keep their order. */
#ifndef RINGBENCH_COMMON_SPEC_SPLIT_H
#define RINGBENCH_COMMON_SPEC_SPLIT_H

#include <jansson.h>

#include "common/base/error.h"

enum split_kind {
    SPLIT_NONE, /* one group of all ranks */
    SPLIT_NODE,
    SPLIT_LOCAL_RANK,
    SPLIT_AND,
    SPLIT_OR,
    SPLIT_MOD,
    SPLIT_DIV
};

struct split {
    enum split_kind kind;
    long value; /* operand of the arithmetic on ranks */
};

struct split_groups {
    int n_ranks, n;
    int *of;    /* group of each rank */
    int *place; /* number of each rank in its group */
    int *sizes; /* size of each group */
};

/* Parse "none", "node", "local_rank", or {"by": one of them or "and", "or", "mod", "div",
 * "value": N}. */
int split_parse(const json_t *json, struct split *out, struct error *err);
/* Return a new reference to the JSON form. */
json_t *split_to_json(const struct split *split);

/* Distribute n ranks (>= 1) over groups; release `out` with split_release(). node_of and
 * local_rank: the number of each rank's node, and the rank's place on that node. */
void split_form(const struct split *split, const int *node_of, const int *local_rank,
                int n, struct split_groups *out);
void split_release(struct split_groups *groups);

int split_smallest(const struct split_groups *groups);

/* Return one group's ranks as an array, or all groups' as an array of arrays. The result
 * is a new reference. */
json_t *split_members(const struct split_groups *groups, int group);
json_t *split_groups_json(const struct split_groups *groups);

#endif
