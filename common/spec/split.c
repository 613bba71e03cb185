/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - distributes ranks over one or several communicators */
#include "common/spec/split.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

#define WHAT "groups of ranks" /* named in the message if memory runs out */

#define VALUE_MAX (1L << 20)

static const struct {
    const char *name;
    bool has_value;
    long min;
} kinds[] = {
    [SPLIT_NONE] = {"none", false, 0},
    [SPLIT_NODE] = {"node", false, 0},
    [SPLIT_LOCAL_RANK] = {"local_rank", false, 0},
    [SPLIT_AND] = {"and", true, 0},
    [SPLIT_OR] = {"or", true, 0},
    [SPLIT_MOD] = {"mod", true, 1},
    [SPLIT_DIV] = {"div", true, 1},
};

#define N_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static int lookup(const char *name)
{
    for (int i = 0; name && i < N_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    return -1;
}

static int check_members(const json_t *object, bool has_value, struct error *err)
{
    size_t known = (json_object_get(object, "by") != NULL) +
                   (has_value && json_object_get(object, "value") != NULL);

    if (json_object_size(object) == known)
        return 0;
    return error_set(err, ERROR_INVALID, "must have only the member%s",
                     has_value ? "s \"by\" and \"value\"" : " \"by\"");
}

int split_parse(const json_t *json, struct split *out, struct error *err)
{
    const json_t *value = json_object_get(json, "value");
    int kind = lookup(json_is_object(json) ? json_get_str(json, "by", NULL)
                                           : json_string_value(json));

    if (kind < 0)
        return error_set(err, ERROR_INVALID,
                         "must be \"none\", \"node\", \"local_rank\", or an object with "
                         "\"by\" (and, or, mod, div) and \"value\"");
    if (json_is_object(json) && check_members(json, kinds[kind].has_value, err))
        return -1;
    if (kinds[kind].has_value &&
        (!json_is_integer(value) || json_integer_value(value) < kinds[kind].min ||
         json_integer_value(value) > VALUE_MAX))
        return error_set(err, ERROR_INVALID,
                         "\"by\": \"%s\" needs a \"value\", an integer from %ld to %ld",
                         kinds[kind].name, kinds[kind].min, VALUE_MAX);
    out->kind = (enum split_kind)kind;
    out->value = kinds[kind].has_value ? (long)json_integer_value(value) : 0;
    return 0;
}

json_t *split_to_json(const struct split *split)
{
    const char *name = kinds[split->kind].name;

    if (!kinds[split->kind].has_value)
        return json_string(name);
    return json_pack("{s:s, s:I}", "by", name, "value", (json_int_t)split->value);
}

static long colour(const struct split *split, int rank, int node, int local_rank)
{
    switch (split->kind) {
    case SPLIT_NODE:
        return node;
    case SPLIT_LOCAL_RANK:
        return local_rank;
    case SPLIT_AND:
        return rank & split->value;
    case SPLIT_OR:
        return rank | split->value;
    case SPLIT_MOD:
        return rank % split->value;
    case SPLIT_DIV:
        return rank / split->value;
    case SPLIT_NONE:
        break;
    }
    return 0;
}

void split_form(const struct split *split, const int *node_of, const int *local_rank,
                int n, struct split_groups *out)
{
    size_t count = (size_t)n;
    long *colours =
        memory_zeroed(count, sizeof(*colours), WHAT); /* one color for each group */

    *out =
        (struct split_groups){.n_ranks = n,
                              .of = memory_zeroed(count, sizeof(*out->of), WHAT),
                              .place = memory_zeroed(count, sizeof(*out->place), WHAT),
                              .sizes = memory_zeroed(count, sizeof(*out->sizes), WHAT)};
    for (int rank = 0; rank < n; rank++) {
        long own = colour(split, rank, node_of[rank], local_rank[rank]);
        int group = 0;

        while (group < out->n && colours[group] != own)
            group++;
        colours[group] = own;
        out->n += group == out->n;
        out->of[rank] = group;
        out->place[rank] = out->sizes[group]++;
    }
    free(colours);
}

void split_release(struct split_groups *groups)
{
    free(groups->of);
    free(groups->place);
    free(groups->sizes);
    memset(groups, 0, sizeof(*groups));
}

int split_smallest(const struct split_groups *groups)
{
    int least = groups->n_ranks;

    for (int i = 0; i < groups->n; i++)
        least = groups->sizes[i] < least ? groups->sizes[i] : least;
    return least;
}

json_t *split_members(const struct split_groups *groups, int group)
{
    json_t *ranks = json_array();

    for (int rank = 0; rank < groups->n_ranks; rank++)
        if (groups->of[rank] == group)
            json_array_append_new(ranks, json_integer(rank));
    return ranks;
}

json_t *split_groups_json(const struct split_groups *groups)
{
    json_t *all = json_array();

    for (int i = 0; i < groups->n; i++)
        json_array_append_new(all, split_members(groups, i));
    return all;
}
