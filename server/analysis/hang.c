/* SPDX-License-Identifier: Apache-2.0 */
/* hang.c - finds the rank that holds up a case without progress */
#include "server/analysis/hang.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "common/base/utf8.h"
#include "server/finding/finding.h"

#define NAMED_MAX 8
/* Maximum number of bytes quoted from a rank's last line of output */
#define LINE_QUOTED 200

/* A rank is silent if its last message is older than twice the median age plus this
 * number of seconds. Ranks report every second, and an agent may delay the reports. */
#define SILENT_S 5.0

/* Signs that distinguish lagging ranks from waiting ranks, most reliable first. */
enum sign { SIGN_STOPPED, SIGN_SILENT, SIGN_BEHIND, SIGN_KERNEL, SIGN_COUNT };

struct state {
    const struct hang *hang;
    enum sign sign; /* SIGN_COUNT: no rank stands out */
    int64_t least, most;
    size_t n_least, n_live, n_lagging, n_reported;
    double silent_s;                 /* median silence of the ranks */
    const struct hang_rank *lagging; /* the first lagging rank */
};

/* ---- Signs ---- */

/* Return a rank's progress as a number that grows with the operation. Each operation has
 * three phases in this order: inside, done, waiting. */
static int64_t place_of(const struct hang_rank *rank)
{
    if (rank->is_over)
        return INT64_MAX;
    if (!rank->has_told)
        return -1;
    if (strcmp(rank->phase, "waiting") == 0)
        return 4 * rank->op + 2;
    return 4 * rank->op + (rank->done < rank->op ? 0 : 1);
}

static char state_of(const struct hang_rank *rank)
{
    return json_get_str(rank->process, "state", "")[0];
}

static bool is_stopped(const struct state *state, const struct hang_rank *rank)
{
    (void)state;
    return state_of(rank) == 'T' || state_of(rank) == 't';
}

static bool is_silent(const struct state *state, const struct hang_rank *rank)
{
    return !state->hang->is_program && rank->silent_s > SILENT_S + 2 * state->silent_s;
}

static bool is_behind(const struct state *state, const struct hang_rank *rank)
{
    return !state->hang->is_program && state->n_reported > 0 &&
           place_of(rank) == state->least;
}

static bool is_in_kernel(const struct state *state, const struct hang_rank *rank)
{
    (void)state;
    return state_of(rank) == 'D';
}

typedef bool sign_of(const struct state *state, const struct hang_rank *rank);

static sign_of *const signs[SIGN_COUNT] = {
    [SIGN_STOPPED] = is_stopped,
    [SIGN_SILENT] = is_silent,
    [SIGN_BEHIND] = is_behind,
    [SIGN_KERNEL] = is_in_kernel,
};

static bool has_sign(const struct state *state, size_t i)
{
    const struct hang_rank *rank = &state->hang->ranks[i];

    return state->sign < SIGN_COUNT && !rank->is_over && signs[state->sign](state, rank);
}

/* ---- Selection ---- */

/* Set the usual silence to the median over the ranks. The median belongs to a healthy
 * rank if at least half of the ranks are healthy. */
static void find_silence(struct state *state)
{
    double *silences =
        memory_zeroed(state->hang->n + 1, sizeof(*silences), "the silence of ranks");
    size_t n = 0;

    for (size_t i = 0; i < state->hang->n; i++)
        if (!state->hang->ranks[i].is_over)
            silences[n++] = state->hang->ranks[i].silent_s;
    order_stat_sort(silences, n);
    state->silent_s = n ? silences[(n - 1) / 2] : 0;
    free(silences);
}

static void find_places(struct state *state)
{
    state->least = INT64_MAX;
    state->most = -1;
    for (size_t i = 0; i < state->hang->n; i++) {
        const struct hang_rank *rank = &state->hang->ranks[i];
        int64_t place = place_of(rank);

        if (rank->is_over)
            continue;
        state->n_live++;
        state->n_reported += rank->has_told;
        state->n_least = place < state->least    ? 1
                         : place == state->least ? state->n_least + 1
                                                 : state->n_least;
        state->least = place < state->least ? place : state->least;
        state->most = place > state->most ? place : state->most;
    }
}

/* Find the first sign that some ranks show, but not most of them. A stopped process is a
 * cause regardless of the number of stopped processes. */
static void find_lagging(struct state *state)
{
    for (int sign = 0; sign < SIGN_COUNT; sign++) {
        state->sign = (enum sign)sign;
        state->n_lagging = 0;
        for (size_t i = 0; i < state->hang->n; i++) {
            if (!has_sign(state, i))
                continue;
            if (state->n_lagging++ == 0)
                state->lagging = &state->hang->ranks[i];
        }
        if (state->n_lagging > 0 &&
            (sign == SIGN_STOPPED || 2 * state->n_lagging <= state->hang->n))
            return;
    }
    state->sign = SIGN_COUNT;
    state->n_lagging = 0;
    state->lagging = NULL;
}

/* ---- Reporting ---- */

static const struct {
    const char *name, *text; /* name for the evidence, and text for the sentence */
} words[SIGN_COUNT] = {
    [SIGN_STOPPED] = {"stopped",
                      "{lagging:its/their} process is stopped[{$is_traced?} by "
                      "a debugger| (by a signal)], "},
    [SIGN_SILENT] = {"silent", "no message from {lagging:it/them} for "
                               "{$first.silent_s:.0f} s, "},
    [SIGN_BEHIND] = {"behind", ""},
    [SIGN_KERNEL] = {"in_kernel", "{lagging:its/their} process is stuck in the kernel "
                                  "(state D[, {$first.kernel}]), "},
};

/* Describe a rank's progress, such as "inside operation 12 (1.0 MiB)". */
static void set_place(struct finding *finding, const char *name,
                      const struct hang_rank *rank)
{
    bool is_waiting = rank->has_told && strcmp(rank->phase, "waiting") == 0;

    finding_put(finding, "{s:s, s:I, s:I}", "$where",
                is_waiting              ? "waiting for its peers after operation"
                : rank->done < rank->op ? "inside operation"
                                        : "done with operation",
                "$op", (json_int_t)rank->op, "$size", (json_int_t)rank->size);
    finding_set_phrase(finding, name,
                       rank->has_told ? "{$where} {$op} ({$size:bytes})"
                                      : "before its first report");
}

static json_t *rank_json(const struct state *state, size_t i)
{
    static const char *const kept[] = {"state", "kernel", "line", "text"};
    static const char *const names[] = {"state", "kernel", "line", "stack"};
    const struct hang_rank *rank = &state->hang->ranks[i];
    json_t *out =
        json_pack("{s:i, s:s, s:b, s:f}", "rank", rank->rank, "node", rank->node,
                  "lagging", (int)has_sign(state, i), "silent_s", rank->silent_s);

    if (rank->has_told)
        json_object_update_new(
            out, json_pack("{s:I, s:I, s:I, s:s}", "operation", (json_int_t)rank->op,
                           "finished", (json_int_t)rank->done, "size",
                           (json_int_t)rank->size, "phase", rank->phase));
    for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
        const char *text = json_get_str(rank->process, kept[k], "");

        if (text[0])
            json_object_set_new(out, names[k], json_clean_string(text));
    }
    return out;
}

/* List the lagging ranks, then the others. */
static json_t *ranks_json(const struct state *state)
{
    json_t *list = json_array();

    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < state->hang->n; i++)
            if (!state->hang->ranks[i].is_over && has_sign(state, i) == (others == 0) &&
                json_array_size(list) < HANG_LISTED_MAX)
                json_array_append_new(list, rank_json(state, i));
    return list;
}

/* Report whether ranks are waiting, and the progress of the furthest rank. */
static void set_waiting(const struct state *state, struct finding *finding)
{
    const struct hang_rank *furthest = NULL;

    for (size_t i = 0; i < state->hang->n; i++) {
        const struct hang_rank *rank = &state->hang->ranks[i];

        if (!rank->is_over && !has_sign(state, i) &&
            (!furthest || place_of(rank) > place_of(furthest)))
            furthest = rank;
    }
    finding_put(finding, "{s:b}", "$waits", furthest != NULL);
    if (furthest && furthest->has_told && !state->hang->is_program)
        set_place(finding, "$furthest", furthest);
}

static json_t *say_lagging(const struct state *state, struct finding *finding)
{
    const struct hang_rank *first = state->lagging;
    bool may_be_further = state->sign == SIGN_STOPPED || state->sign == SIGN_SILENT;
    const char *line = json_get_str(first->process, "line", "");
    json_t *who = json_array();

    for (size_t i = 0; i < state->hang->n; i++) {
        struct hang_rank *rank = &state->hang->ranks[i];

        rank->is_lagging = has_sign(state, i);
        if (!rank->is_lagging)
            continue;
        finding_name(finding, rank->node);
        if (json_array_size(who) < NAMED_MAX)
            json_array_append_new(who,
                                  json_sprintf("rank %d on %s", rank->rank, rank->node));
    }
    finding_put(finding, "{s:o, s:b, s:o}", "$who", who, "$is_traced",
                state_of(first) == 't', "$first",
                rank_json(state, (size_t)(first - state->hang->ranks)));
    finding_set_phrase(finding, "$sign", words[state->sign].text);
    set_place(finding, "$told", first);
    finding_put(finding, "{s:b, s:b}", "$is_program", (int)state->hang->is_program,
                "$is_old", may_be_further && first->has_told);
    finding_set_phrase(finding, "$place",
                       "[{$is_program?}a program does not report its "
                       "operation|{$is_old?}last reported {$told}|{$told}]");
    if (state->sign == SIGN_BEHIND && is_in_kernel(state, first))
        finding_set_text(finding, "$kernel",
                         json_get_str(first->process, "kernel", "unknown function"));
    finding_set(finding, "$line",
                json_stringn_nocheck(line, (size_t)utf8_fit(line, LINE_QUOTED)));
    set_waiting(state, finding);
    return finding_end(finding, MESSAGE_RANK_LAGS, state->hang->mark);
}

static json_t *say_nobody(const struct state *state, struct finding *finding)
{
    bool is_all = state->n_least == state->n_live;
    const struct hang_rank *least = NULL;

    for (size_t i = 0; i < state->hang->n && !least; i++)
        if (place_of(&state->hang->ranks[i]) == state->least)
            least = &state->hang->ranks[i];
    finding_put(finding, "{s:b, s:I, s:I}", "$is_all", (int)is_all, "$least",
                (json_int_t)state->n_least, "$live", (json_int_t)state->n_live);
    if (least)
        set_place(finding, "$place", least);
    return finding_end(finding, MESSAGE_RANKS_ALIKE, state->hang->mark);
}

json_t *hang_verdict(const struct hang *hang)
{
    struct state state = {.hang = hang, .sign = SIGN_COUNT};
    struct finding finding = finding_begin();
    char since[CLOCK_TEXT_MAX];

    find_silence(&state);
    find_places(&state);
    find_lagging(&state);
    finding_put(&finding, "{s:s, s:I, s:I, s:I, s:o, s:s*}", "since",
                clock_format_ms(hang->since_ms, since), "seconds",
                (json_int_t)hang->seconds, "lagging", (json_int_t)state.n_lagging,
                "waiting", (json_int_t)(state.n_live - state.n_lagging), "ranks",
                ranks_json(&state), "by", state.lagging ? words[state.sign].name : NULL);
    if (state.lagging)
        return say_lagging(&state, &finding);
    if (!hang->is_program && state.n_reported > 0)
        return say_nobody(&state, &finding);
    finding_put(&finding, "{s:b}", "$is_program", (int)hang->is_program);
    return finding_end(&finding, MESSAGE_NO_PLACES, hang->mark);
}
