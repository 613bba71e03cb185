/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - manages a sweep: one round of measurements of a watch over its nodes */
#include "server/watches/sweep.h"

#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "server/analysis/gate.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"
#include "server/plan/follow_up.h"
#include "server/runs/scheduler.h"

static const char waiting[] = "waiting", measuring[] = "measuring", over[] = "over";

/* The answers of batches, in order of precedence for the answer of the sweep. */
static const struct {
    enum verdict_answer answer;
    enum message_id message;
} answers[] = {
    {VERDICT_SLOW_NODE, MESSAGE_SWEEP_NODE}, {VERDICT_SLOW_RACK, MESSAGE_SWEEP_RACK},
    {VERDICT_SLOW_LINK, MESSAGE_SWEEP_LINK}, {VERDICT_NONE, MESSAGE_SWEEP_NONE},
    {VERDICT_FAIL, MESSAGE_SWEEP_FAIL},      {VERDICT_NOT_EVALUATED, MESSAGE_SWEEP_OPEN},
    {VERDICT_PASS, MESSAGE_SWEEP_PASS},
};

#define MISSED_MAX 100 /* maximum number of names of missed nodes that are kept */
#define STALE_PERIODS 2
/* number of latest runs with which a run is compared if its spec names no baseline */
#define BASELINE_RUNS 20
/* up to this number of nodes all pairs are measured; with more, only some */
#define ALL_PAIRS_MAX 64
#define DAY_MS INT64_C(86400000)
#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

json_t *sweep_document(const char *id, json_t *request, const char *by, int64_t now_ms)
{
    json_t *watch = json_pack("{s:s, s:s?, s:o, s:n, s:n, s:[], s:{}, s:{}, s:[], s:[]}",
                              "id", id, "by", by, "request", request, "next", "sweep",
                              "sweeps", "counts", "nodes", "stale", "actions");

    json_set_time(watch, "created", now_ms);
    return watch;
}

void sweep_count(json_t *watch, const char *name, size_t n)
{
    json_t *counts = json_object_get(watch, "counts");

    json_object_set_new(counts, name,
                        json_integer(json_get_int(counts, name, 0) + (json_int_t)n));
}

static json_t *batches_of(const json_t *watch)
{
    return json_object_get(json_object_get(watch, "sweep"), "batches");
}

/* Add a batch for the nodes. Takes ownership of `nodes`. */
static void add_batch(json_t *batches, json_t *nodes)
{
    json_array_append_new(batches,
                          json_pack("{s:o, s:s, s:[], s:n, s:n}", "nodes", nodes, "state",
                                    waiting, "runs", "answer", "sentence"));
}

void sweep_begin(json_t *watch, const json_t *names, size_t at_once, const char *only,
                 int64_t due_ms, size_t skipped, int64_t now_ms)
{
    size_t n = json_array_size(names);
    size_t n_groups = at_once > 0 && n > at_once ? (n + at_once - 1) / at_once : 1;
    json_t *sweep = json_pack("{s:I, s:[]}", "skipped", (json_int_t)skipped, "batches");

    for (size_t i = 0; i < n_groups; i++) {
        json_t *group = json_array();

        for (size_t k = i * n / n_groups; k < (i + 1) * n / n_groups; k++)
            json_array_append(group, json_array_get(names, k));
        if (!only || json_has_string(group, only))
            add_batch(json_object_get(sweep, "batches"), group);
        else
            json_decref(group);
    }
    json_set_time(sweep, "due", due_ms);
    json_set_time(sweep, "begun", now_ms);
    json_object_set_new(watch, "sweep", sweep);
    sweep_count(watch, "sweeps", 1);
    sweep_count(watch, "missed", skipped);
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
    return strcmp(json_get_str(object, key, ""), text) == 0;
}

static void set_state(json_t *batch, const char *state)
{
    json_object_set_new(batch, "state", json_string(state));
}

/* Return true if the batch's nodes are ready. With may_split, a batch with only some
 * ready nodes keeps these, and the others get a new batch. */
static bool are_ready(json_t *batches, json_t *batch, sweep_is_ready *is_ready, void *arg,
                      bool may_split)
{
    json_t *ready = json_array(), *rest = json_array(), *name;
    bool is_whole, is_split;
    size_t i;

    json_array_foreach (json_object_get(batch, "nodes"), i, name)
        json_array_append(is_ready(arg, json_string_value(name)) ? ready : rest, name);
    is_whole = json_array_size(rest) == 0;
    is_split = may_split && !is_whole && json_array_size(ready) > 0;
    if (is_split) {
        json_object_set(batch, "nodes", ready);
        add_batch(batches, json_incref(rest));
    }
    json_decref(ready);
    json_decref(rest);
    return is_whole || is_split;
}

json_t *sweep_next(json_t *watch, sweep_is_ready *is_ready, void *arg, bool may_split)
{
    json_t *batches = batches_of(watch), *batch, *next = NULL;
    size_t i;

    json_array_foreach (batches, i, batch) {
        bool is_follow_up = json_object_get(batch, "spec") != NULL;

        if (!is_text(batch, "state", waiting) || (next && !is_follow_up))
            continue;
        /* A batch of a launcher's group is always ready: if its job has ended, another
         * job is started. */
        if (!is_ready || json_is_string(json_object_get(batch, "group")) ||
            are_ready(batches, batch, is_ready, arg, may_split && !is_follow_up))
            next = batch;
    }
    return next;
}

json_t *sweep_measuring(const json_t *watch)
{
    json_t *batch;
    size_t i;

    json_array_foreach (batches_of(watch), i, batch)
        if (is_text(batch, "state", measuring))
            return batch;
    return NULL;
}

const char *sweep_run(const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs");

    return json_string_value(json_array_get(runs, json_array_size(runs) - 1));
}

void sweep_take_run(json_t *batch, const char *run)
{
    json_t *runs = json_object_get(batch, "runs");

    if (run)
        json_array_append_new(runs, json_string(run));
    else
        json_array_remove(runs, json_array_size(runs) - 1);
    set_state(batch, run ? measuring : waiting);
}

static void set_result(json_t *batch, enum verdict_answer answer, const char *sentence,
                       const char *state)
{
    json_object_set_new(batch, "answer", json_string(verdict_answer_name(answer)));
    json_object_set_new(batch, "sentence", json_clean_string(sentence));
    json_object_del(batch, "spec");
    set_state(batch, state);
}

/* True if the batch keeps a slow run's answer until its follow-up has ended. */
static bool is_slow(const json_t *batch)
{
    return verdict_has_answer(batch, VERDICT_FAIL);
}

void sweep_give_up(json_t *batch, const char *why)
{
    set_result(batch, is_slow(batch) ? VERDICT_FAIL : VERDICT_NOT_EVALUATED, why, over);
}

/* ---- The specs of runs ---- */

/* Return the spec of an ended run's pairs, a new object; NULL without a follow-up. */
static json_t *spec_of_pairs(const json_t *run)
{
    json_t *found = follow_up_of(run), *spec = json_object_get(found, "spec");
    size_t n = json_array_size(json_object_get(run, "nodes"));

    json_incref(spec);
    if (spec && n <= ALL_PAIRS_MAX)
        json_object_set_new(spec, "rounds", json_integer((json_int_t)n - 1));
    json_decref(found);
    return spec;
}

/* Return the follow-up of a run over the nodes, without that run. */
static json_t *pairs_of(const json_t *request, const json_t *names)
{
    json_t *nodes = json_array(), *run, *name, *out;
    struct problems problems;
    struct run_spec *spec;
    size_t i;

    json_array_foreach (names, i, name)
        json_array_append_new(nodes, json_pack("{s:O}", "name", name));
    problems_init(&problems);
    spec = run_spec_parse(json_object_get(request, "spec"), &problems);
    problems_release(&problems);
    run = json_pack("{s:O, s:s, s:o*, s:o, s:s}", "id", json_object_get(request, "name"),
                    "ended", "", "spec", spec ? run_spec_to_json(spec) : NULL, "nodes",
                    nodes, "backend", spec ? spec->backend : "auto");
    out = spec_of_pairs(run);
    run_spec_destroy(spec);
    json_decref(run);
    return out;
}

/* True if the run needs a default baseline. A run over all nodes whose spec names no
 * reference is compared with the latest runs. */
static bool lacks_baseline(const json_t *spec)
{
    return !json_object_get(spec, "baseline") && !json_object_get(spec, "program") &&
           !json_object_get(spec, "matrix") &&
           strcmp(json_get_str(spec, "pattern", "all"), "all") == 0;
}

static json_t *first_spec(const json_t *request, json_t *names)
{
    json_t *spec = json_copy(json_object_get(request, "spec"));
    json_t *wait_s = json_object_get(json_object_get(spec, "nodes"), "wait_s");

    if (!*json_get_str(spec, "name", ""))
        json_object_set(spec, "name", json_object_get(request, "name"));
    if (json_array_size(names) > 0)
        json_object_set_new(spec, "nodes",
                            json_pack("{s:O, s:O*}", "names", names, "wait_s", wait_s));
    if (lacks_baseline(spec))
        json_object_set_new(spec, "baseline", json_pack("{s:i}", "last", BASELINE_RUNS));
    return spec;
}

json_t *sweep_spec(const json_t *watch, const json_t *batch, bool is_pairs)
{
    const json_t *request = json_object_get(watch, "request");
    json_t *names = json_object_get(batch, "nodes"), *labels = json_object();
    json_t *spec = json_copy(json_object_get(batch, "spec"));

    if (!spec && is_pairs)
        spec = pairs_of(request, names);
    if (!spec)
        spec = first_spec(request, names);
    json_object_update(labels, json_object_get(spec, "labels"));
    json_object_set(labels, "watch", json_object_get(watch, "id"));
    json_object_set_new(spec, "labels", labels);
    json_object_set_new(spec, "background", json_true());
    return spec;
}

/* ---- The result of a run ---- */

static const json_t *baseline_check(const json_t *run)
{
    const json_t *gate = verdicts_find(json_object_get(run, "verdicts"), VERDICT_GATE);

    return json_find(json_object_get(json_object_get(gate, "evidence"), "checks"),
                     "check", "baseline");
}

/* Return the level of a run over all nodes in the band of the largest messages, and the
 * interval in which it counts as unchanged (null after too few runs). New, or NULL. */
static json_t *level_of(const json_t *run)
{
    const json_t *check = baseline_check(run), *again = json_object_get(check, "again");
    const json_t *compared = again ? again : json_object_get(check, "comparison");
    const json_t *bands = json_object_get(json_object_get(compared, "evidence"), "bands");
    const json_t *band = json_array_get(bands, json_array_size(bands) - 1);
    const json_t *headline = json_object_get(json_object_get(run, "summary"), "headline");
    double usual = json_get_num(band, "usual", 0), base = json_get_num(band, "base", 0);

    if (!is_text(json_object_get(run, "spec"), "pattern", "all"))
        return NULL;
    if (usual > 0)
        return json_pack("{s:O, s:O, s:f, s:f}", "figure",
                         json_object_get(band, "figure"), "level",
                         json_object_get(band, "head"), "low", base / (1 + usual), "high",
                         base * (1 + usual));
    if (!json_object_get(headline, "busbw_gbs"))
        return NULL;
    return json_pack("{s:s, s:O, s:n, s:n}", "figure", "busbw_gbs", "level",
                     json_object_get(headline, "busbw_gbs"), "low", "high");
}

/* Set the batch's nodes to those of its run, because a launcher chooses them anew. */
static void take_nodes(json_t *batch, const json_t *run)
{
    const json_t *nodes = json_object_get(run, "nodes");
    json_t *names = json_object_get(batch, "nodes"), *node;
    size_t i;

    if (json_array_size(nodes) > 0)
        json_array_clear(names);
    json_array_foreach (nodes, i, node)
        json_array_append(names, json_object_get(node, "name"));
}

/* Record when each of the run's nodes was measured, and with which result. */
static void note_nodes(json_t *watch, const json_t *run, enum verdict_answer answer,
                       int64_t now_ms)
{
    json_t *nodes = json_object_get(watch, "nodes"), *level = level_of(run), *node;
    json_t *known = json_object();
    size_t i;

    json_set_time(known, "measured", now_ms);
    json_object_set(known, "run", json_object_get(run, "id"));
    json_object_set_new(known, "answer", json_string(verdict_answer_name(answer)));
    if (level) {
        json_object_update(known, level);
        json_object_set(known, "level_run", json_object_get(run, "id"));
        json_set_time(known, "level_measured", now_ms);
    }
    json_array_foreach (json_object_get(run, "nodes"), i, node) {
        json_t *name = json_object_get(node, "name");
        json_t *before = json_object_get(nodes, json_string_value(name));

        if (before)
            json_object_update(before, known);
        else
            json_object_set_new(nodes, json_string_value(name), json_copy(known));
    }
    json_decref(known);
    json_decref(level);
}

/* Return the first run of a lasting slowdown without a slow run. Borrowed, or NULL. */
static json_t *lasting_of(const json_t *check)
{
    json_t *changes = json_object_get(json_object_get(check, "lasting"), "changes");
    const json_t *change;
    size_t i;

    json_array_foreach (changes, i, change)
        if (json_get_bool(change, "slower", false))
            return json_object_get(change, "run");
    return NULL;
}

/* Return the spec of the pairs to measure after a run over all nodes that was slower
 * twice or shows a new lasting slowdown. A new object; NULL if the run needs no
 * follow-up. */
static json_t *follow_up_of_end(json_t *watch, const json_t *run, const json_t *gate)
{
    const json_t *check = baseline_check(run);
    json_t *lasting = lasting_of(check);
    bool is_alarm = json_object_get(check, "again") != NULL;
    bool is_new = lasting && !json_equal(lasting, json_object_get(watch, "lasting"));

    sweep_count(watch, "alarms", is_alarm);
    sweep_count(watch, "unconfirmed_alarms",
                is_alarm && verdict_has_answer(check, VERDICT_PASS));
    if (is_new)
        json_object_set(watch, "lasting", lasting);
    return is_new || gate_failed(gate) ? spec_of_pairs(run) : NULL;
}

static enum verdict_answer answer_of(const json_t *verdict)
{
    for (size_t i = 0; i < ANSWERS; i++)
        if (verdict_has_answer(verdict, answers[i].answer))
            return answers[i].answer;
    return verdict_has_answer(verdict, VERDICT_SLOW_TOGETHER) ? VERDICT_NONE
                                                              : VERDICT_NOT_EVALUATED;
}

/* Read the run's verdict. Returns the spec of its follow-up, a new object, or NULL. */
static json_t *read_verdict(json_t *watch, const json_t *run, struct sweep_result *result)
{
    bool is_pairs = is_text(json_object_get(run, "spec"), "pattern", "pairs");
    const json_t *verdict = verdicts_find(json_object_get(run, "verdicts"),
                                          is_pairs ? VERDICT_CULPRIT : VERDICT_GATE);
    json_t *follow_up = is_pairs ? NULL : follow_up_of_end(watch, run, verdict);

    result->answer = answer_of(verdict);
    result->sentence = json_get_str(verdict, "sentence", result->sentence);
    if (is_pairs && json_array_size(json_object_get(verdict, "nodes")) > 0)
        result->named = json_object_get(verdict, "nodes");
    result->has_judged = is_pairs ? result->answer != VERDICT_NOT_EVALUATED
                                  : result->answer == VERDICT_PASS && !follow_up;
    return follow_up;
}

/* Prepare the batch for the follow-up. Takes ownership of `spec`. */
static void begin_follow_up(json_t *watch, json_t *batch, const json_t *run, json_t *spec,
                            const char *why)
{
    const json_t *nodes = json_object_get(json_object_get(run, "spec"), "nodes");

    sweep_count(watch, "fails", 1);
    set_result(batch, VERDICT_FAIL, why, waiting);
    json_object_set_new(batch, "spec", spec);
    json_object_set(batch, "group", json_object_get(nodes, "group"));
}

/* End the batch after pairs. If the pairs name no node, a preceding slow run stays
 * unexplained; without a slow run, the batch passes. */
static bool end_measured(json_t *watch, json_t *batch, struct sweep_result *result)
{
    bool is_bad = result->named || is_slow(batch) || result->answer == VERDICT_FAIL;

    if (result->named) {
        sweep_count(watch, "named", 1);
        json_object_set(batch, "named", result->named);
    } else if (is_slow(batch)) {
        sweep_count(watch, "unexplained", 1);
        if (result->answer != VERDICT_NONE)
            result->answer = VERDICT_FAIL;
    } else if (result->answer == VERDICT_NONE) {
        result->answer = VERDICT_PASS;
    }
    set_result(batch, result->answer, result->sentence, over);
    return is_bad;
}

bool sweep_take_end(json_t *watch, const json_t *run, int64_t now_ms,
                    struct sweep_result *result)
{
    const char *reason = json_get_str(run, "reason", "");
    json_t *batch = sweep_measuring(watch), *follow_up = NULL;

    *result = (struct sweep_result){.answer = VERDICT_NOT_EVALUATED,
                                    .sentence = reason,
                                    .nodes = json_object_get(batch, "nodes")};
    if (!is_text(run, "state", "cancelled")) {
        follow_up = read_verdict(watch, run, result);
    } else if (strncmp(reason, SCHEDULER_YIELDED, strlen(SCHEDULER_YIELDED)) == 0) {
        sweep_count(watch, "yielded", 1);
        set_state(batch, waiting);
        return false;
    }
    sweep_count(watch, "runs", 1);
    take_nodes(batch, run);
    if (is_text(run, "state", "completed"))
        note_nodes(watch, run, result->answer, now_ms);
    if (!follow_up)
        return end_measured(watch, batch, result);
    begin_follow_up(watch, batch, run, follow_up, result->sentence);
    return false;
}

/* ---- The end of a sweep ---- */

bool sweep_is_over(const json_t *watch)
{
    json_t *batch;
    size_t i;

    json_array_foreach (batches_of(watch), i, batch)
        if (!is_text(batch, "state", over))
            return false;
    return true;
}

/* Return the first batch with the sweep's answer. answer: set to its index. */
static const json_t *leading_batch(const json_t *batches, size_t *answer)
{
    json_t *batch;
    size_t i;

    for (size_t k = 0; k < ANSWERS; k++) {
        *answer = k;
        json_array_foreach (batches, i, batch)
            if (verdict_has_answer(batch, answers[k].answer))
                return batch;
    }
    *answer = ANSWERS - 2; /* not evaluated */
    return NULL;
}

/* Return the names that were not measured since since_ms, a new array. For nodes that
 * were never measured, first_ms is used as time of measurement. */
static json_t *not_measured(const json_t *watch, const json_t *names, int64_t since_ms,
                            int64_t first_ms)
{
    const json_t *known = json_object_get(watch, "nodes");
    json_t *out = json_array(), *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const json_t *node = json_object_get(known, json_string_value(name));
        int64_t at_ms = node ? json_get_time(node, "measured") : first_ms;

        if (at_ms < since_ms)
            json_array_append(out, name);
    }
    return out;
}

static json_t *stale_of(const json_t *watch, const json_t *names, int64_t period_ms,
                        int64_t now_ms)
{
    return not_measured(watch, names, now_ms - STALE_PERIODS * period_ms,
                        json_get_time(watch, "created"));
}

json_t *sweep_take_stale(json_t *watch, const json_t *names, int64_t period_ms,
                         int64_t now_ms)
{
    json_t *stale = stale_of(watch, names, period_ms, now_ms), *fresh = json_array();
    json_t *name;
    size_t i;

    json_array_foreach (stale, i, name)
        if (!json_has_string(json_object_get(watch, "stale"), json_string_value(name)))
            json_array_append(fresh, name);
    json_object_set_new(watch, "stale", stale);
    return fresh;
}

static json_t *verdict_of(const json_t *watch)
{
    const json_t *sweep = json_object_get(watch, "sweep"), *batches = batches_of(watch);
    json_int_t skipped = json_get_int(sweep, "skipped", 0), n_nodes, n_missed, n_named;
    json_t *names = json_array(), *runs = json_array(), *named = json_array(), *missed;
    struct finding finding = finding_begin();
    size_t answer, i;
    const json_t *leader = leading_batch(batches, &answer);
    json_t *batch;

    json_array_foreach (batches, i, batch) {
        json_array_extend(names, json_object_get(batch, "nodes"));
        json_array_extend(runs, json_object_get(batch, "runs"));
        if (json_object_get(batch, "named"))
            json_array_append_new(named,
                                  json_pack("{s:O, s:O, s:O, s:s}", "answer",
                                            json_object_get(batch, "answer"), "nodes",
                                            json_object_get(batch, "named"), "sentence",
                                            json_object_get(batch, "sentence"), "run",
                                            sweep_run(batch)));
        finding_name_all(&finding, json_object_get(batch, "named"));
    }
    missed = not_measured(watch, names, json_get_time(sweep, "begun"), 0);
    n_nodes = (json_int_t)json_array_size(names);
    n_missed = (json_int_t)json_array_size(missed);
    n_named = (json_int_t)json_array_size(named);
    json_decref(names);
    while (json_array_size(missed) > MISSED_MAX)
        json_array_remove(missed, MISSED_MAX);
    finding_put(&finding, "{s:I, s:I, s:o, s:I, s:I, s:b, s:o, s:o, s:I, s:O?}", "of",
                n_nodes, "measured", n_nodes - n_missed, "missed", missed, "n_missed",
                n_missed, "skipped", skipped, "$was_skipped", skipped > 0, "runs", runs,
                "named", named, "$others", n_named > 1 ? n_named - 1 : (json_int_t)0,
                "$said", json_object_get(leader, "sentence"));
    return finding_end(&finding, answers[answer].message, NULL);
}

const json_t *sweep_close(json_t *watch, int64_t now_ms)
{
    json_t *sweep = json_object_get(watch, "sweep"), *closed;
    json_t *sweeps = json_object_get(watch, "sweeps");

    closed = json_pack("{s:O, s:O, s:o}", "due", json_object_get(sweep, "due"), "begun",
                       json_object_get(sweep, "begun"), "verdict", verdict_of(watch));
    json_set_time(closed, "ended", now_ms);
    json_array_insert_new(sweeps, 0, closed);
    if (json_array_size(sweeps) > SWEEPS_KEPT)
        json_array_remove(sweeps, SWEEPS_KEPT);
    json_object_set_new(watch, "sweep", json_null());
    return closed;
}

/* ---- The watch in the API ---- */

static json_t *show_nodes(const json_t *watch, const json_t *names, const json_t *stale)
{
    json_t *out = json_array(), *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const char *text = json_string_value(name);
        json_t *node = json_pack(
            "{s:O, s:b, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "name", name,
            "stale", (int)json_has_string(stale, text), "measured", "run", "answer",
            "figure", "level", "low", "high", "level_run", "level_measured");

        json_object_update(node, json_object_get(json_object_get(watch, "nodes"), text));
        json_array_append_new(out, node);
    }
    return out;
}

/* Return how many nodes were measured in the last period, at least in the last day. */
static json_t *show_coverage(const json_t *watch, const json_t *names,
                             const json_t *stale, int64_t period_ms, int64_t now_ms)
{
    int64_t window_ms = period_ms > DAY_MS ? period_ms : DAY_MS;
    json_t *missing = not_measured(watch, names, now_ms - window_ms, 0);
    json_int_t n = (json_int_t)json_array_size(names);
    json_t *out = json_pack("{s:I, s:I, s:I, s:I}", "measured",
                            n - (json_int_t)json_array_size(missing), "nodes", n, "stale",
                            (json_int_t)json_array_size(stale), "hours",
                            (json_int_t)(window_ms / 3600000));

    json_decref(missing);
    json_object_set_new(out, "sentence",
                        template_text(n == 0 ? "there is no node to measure so far"
                                             : "{measured} of {nodes} node{nodes:/s} "
                                               "measured in the last {hours} h",
                                      out, NULL));
    return out;
}

json_t *sweep_show(json_t *watch, json_t *names, int64_t period_ms, int64_t now_ms,
                   bool has_nodes)
{
    json_t *out = json_copy(json_object_get(watch, "request")), *stale, *value;
    json_t *sweeps = json_object_get(watch, "sweeps");
    const char *name, *run = sweep_run(sweep_measuring(watch));

    /* A launcher supplies new nodes for each run, so show the nodes of earlier runs. */
    if (json_array_size(names) == 0)
        json_object_foreach (json_object_get(watch, "nodes"), name, value)
            json_array_append_new(names, json_string(name));
    stale = stale_of(watch, names, period_ms, now_ms);
    json_object_update(out, watch);
    json_object_update_new(
        out, json_pack("{s:s, s:s?, s:O?, s:o}", "state",
                       json_is_null(json_object_get(watch, "next"))      ? "paused"
                       : json_is_object(json_object_get(watch, "sweep")) ? "measuring"
                                                                         : "waiting",
                       "run", run, "last",
                       json_object_get(json_array_get(sweeps, 0), "verdict"), "coverage",
                       show_coverage(watch, names, stale, period_ms, now_ms)));
    json_object_del(out, "request");
    json_object_del(out, "lasting");
    if (has_nodes) {
        json_object_set_new(out, "nodes", show_nodes(watch, names, stale));
        json_object_set(out, "stale", stale);
    } else {
        json_object_del(out, "nodes");
        json_object_del(out, "stale");
        json_object_del(out, "actions");
        json_object_del(out, "sweep");
        json_object_set_new(out, "spec", json_copy(json_object_get(out, "spec")));
        json_object_del(json_object_get(out, "spec"), "nodes");
    }
    json_decref(stale);
    json_decref(names);
    return out;
}
