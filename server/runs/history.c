/* history.c - what the latest completed runs took */
#include "server/runs/history.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/order_stat.h"
#include "common/spec/run_matrix.h"

#define CURVE_MAX 128
#define RUNS_USED 3 /* the estimate is their median */

/* Time of a call by size: nothing below the first, bandwidth kept beyond the last. */
struct curve {
    double bytes[CURVE_MAX], us[CURVE_MAX];
    size_t n;
    double factor; /* bus factor of the collective that was measured */
};

struct entry {
    char *id, *backend;
    char *program; /* its name and arguments, or NULL */
    json_t *nodes;
    int world_size;
    double case_s;     /* on average */
    double overhead_s; /* of a row: what the calls do not explain */
    struct curve curve;
};

struct history {
    struct entry entries[HISTORY_RUNS]; /* the latest first */
    size_t n;
};

struct history *history_create(void)
{
    return calloc(1, sizeof(struct history));
}

static void entry_release(struct entry *entry)
{
    free(entry->id);
    free(entry->backend);
    free(entry->program);
    json_decref(entry->nodes);
}

void history_destroy(struct history *history)
{
    for (size_t i = 0; history && i < history->n; i++)
        entry_release(&history->entries[i]);
    free(history);
}

/* ---- The model: calls by size, and something for each row ---- */

static double call_us(const struct curve *curve, double bytes)
{
    size_t last = curve->n - 1, i = 0;
    double share;

    if (bytes <= curve->bytes[0])
        return curve->us[0];
    if (bytes >= curve->bytes[last])
        return curve->us[last] * bytes / curve->bytes[last];
    while (curve->bytes[i + 1] < bytes)
        i++;
    share = (bytes - curve->bytes[i]) / (curve->bytes[i + 1] - curve->bytes[i]);
    return curve->us[i] + share * (curve->us[i + 1] - curve->us[i]);
}

/* The control series of a case. */
static double control_us(const struct run_spec *spec, const struct curve *curve)
{
    const struct control_plan *plan = &spec->control;
    double few = (double)(spec->warmup + run_spec_iters(spec)),
           pieces = (double)plan->pieces;
    double many = (double)(spec->warmup + plan->iters), us = 0.0;

    if (plan->kinds & (1u << CONTROL_BARRIER))
        us += many * call_us(curve, sizeof(float));
    /* Two exchanges, and the reduction beside it. */
    if (plan->kinds & (1u << CONTROL_GATHER_OBJECT))
        us += many * (3 * call_us(curve, sizeof(float)) +
                      call_us(curve, (double)plan->object_bytes));
    if (plan->kinds & (1u << CONTROL_CHUNKS))
        us += few * (call_us(curve, (double)plan->bytes) +
                     pieces * call_us(curve, (double)plan->bytes / pieces));
    return us;
}

/* What the timed part of a row takes: as many blocks as between quiet and noisy. */
static double blocks_us(const struct run_spec *spec, double call)
{
    const struct run_samples *samples = &spec->samples;
    double least = (double)samples->min, n = 2 * least;
    double us = fmax(run_spec_block_us(spec, call), call * (double)spec->agg_iters);

    if (n > (double)samples->max)
        n = (double)samples->max;
    if (n * us > samples->max_s * 1e6)
        n = samples->max_s * 1e6 / us;
    return (n > least ? n : least) * us;
}

/* The timed and untimed calls of a row. */
static double row_us(const struct run_spec *spec, double call)
{
    double timed = spec->iters ? (double)spec->iters * (double)spec->agg_iters * call
                               : blocks_us(spec, call);

    return (double)spec->warmup * call + timed;
}

/* Rows of one size of a collective. */
static double rows_per_size(const struct series_plan *plan,
                            const enum collective_kind *of)
{
    struct series_plan one = *plan;

    /* Groups call at the same time, so that their rows take no longer than those of one.
     */
    one.n_groups = 1;
    one.collectives = of;
    one.n_collectives = 1;
    return plan->n_sizes ? (double)series_rows(&one) / (double)plan->n_sizes : 0.0;
}

/* The timed and untimed calls of all rows of a case. */
static double calls_seconds(const struct run_spec *spec, const struct series_plan *plan,
                            const struct curve *curve)
{
    double us = 0.0;

    if (curve->n == 0)
        return 0.0;
    for (size_t i = 0; i < plan->n_collectives; i++) {
        double rows = rows_per_size(plan, &plan->collectives[i]);
        double factor =
            collective_bus_factor(plan->collectives[i], plan->world_size) / curve->factor;

        for (size_t k = 0; k < plan->n_sizes; k++)
            us += rows * row_us(spec, factor * call_us(curve, (double)plan->sizes[k]));
    }
    us += control_us(spec, curve) *
          collective_bus_factor(COLLECTIVE_ALL_REDUCE, plan->world_size) / curve->factor;
    return us * 1e-6;
}

/* ---- Taking runs in ---- */

static void add_point(struct curve *curve, double bytes, double us)
{
    size_t at = curve->n;

    if (curve->n == CURVE_MAX || bytes <= 0.0 || us <= 0.0)
        return;
    while (at > 0 && curve->bytes[at - 1] > bytes)
        at--;
    if (at > 0 && curve->bytes[at - 1] == bytes)
        return;
    memmove(curve->bytes + at + 1, curve->bytes + at,
            (curve->n - at) * sizeof(curve->bytes[0]));
    memmove(curve->us + at + 1, curve->us + at, (curve->n - at) * sizeof(curve->us[0]));
    curve->bytes[at] = bytes;
    curve->us[at] = us;
    curve->n++;
}

static void read_curve(const json_t *run, const struct run_spec *spec, int world_size,
                       struct curve *curve)
{
    const json_t *points = json_object_get(json_object_get(run, "summary"), "curve");
    double factor;

    if (spec->n_collectives == 0)
        return;
    factor = collective_bus_factor(spec->collectives[0], world_size);
    curve->factor = factor > 0.0 ? factor : 1.0;
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        double bytes = json_number_value(json_array_get(point, 0));
        double busbw = json_number_value(json_array_get(point, 1));

        if (busbw > 0.0)
            add_point(curve, bytes, bytes * curve->factor / busbw * 1e-3);
    }
}

static double elapsed_s(const json_t *run)
{
    int64_t started = clock_parse_ms(json_get_str(run, "started", NULL));
    int64_t ended = clock_parse_ms(json_get_str(run, "ended", NULL));

    return started && ended > started ? (double)(ended - started) / 1e3 : 0.0;
}

static char *program_text(const struct run_spec *spec)
{
    json_t *pair = json_pack("[s, O?]", spec->program.name, spec->program.args);
    char *text = pair ? json_dumps(pair, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    json_decref(pair);
    return text;
}

/* False when there is nothing to learn from the run. */
static bool read_entry(const json_t *run, struct run_spec *spec, struct entry *entry)
{
    int n_cases = (int)run_matrix_cases(spec);
    double rows = (double)json_get_int(run, "rows_done", 0);
    double seconds = elapsed_s(run), explained;
    struct series_plan plan = run_spec_plan(spec);

    entry->world_size = (int)json_get_int(run, "world_size", 0);
    if (seconds <= 0.0 || entry->world_size <= 0)
        return false;
    entry->case_s = seconds / n_cases;
    if (spec->program.name) {
        entry->program = program_text(spec);
        return entry->program != NULL;
    }
    plan.world_size = entry->world_size;
    read_curve(run, spec, entry->world_size, &entry->curve);
    /* One rank alone has no bus, and what its rows take is not from their calls. */
    if ((entry->curve.n == 0 && entry->world_size > 1) || rows <= 0.0)
        return false;
    explained = calls_seconds(spec, &plan, &entry->curve) * n_cases;
    entry->overhead_s = explained < seconds ? (seconds - explained) / rows : 0.0;
    return true;
}

void history_add(struct history *history, const json_t *run)
{
    struct entry entry = {.id = NULL};
    struct problems problems;
    struct run_spec *spec;

    if (strcmp(json_get_str(run, "state", ""), "completed") != 0)
        return;
    problems_init(&problems);
    spec = run_spec_parse(json_object_get(run, "spec"), &problems);
    problems_release(&problems);
    if (!spec || spec->pattern != PATTERN_ALL) { /* its cases have no common figure */
        run_spec_destroy(spec);
        return;
    }
    entry.id = strdup(json_get_str(run, "id", ""));
    entry.backend = strdup(json_get_str(run, "backend", ""));
    entry.nodes = json_incref(json_object_get(run, "nodes"));
    if (!entry.id || !entry.backend || !read_entry(run, spec, &entry)) {
        entry_release(&entry);
    } else {
        if (history->n == HISTORY_RUNS)
            entry_release(&history->entries[--history->n]);
        memmove(history->entries + 1, history->entries,
                history->n * sizeof(history->entries[0]));
        history->entries[0] = entry;
        history->n++;
    }
    run_spec_destroy(spec);
}

/* ---- Answering ---- */

static bool suits(const struct entry *entry, const struct history_question *question,
                  const char *program, bool same_nodes)
{
    if (strcmp(entry->backend, question->backend) != 0 ||
        entry->world_size != question->world_size ||
        (entry->program != NULL) != (program != NULL) ||
        (program && strcmp(program, entry->program) != 0))
        return false;
    return !same_nodes || json_equal(entry->nodes, question->nodes);
}

static double entry_estimate(const struct entry *entry,
                             const struct history_question *question)
{
    if (!question->plan)
        return entry->case_s * (double)question->n_cases;
    return (calls_seconds(question->spec, question->plan, &entry->curve) +
            entry->overhead_s * (double)series_rows(question->plan)) *
           (double)question->n_cases;
}

static json_t *estimate_from_runs(const struct history *history,
                                  const struct history_question *question,
                                  const char *program, bool same_nodes)
{
    double seconds[RUNS_USED];
    json_t *runs = json_array();
    size_t n = 0;

    for (size_t i = 0; i < history->n && n < RUNS_USED; i++) {
        if (!suits(&history->entries[i], question, program, same_nodes))
            continue;
        seconds[n++] = entry_estimate(&history->entries[i], question);
        json_array_append_new(runs, json_string(history->entries[i].id));
    }
    if (n == 0) {
        json_decref(runs);
        return NULL;
    }
    order_stat_sort(seconds, n);
    return json_pack("{s:f, s:s, s:o, s:s}", "seconds", seconds[n / 2], "basis", "runs",
                     "runs", runs, "detail",
                     program      ? "from the last completed runs of this program"
                     : same_nodes ? "from the last completed runs on these nodes"
                                  : "from the last completed runs of as many ranks on "
                                    "other nodes");
}

/* The orders of magnitude that one expects where nothing was measured. */
static json_t *estimate_assumed(const struct history_question *question)
{
    bool is_gpu = strcmp(question->backend, "nccl") == 0;
    struct entry entry = {.overhead_s = 0.002};
    double latency_us = is_gpu ? 10.0 : 20.0, gbs = is_gpu ? 20.0 : 1.0;

    entry.curve.factor = 1.0;
    for (int power = 0; power <= 42; power += 2) {
        double bytes = (double)(UINT64_C(1) << power);

        add_point(&entry.curve, bytes, latency_us + bytes / gbs * 1e-3);
    }
    return json_pack("{s:f, s:s, s:[], s:s}", "seconds",
                     entry_estimate(&entry, question) + 1.0 * (double)question->n_cases,
                     "basis", "assumed", "runs", "detail",
                     is_gpu
                         ? "assumed: 10 us and 20 GB/s a call; no run of as many ranks "
                           "has completed here"
                         : "assumed: 20 us and 1 GB/s a call; no run of as many ranks "
                           "has completed here");
}

json_t *history_estimate(const struct history *history,
                         const struct history_question *question)
{
    char *program = question->plan ? NULL : program_text(question->spec);
    json_t *answer = NULL;

    if (question->plan || program)
        answer = estimate_from_runs(history, question, program, true);
    if (!answer && (question->plan || program))
        answer = estimate_from_runs(history, question, program, false);
    if (!answer && question->plan)
        answer = estimate_assumed(question);
    free(program);
    if (answer)
        return answer;
    return json_pack("{s:n, s:s, s:[], s:s}", "seconds", "basis", "none", "runs",
                     "detail", "no run of this program and arguments has completed here");
}
