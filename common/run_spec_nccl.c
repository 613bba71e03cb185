/* run_spec_nccl.c - what a run asks of the NCCL backend alone, and how its calls may be
 * timed with that */
#include <stdio.h>
#include <string.h>

#include "common/json_util.h"
#include "common/run_spec_fields.h"

#define CHOICES_MAX 4
#define GRAPH_MAX 1000000
#define PER_ITER_MAX 100000 /* events of a row */

static const struct {
    const char *name, *choices[CHOICES_MAX]; /* the first is the default */
} members[] = {
    {"registration", {"none", "local", "symmetric"}},
    {"cta_policy", {"default", "efficiency", "zero"}},
    {"stream", {"own", "null"}},
};

#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

static void check_choice(const char *const *choices, const json_t *value, const char *at,
                         struct problems *problems)
{
    const char *text = json_string_value(value);

    for (size_t i = 0; text && i < CHOICES_MAX && choices[i]; i++) {
        if (strcmp(choices[i], text) == 0)
            return;
    }
    problems_add(problems, at, "must be one of %s, %s%s%s", choices[0], choices[1],
                 choices[2] ? ", " : "", choices[2] ? choices[2] : "");
}

static void check_member(const char *name, const json_t *value, const char *at,
                         struct problems *problems)
{
    long replays;

    if (strcmp(name, "graph") == 0) {
        spec_parse_integer(value, 0, GRAPH_MAX, &replays, at, problems);
        return;
    }
    for (size_t i = 0; i < N_MEMBERS; i++) {
        if (strcmp(members[i].name, name) == 0) {
            check_choice(members[i].choices, value, at, problems);
            return;
        }
    }
    problems_add(problems, at,
                 "unknown field; known are registration, cta_policy, stream, graph");
}

void run_spec_parse_nccl(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    const char *key;
    json_t *member;
    char at[256];

    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object, not %s",
                     spec_type_name(value));
        return;
    }
    json_object_foreach(value, key, member)
    {
        spec_child_pointer(at, sizeof(at), pointer, key);
        check_member(key, member, at, problems);
    }
    json_decref(spec->nccl);
    spec->nccl = json_incref(value);
}

void run_spec_parse_per_iter(struct run_spec *spec, json_t *value, const char *pointer,
                             struct problems *problems)
{
    if (!json_is_boolean(value))
        problems_add(problems, pointer, "must be true or false");
    spec->per_iter = json_is_true(value);
}

static void check_per_iter(const struct run_spec *spec, struct problems *problems)
{
    if (spec->timing == TIMING_ISOLATED)
        problems_add(problems, "/per_iter",
                     "belongs to timing throughput: isolated times each iteration "
                     "anyway");
    if (json_get_int(spec->nccl, "graph", 0) > 0)
        problems_add(problems, "/per_iter",
                     "does not go with nccl.graph, whose calls are not timed one by one");
    if (spec->iters > PER_ITER_MAX)
        problems_add(problems, "/per_iter", "is for at most %d iters, not %ld",
                     PER_ITER_MAX, spec->iters);
}

void run_spec_check_nccl(const struct run_spec *spec, struct problems *problems)
{
    bool is_isolated = spec->timing == TIMING_ISOLATED;

    if (is_isolated && spec->blocking != 0)
        problems_add(problems, "/blocking",
                     "belongs to timing throughput: isolated waits and has a barrier "
                     "already");
    if (spec->per_iter)
        check_per_iter(spec, problems);
    if (json_get_int(spec->nccl, "graph", 0) == 0)
        return;
    if (is_isolated)
        problems_add(problems, "/nccl/graph",
                     "belongs to timing throughput: a graph's calls are not timed one by "
                     "one");
    if (spec->blocking != 0)
        problems_add(problems, "/nccl/graph",
                     "does not go with blocking: nothing can be waited for while calls "
                     "are captured");
    if (strcmp(json_get_str(spec->nccl, "stream", "own"), "null") == 0)
        problems_add(problems, "/nccl/graph",
                     "does not go with stream null, which CUDA does not capture");
}
