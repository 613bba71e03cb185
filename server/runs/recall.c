/* recall.c - what the stored results of a run add up to */
#include "server/runs/recall.h"

#include <stdlib.h>

#include "common/base/json_util.h"

/* The latest rows say how long the next ones take. */
#define PACE_ROWS 1000

/* Among so many of the first rows are those that tell whether a rank is late, and which
 * way the bytes went. */
#define TIMES_ROWS 4096

struct recalled {
    struct run *run;
    const struct run_case *current; /* one that is under way, or NULL */
    size_t rows;                    /* of it */
    int64_t first;                  /* event of its first row */
    int64_t latest[PACE_ROWS];      /* of its latest, as a ring */
    int64_t *wrong; /* of each case under way: its first row with wrong elements, or 0 */
    bool is_gap;    /* the next row does not follow the one before */
};

/* A case that waits or gathers has no results; what is there is of an attempt that was
 * given up. */
static bool is_owned(const struct run_case *c, int64_t attempt)
{
    return c->attempt == attempt && c->state != CASE_QUEUED &&
           c->state != CASE_RENDEZVOUS;
}

static void note_current(struct recalled *recalled, const struct result_record *record)
{
    if (recalled->rows == 0)
        recalled->first = record->event;
    recalled->latest[recalled->rows++ % PACE_ROWS] = record->event;
}

static void on_record(void *arg, const struct result_record *record, const json_t *key)
{
    struct recalled *recalled = arg;
    struct run *run = recalled->run;
    struct run_result result = {
        .case_no = (size_t)record->case_no,
        .size = record->size,
        .wrong = record->wrong > 0 ? record->wrong : 0,
        .busbw_gbs = record->busbw_gbs,
        .value = record->value,
        .rank = record->rank,
        .is_skipped = record->is_skipped,
        .is_first_cycle = record->cycle <= 0,
        .certainty =
            record->is_figure ? (struct certainty){0} : result_record_certainty(record),
        .about = key,
    };

    if (result.case_no >= run->n_cases ||
        !is_owned(&run->cases[result.case_no], record->attempt))
        return;
    run_count(run, &result);
    if (run->cases[result.case_no].state == CASE_RUNNING && record->wrong > 0 &&
        !recalled->wrong[result.case_no])
        recalled->wrong[result.case_no] = record->event;
    if (&run->cases[result.case_no] == recalled->current)
        note_current(recalled, record);
}

static void on_said(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    struct recalled *recalled = arg;
    const struct run *run = recalled->run;
    size_t index = (size_t)json_get_int(body, "case", -1);

    if (index < run->n_cases &&
        json_get_int(body, "attempt", -1) == run->cases[index].attempt)
        run_apply(recalled->run, time_ms, type, body);
}

/* Events of the cases under way that change a case and do not write its row. */
static int recall_said(struct recalled *recalled, struct store_recall *recall,
                       struct error *err)
{
    const struct run *run = recalled->run;
    struct store_said said = {run->id, "rank ranks conditions",
                              run->spec->pattern != PATTERN_ALL};

    return store_recall_said(recall, &said, on_said, recalled, err);
}

static void on_wrong(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    struct recalled *recalled = arg;

    (void)time_ms, (void)type;
    run_note_wrong(&recalled->run->cases[recalled->current - recalled->run->cases], body);
}

static void on_row(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    struct recalled *recalled = arg;
    struct run *run = recalled->run;

    (void)type;
    if (json_get_bool(body, "emulated", false))
        run->is_emulated = true;
    if (recalled->is_gap)
        pace_skip(run->pace, time_ms);
    pace_result(run->pace, time_ms, body);
    recalled->is_gap = false;
}

static void on_times(void *arg, int64_t time_ms, const char *type, const json_t *body)
{
    struct run *run = ((struct recalled *)arg)->run;
    size_t index = (size_t)json_get_int(body, "case", -1);

    (void)time_ms, (void)type;
    if (index < run->n_cases &&
        is_owned(&run->cases[index], json_get_int(body, "attempt", -1)))
        run_note_row(run, body);
}

/* The first row tells what a start takes, the latest what rows do. */
static int recall_pace(struct recalled *recalled, struct store_recall *recall,
                       struct error *err)
{
    struct run *run = recalled->run;
    int64_t from = recalled->first;

    if (run->spec->pattern != PATTERN_ALL)
        return 0;
    pace_case_begins(run->pace, recalled->current->started_ms);
    if (recalled->rows > PACE_ROWS) {
        if (store_recall_rows(recall, run->id, from, 1, on_row, recalled, err))
            return -1;
        from = recalled->latest[recalled->rows % PACE_ROWS];
        recalled->is_gap = true;
    }
    return recalled->rows == 0 ? 0
                               : store_recall_rows(recall, run->id, from, PACE_ROWS,
                                                   on_row, recalled, err);
}

/* Cases of one round go side by side: the last of them says how long they took. */
static void recall_cases(struct recalled *recalled)
{
    const struct run *run = recalled->run;
    bool has_pattern = run->spec->pattern != PATTERN_ALL;

    for (size_t i = 0; i < run->n_cases; i++) {
        const struct run_case *c = &run->cases[i];

        if (c->state == CASE_RUNNING)
            recalled->current = c;
        if (!case_has_ended(c) || !c->started_ms ||
            (has_pattern && i + 1 < run->n_cases && c[1].round == c->round))
            continue;
        pace_case_begins(run->pace, c->started_ms);
        pace_case_ends(run->pace, c->ended_ms, c->state == CASE_COMPLETED);
    }
}

/* Where the first wrong element of each case under way was. */
static int recall_wrong(struct recalled *recalled, struct store_recall *recall,
                        struct error *err)
{
    const struct run *run = recalled->run;

    for (size_t i = 0; i < run->n_cases; i++) {
        recalled->current = &run->cases[i];
        if (recalled->wrong[i] && store_recall_rows(recall, run->id, recalled->wrong[i],
                                                    1, on_wrong, recalled, err))
            return -1;
    }
    return 0;
}

int recall_results(struct run *run, struct store_recall *recall, struct error *err)
{
    struct recalled recalled = {.run = run};
    int result = 0;

    recalled.wrong = calloc(run->n_cases + 1, sizeof(*recalled.wrong));
    if (!recalled.wrong || run_open_cases(run) ||
        (!run->pace && !(run->pace = pace_create()))) {
        free(recalled.wrong);
        return error_set(err, ERROR_MEMORY, "out of memory");
    }
    recall_cases(&recalled);
    if (store_recall_results(recall, run->id, on_record, &recalled, err) ||
        store_recall_rows(recall, run->id, 0, TIMES_ROWS, on_times, &recalled, err) ||
        (run->n_live > 0 && recall_said(&recalled, recall, err)) ||
        (recalled.current &&
         (recall_pace(&recalled, recall, err) || recall_wrong(&recalled, recall, err))))
        result = -1;
    free(recalled.wrong);
    return result;
}
