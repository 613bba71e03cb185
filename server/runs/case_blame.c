/* SPDX-License-Identifier: Apache-2.0 */
/* case_blame.c - finds the ranks or nodes to blame for a failed, late or stalled case */
#include "server/runs/case_blame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/units.h"
#include "server/analysis/hang.h"
#include "server/analysis/unreached.h"
#include "server/finding/verdict.h"
#include "server/nodes/node.h"
#include "server/runs/blame.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"

static bool is_failed(const struct run_case *model, int rank)
{
    return model->ranks && model->ranks[rank].state == RANK_FAILED;
}

/* A rank that was lost with its node did not fail by itself. */
static bool is_on_lost_node(const struct live_case *live, int rank)
{
    const struct run_node *node = run_nodes_of_rank(&live->on, rank);

    return node && live->nodes[node - live->on.items].is_lost;
}

static bool failed_alone(const struct live_case *live, int rank)
{
    return live->ranks[rank].peer < 0 && !is_on_lost_node(live, rank);
}

/* A rank that cannot reach another rank has not failed by itself; its report of the
 * broken path is evaluated instead. */
static bool is_own(const struct live_case *live, int rank)
{
    return failed_alone(live, rank) && !live->ranks[rank].cannot_reach;
}

/* Return a rank that failed by itself, preferably the rank whose failure was reported
 * first. */
static int own_failure(const struct live_case *live, const struct run_case *model)
{
    int world = live->on.world_size;

    if (live->failed_first >= 0 && is_own(live, live->failed_first))
        return live->failed_first;
    for (int i = 0; i < world; i++)
        if (is_failed(model, i) && is_own(live, i))
            return i;
    return -1;
}

/* Return the rank whose loss caused the failure of `rank`, or -1. The blamed rank may
 * itself have failed because of another rank, so follow the chain of blame to its end. */
static int blamed_by(const struct live_case *live, const struct run_case *model, int rank)
{
    int world = live->on.world_size;
    int peer = live->ranks[rank].peer;

    /* Limit the steps, because the two halves of a cut network blame each other in a
     * circle. */
    for (int steps = 0; steps < world && peer >= 0 && peer < world; steps++) {
        int next = live->ranks[peer].peer;

        if (!is_failed(model, peer) || next < 0 || next >= world || next == rank)
            return peer;
        peer = next;
    }
    return peer < world ? peer : -1;
}

/* Return the rank that most failed ranks blame, or -1 if they blame none. *votes: the
 * number of ranks that blame it. */
static int most_blamed(const struct live_case *live, const struct run_case *model,
                       int *votes)
{
    int world = live->on.world_size;
    int *count = memory_zeroed((size_t)world, sizeof(*count), "blamed ranks");
    int best = -1;

    for (int i = 0; i < world; i++) {
        int peer = is_failed(model, i) ? blamed_by(live, model, i) : -1;

        if (peer < 0)
            continue;
        count[peer]++;
        if (best < 0 || count[peer] > count[best])
            best = peer;
    }
    *votes = best >= 0 ? count[best] : 0;
    free(count);
    return best;
}

static const char *node_of(const struct live_case *live, int rank)
{
    const struct run_node *node = run_nodes_of_rank(&live->on, rank);

    return node ? node->name : "?";
}

static void add_witness(json_t *blame, const struct live_case *live, int rank,
                        int witness)
{
    blame_add_said(blame, rank, node_of(live, rank), live->ranks[witness].reason,
                   witness);
}

/* List direct witnesses before ranks that only saw a witness leave. */
static json_t *blame_lost_rank(const struct live_case *live, const struct run_case *model,
                               int rank)
{
    json_t *blame = blame_create(BLAME_RANK_LOST);

    for (int saw_it = 1; saw_it >= 0; saw_it--) {
        for (int i = 0; i < live->on.world_size; i++)
            if (is_failed(model, i) && (live->ranks[i].peer == rank) == saw_it &&
                blamed_by(live, model, i) == rank)
                add_witness(blame, live, rank, i);
    }
    return blame;
}

json_t *case_blame(const struct live_case *live, const struct run_case *model)
{
    json_t *blame;
    int rank, votes;

    if (live->lost)
        return json_deep_copy(live->lost);
    rank = own_failure(live, model);
    if (rank < 0 && live->unreached)
        return case_blame_unreached(live);
    if (rank < 0) {
        rank = most_blamed(live, model, &votes);
        if (rank >= 0)
            return blame_lost_rank(live, model, rank);
    }
    blame = blame_create(BLAME_RANK_FAILED);
    if (rank >= 0)
        blame_add(blame, rank, node_of(live, rank), live->ranks[rank].reason);
    return blame;
}

bool case_blame_is_clear(const struct live_case *live, const struct run_case *model)
{
    if (live->lost || own_failure(live, model) >= 0)
        return true;
    for (int i = 0; i < live->on.world_size; i++)
        if (!model->ranks || model->ranks[i].state < RANK_DONE)
            return false;
    return true;
}

static void hear(const struct live_case *live, const struct run_case *model,
                 struct case_blame_word *word)
{
    int votes;

    if (word->is_known && (word->own < 0 || !is_on_lost_node(live, word->own)))
        return;
    word->own = own_failure(live, model);
    word->blamed = word->own < 0 ? most_blamed(live, model, &votes) : -1;
    word->is_known = true;
}

bool case_blame_is_explained(const struct live_case *live, size_t i,
                             struct case_blame_word *word)
{
    const struct run_case *model = &live->run->cases[live->index];
    int rank;

    hear(live, model, word);
    rank = word->blamed;
    if (rank < 0)
        return false;
    /* If ranks blame each other in a circle, the isolated rank cannot be identified. */
    if (is_failed(model, rank) && live->ranks[rank].peer >= 0)
        return true;
    return rank >= live->on.items[i].first_rank &&
           rank < live->on.items[i].first_rank + live->on.items[i].ranks;
}

static const char *missing_detail(enum rank_state state, const char *phase)
{
    if (state == RANK_ASSIGNED)
        return "its agent has not started it";
    if (strcmp(phase, "loading") == 0)
        return "its worker is still loading CUDA and NCCL";
    return "its worker started but has not joined";
}

json_t *case_blame_missing(const struct live_case *live, const struct run_case *model,
                           long join_s)
{
    json_t *blame = blame_create(BLAME_RANK_MISSING);
    enum rank_state least = RANK_CONNECTED;

    for (int i = 0; model->ranks && i < live->on.world_size; i++)
        if (model->ranks[i].state < RANK_JOINED)
            least = RANK_JOINED;
    for (int i = 0; model->ranks && i < live->on.world_size; i++) {
        if (model->ranks[i].state < least)
            blame_add(blame, i, node_of(live, i),
                      least == RANK_JOINED
                          ? missing_detail(model->ranks[i].state, live->ranks[i].phase)
                          : "it joined, but its communicator has not formed");
    }
    json_object_set_new(blame, "phase", json_string(rank_state_name(least)));
    json_object_set_new(blame, "of", json_integer(live->on.world_size));
    json_object_set_new(blame, "seconds", json_integer(join_s));
    return blame;
}

/* Add a broken path to the blame. The entry belongs to the endpoint that the verdict
 * names. */
static void add_way(json_t *blame, const json_t *way)
{
    const char *node = json_get_str(way, "node", ""), *to = json_get_str(way, "to", "");
    int rank = (int)json_get_int(way, "rank", -1);
    int peer = (int)json_get_int(way, "peer", -1);
    bool is_to = strcmp(node, to) == 0;
    char text[400];

    snprintf(text, sizeof(text), "%s cannot reach %s at %s: %s",
             is_to ? json_get_str(way, "from", "") : "it", is_to ? "it" : to,
             json_get_str(way, "address", ""), json_get_str(way, "reason", ""));
    blame_add_said(blame, is_to ? peer : rank, node, text, is_to ? rank : -1);
}

json_t *case_blame_unreached(const struct live_case *live)
{
    json_t *blame = blame_create(BLAME_UNREACHABLE), *way;
    json_t *verdict = unreached_verdict(live->run->backend, live->unreached);
    size_t i;

    json_array_foreach (json_object_get(json_object_get(verdict, "evidence"), "ways"), i,
                        way)
        add_way(blame, way);
    json_object_set_new(blame, "verdict", verdict);
    return blame;
}

bool case_blame_is_of_ways(const struct live_case *live, const json_t *blame)
{
    return live->unreached && blame_is(blame, BLAME_RANK_MISSING);
}

static void add_behind(json_t *blame, const struct live_case *live, int rank)
{
    const struct live_rank *at = &live->ranks[rank];
    char size[UNITS_TEXT_MAX], text[200];

    snprintf(text, sizeof(text), "operation %lld, %s, %s", (long long)at->op,
             at->phase[0] ? at->phase : "no report yet",
             units_format_human((uint64_t)at->size, size));
    blame_add(blame, rank, node_of(live, rank), text);
}

static void describe(const struct live_case *live, int rank, struct hang_rank *out)
{
    const struct live_rank *at = &live->ranks[rank];
    int64_t heard_ns = at->heard_ns ? at->heard_ns : live->changed_ns;

    *out = (struct hang_rank){.rank = rank,
                              .node = node_of(live, rank),
                              .is_over = at->was_over,
                              .has_told = at->heard_ns != 0,
                              .op = at->op,
                              .done = at->done,
                              .size = at->size,
                              .phase = at->phase,
                              .silent_s = (double)(live->stalled_ns - heard_ns) / 1e9,
                              .process = at->process};
}

/* Return the verdict on the hang. The function fills in `ranks`, which has room for every
 * rank of the case. */
static json_t *judge_hang(const struct live_case *live, struct hang_rank *ranks)
{
    const struct run *run = live->run;
    const struct run_spec *spec = run->spec;
    struct clock_time now = clock_read(live->cases->services->clock);
    struct hang hang = {.ranks = ranks,
                        .n = (size_t)live->on.world_size,
                        .seconds = spec->stall_s,
                        .since_ms =
                            now.wall_ms - (now.monotonic_ns - live->changed_ns) / 1000000,
                        .is_program = spec->program.name != NULL,
                        .mark = verdict_mark(run->backend, run->is_emulated)};

    for (int i = 0; i < live->on.world_size; i++)
        describe(live, i, &ranks[i]);
    return hang_verdict(&hang);
}

json_t *case_blame_full(const struct live_case *live)
{
    const struct node_registry *nodes = live->cases->nodes;
    json_t *blame = NULL;

    for (size_t i = 0; i < live->on.n; i++) {
        const struct node *node = node_find(nodes, live->on.items[i].name);

        if (!node || !node->is_spool_full)
            continue;
        if (!blame)
            blame = blame_create(BLAME_NODE_FULL);
        blame_add(blame, -1, node->name,
                  "its agent has no room for events, and its ranks wait. Fix: free space "
                  "on the disk of --spool-dir");
    }
    return blame;
}

json_t *case_blame_stall(const struct live_case *live)
{
    const struct run_spec *spec = live->run->spec;
    json_t *blame = blame_create(BLAME_STALLED);

    json_object_set_new(blame, "awaited",
                        json_string(spec->program.name ? "output" : "progress"));
    json_object_set_new(blame, "seconds", json_integer(spec->stall_s));
    return blame;
}

static void name_lagging(const struct live_case *live, json_t *blame)
{
    struct hang_rank *ranks =
        memory_zeroed((size_t)live->on.world_size, sizeof(*ranks), "ranks that hang");
    json_t *verdict = judge_hang(live, ranks);

    for (int i = 0; i < live->on.world_size; i++)
        if (ranks[i].is_lagging)
            add_behind(blame, live, i);
    free(ranks);
    json_object_set_new(blame, "verdict", verdict);
}

static bool names(const json_t *blame, int rank)
{
    const json_t *evidence = json_object_get(blame, "evidence");
    size_t n = json_array_size(evidence);

    for (size_t i = 0; i < n; i++)
        if (json_get_int(json_array_get(evidence, i), "rank", -1) == rank)
            return true;
    return n == 0;
}

/* Quote the stack of a named rank or, if the blame names none, of any rank. Among several
 * ranks, prefer the first that does not wait for others. */
static void quote_stack(const struct live_case *live, json_t *blame)
{
    int told = -1;

    for (int rank = 0; rank < live->on.world_size; rank++) {
        const struct live_rank *at = &live->ranks[rank];

        if (!json_object_get(at->process, "text") || !names(blame, rank))
            continue;
        if (told < 0 || (strcmp(live->ranks[told].phase, "waiting") == 0 &&
                         strcmp(at->phase, "waiting") != 0))
            told = rank;
    }
    if (told >= 0)
        blame_quote_stack(blame, told,
                          json_get_str(live->ranks[told].process, "text", ""));
}

void case_blame_explain(const struct live_case *live, json_t *blame)
{
    if (live->stalled_ns)
        name_lagging(live, blame);
    quote_stack(live, blame);
}

json_t *case_blame_lingering(const struct live_case *live)
{
    json_t *blame = blame_create(BLAME_NOT_EXITED);

    for (size_t i = 0; i < live->on.n; i++)
        if (!live->nodes[i].is_gone)
            blame_add(blame, -1, live->on.items[i].name, "its workers are still running");
    return blame;
}

json_t *case_blame_wrong(const struct live_case *live, const struct run_case *model)
{
    json_t *blame = blame_create(BLAME_WRONG_DATA);
    int rank = model->first_wrong ? model->first_wrong_rank : -1;

    blame_add(blame, rank, rank < 0 ? NULL : node_of(live, rank), model->first_wrong);
    json_object_set_new(blame, "count", json_integer((json_int_t)model->wrong));
    return blame;
}
