/* case_blame.c - whom a failed, late or stalled case names */
#include "server/scheduler/case_blame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/units.h"
#include "common/utf8.h"
#include "server/scheduler/state.h"

/* Names listed before "and N more". */
#define NAMED_MAX 8

static bool is_failed(const struct run_case *model, int rank)
{
    return model->ranks && model->ranks[rank].state == RANK_FAILED;
}

/* It went with its node, which is another reason. */
static bool is_on_lost_node(const struct live_case *live, int rank)
{
    const struct run *run = live->active->run;
    const struct run_node *node = run_rank_node(run, rank);

    return node && live->nodes[node - run->nodes].is_lost;
}

static bool failed_alone(const struct live_case *live, int rank)
{
    return live->ranks[rank].peer < 0 && !is_on_lost_node(live, rank);
}

/* A rank that failed by itself; the earliest reported one if it is such. */
static int own_failure(const struct live_case *live, const struct run_case *model)
{
    int world = live->active->run->world_size;

    if (live->failed_first >= 0 && failed_alone(live, live->failed_first))
        return live->failed_first;
    for (int i = 0; i < world; i++) {
        if (is_failed(model, i) && failed_alone(live, i))
            return i;
    }
    return -1;
}

/* Whom a failed rank's loss goes back to: who blames another was its victim, so a rank
 * that saw only the victim leave means the same one. -1: nobody. */
static int blamed_by(const struct live_case *live, const struct run_case *model, int rank)
{
    int world = live->active->run->world_size;
    int peer = live->ranks[rank].peer;

    /* Bounded: the two halves of a cut network blame each other. */
    for (int steps = 0; steps < world && peer >= 0 && peer < world; steps++) {
        int next = live->ranks[peer].peer;

        if (!is_failed(model, peer) || next < 0 || next >= world || next == rank)
            return peer;
        peer = next;
    }
    return peer < world ? peer : -1;
}

/* The rank that most failed ranks blame, and how many do; -1 if none is blamed. */
static int most_blamed(const struct live_case *live, const struct run_case *model,
                       int *votes)
{
    int world = live->active->run->world_size;
    int *count = calloc((size_t)world, sizeof(*count));
    int best = -1;

    for (int i = 0; count && i < world; i++) {
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

/* What a rank said that saw it itself; of those that did not, the first to be heard. */
static int witness_of(const struct live_case *live, const struct run_case *model,
                      int rank)
{
    for (int i = 0; i < live->active->run->world_size; i++) {
        if (is_failed(model, i) && live->ranks[i].peer == rank)
            return i;
    }
    return live->failed_first;
}

static const char *node_of(const struct live_case *live, int rank)
{
    const struct run_node *node = run_rank_node(live->active->run, rank);

    return node ? node->name : "?";
}

void case_blame(const struct live_case *live, const struct run_case *model, char *out,
                size_t size)
{
    int rank, votes;

    if (live->has_lost_node) {
        snprintf(out, size, "%s", live->lost_how);
        return;
    }
    rank = own_failure(live, model);
    if (rank >= 0) {
        const char *reason = live->ranks[rank].reason;

        snprintf(out, size, "rank %d on %s: %.600s", rank, node_of(live, rank),
                 reason ? reason : "failed");
        return;
    }
    rank = most_blamed(live, model, &votes);
    if (rank >= 0) {
        int witness = witness_of(live, model, rank);
        const char *reason = witness >= 0 ? live->ranks[witness].reason : NULL;

        reason = reason ? reason : "no reason given";
        snprintf(out, size, "rank %d on %s was lost, say %d of its peers (rank %d: %.*s)",
                 rank, node_of(live, rank), votes, witness, utf8_fit(reason, 400),
                 reason);
    } else {
        snprintf(out, size, "a rank failed");
    }
}

bool case_blame_is_clear(const struct live_case *live, const struct run_case *model)
{
    if (live->has_lost_node || own_failure(live, model) >= 0)
        return true;
    for (int i = 0; i < live->active->run->world_size; i++) {
        if (!model->ranks || model->ranks[i].state < RANK_DONE)
            return false;
    }
    return true;
}

bool case_blame_is_explained(const struct live_case *live, size_t i)
{
    const struct run *run = live->active->run;
    const struct run_case *model = &run->cases[live->index];
    int votes, rank = own_failure(live, model);

    if (rank >= 0)
        return false;
    rank = most_blamed(live, model, &votes);
    if (rank < 0)
        return false;
    /* Ranks that blame each other in a circle leave it open which of them is cut off. */
    if (is_failed(model, rank) && live->ranks[rank].peer >= 0)
        return true;
    return rank >= run->nodes[i].first_rank &&
           rank < run->nodes[i].first_rank + run->nodes[i].ranks;
}

static const char *missing_detail(enum rank_state state)
{
    if (state == RANK_ASSIGNED)
        return "its agent has not started it";
    return "its worker started but has not joined";
}

void case_blame_missing(const struct live_case *live, const struct run_case *model,
                        long join_s, char *out, size_t size)
{
    const struct run *run = live->active->run;
    int joined = 0, connected = 0, named = 0, missing;
    enum rank_state least = RANK_JOINED;
    struct buf text;

    for (int i = 0; model->ranks && i < run->world_size; i++) {
        joined += model->ranks[i].state >= RANK_JOINED ? 1 : 0;
        connected += model->ranks[i].state >= RANK_CONNECTED ? 1 : 0;
    }
    if (joined == run->world_size)
        least = RANK_CONNECTED;
    missing = run->world_size - (least == RANK_JOINED ? joined : connected);
    buf_init(&text, 4096);
    buf_printf(&text, "rendezvous: %d of %d ranks %s in %ld s; missing",
               run->world_size - missing, run->world_size,
               least == RANK_JOINED ? "joined" : "connected", join_s);
    for (int i = 0; model->ranks && i < run->world_size && named < NAMED_MAX; i++) {
        if (model->ranks[i].state >= least)
            continue;
        buf_printf(&text, "%s rank %d on %s (%s)", named ? "," : "", i, node_of(live, i),
                   least == RANK_JOINED
                       ? missing_detail(model->ranks[i].state)
                       : "it joined, but its communicator has not formed");
        named++;
    }
    if (missing > named)
        buf_printf(&text, " and %d more", missing - named);
    snprintf(out, size, "%s", text.data);
    buf_release(&text);
}

static void describe_behind(const struct live_case *live, int64_t least, struct buf *text)
{
    int world = live->active->run->world_size, named = 0, behind = 0;
    char size[UNITS_TEXT_MAX];

    for (int i = 0; i < world; i++) {
        const struct live_rank *rank = &live->ranks[i];

        if (rank->op != least || rank->is_reported)
            continue;
        behind++;
        if (named >= NAMED_MAX)
            continue;
        buf_printf(text, "%s rank %d on %s (operation %lld, %s, %s)", named ? "," : "", i,
                   node_of(live, i), (long long)rank->op,
                   rank->phase[0] ? rank->phase : "no report yet",
                   units_format_human((uint64_t)rank->size, size));
        named++;
    }
    if (behind > named)
        buf_printf(text, " and %d more", behind - named);
}

void case_blame_stall(const struct live_case *live, long stall_s, char *out, size_t size)
{
    int world = live->active->run->world_size, ahead = 0, alive = 0;
    int64_t least = INT64_MAX, most = 0;
    struct buf text;

    if (live->active->run->spec->program.name) {
        snprintf(out, size, "stalled: no rank printed anything for %ld s", stall_s);
        return;
    }
    for (int i = 0; i < world; i++) {
        const struct live_rank *rank = &live->ranks[i];

        if (rank->is_reported)
            continue;
        alive++;
        least = rank->op < least ? rank->op : least;
        most = rank->op > most ? rank->op : most;
    }
    for (int i = 0; i < world; i++)
        ahead += !live->ranks[i].is_reported && live->ranks[i].op > least ? 1 : 0;
    buf_init(&text, 4096);
    buf_printf(&text, "stalled: no rank made progress for %ld s; ", stall_s);
    if (alive > 0 && ahead == 0) {
        buf_printf(&text, "all %d ranks are at operation %lld:", alive, (long long)least);
    } else {
        buf_printf(&text, "behind:");
    }
    describe_behind(live, least, &text);
    if (ahead > 0)
        buf_printf(&text, "; %d ranks wait for it at operation %lld", ahead,
                   (long long)most);
    snprintf(out, size, "%s", text.data);
    buf_release(&text);
}
