/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - one time that a watch measures its nodes */
#include "server/watches/sweep.h"

#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/finding.h"

static const char waiting[] = "waiting", measuring[] = "measuring", over[] = "over";

/* By which a sweep of several answers is known, the first first. */
static const struct {
    enum verdict_answer answer;
    enum message_id message;
} answers[] = {
    {VERDICT_SLOW_NODE, MESSAGE_SWEEP_NODE}, {VERDICT_SLOW_RACK, MESSAGE_SWEEP_RACK},
    {VERDICT_SLOW_LINK, MESSAGE_SWEEP_LINK}, {VERDICT_NONE, MESSAGE_SWEEP_NONE},
    {VERDICT_FAIL, MESSAGE_SWEEP_FAIL},      {VERDICT_NOT_EVALUATED, MESSAGE_SWEEP_OPEN},
    {VERDICT_PASS, MESSAGE_SWEEP_PASS},
};

#define MISSED_MAX 100 /* names kept */
#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

json_t *sweep_document(const char *id, json_t *request, const char *by, int64_t now_ms,
                       int64_t next_ms)
{
    json_t *watch = json_pack("{s:s, s:s?, s:o, s:n, s:[], s:{}, s:{}, s:[], s:[]}", "id",
                              id, "by", by, "request", request, "sweep", "sweeps",
                              "counts", "nodes", "stale", "actions");

    json_set_time(watch, "created", now_ms);
    json_set_time(watch, "next", next_ms);
    return watch;
}

void sweep_count(json_t *watch, const char *name, size_t n)
{
    json_t *counts = json_object_get(watch, "counts");

    json_object_set_new(counts, name,
                        json_integer(json_get_int(counts, name, 0) + (json_int_t)n));
}

json_t *sweep_divide(const json_t *names, size_t most)
{
    size_t n = json_array_size(names);
    size_t n_groups = most > 0 && n > most ? (n + most - 1) / most : 1;
    json_t *groups = json_array();

    for (size_t i = 0; i < n_groups; i++) {
        json_t *group = json_array();

        for (size_t k = i * n / n_groups; k < (i + 1) * n / n_groups; k++)
            json_array_append(group, json_array_get(names, k));
        json_array_append_new(groups, group);
    }
    return groups;
}

static json_t *new_batch(json_t *nodes)
{
    return json_pack("{s:o, s:s, s:[], s:n, s:n}", "nodes", nodes, "state", waiting,
                     "runs", "answer", "sentence");
}

void sweep_begin(json_t *watch, json_t *groups, int64_t due_ms, size_t skipped,
                 int64_t now_ms)
{
    json_t *batches = json_array(), *group, *sweep;
    size_t i;

    json_array_foreach (groups, i, group)
        json_array_append_new(batches, new_batch(json_incref(group)));
    json_decref(groups);
    sweep = json_pack("{s:I, s:o}", "skipped", (json_int_t)skipped, "batches", batches);
    json_set_time(sweep, "due", due_ms);
    json_set_time(sweep, "begun", now_ms);
    json_object_set_new(watch, "sweep", sweep);
    sweep_count(watch, "sweeps", 1);
    sweep_count(watch, "missed", skipped);
}

static json_t *batches_of(const json_t *watch)
{
    return json_object_get(json_object_get(watch, "sweep"), "batches");
}

json_t *sweep_batch(const json_t *watch, size_t i)
{
    return json_array_get(batches_of(watch), i);
}

static bool is_in(const json_t *batch, const char *state)
{
    return strcmp(json_get_str(batch, "state", ""), state) == 0;
}

static void set_state(json_t *batch, const char *state)
{
    json_object_set_new(batch, "state", json_string(state));
}

static bool are_ready(const json_t *nodes, sweep_is_ready *is_ready, void *arg)
{
    for (size_t i = 0; is_ready && i < json_array_size(nodes); i++)
        if (!is_ready(arg, json_string_value(json_array_get(nodes, i))))
            return false;
    return true;
}

size_t sweep_find_ready(const json_t *watch, sweep_is_ready *is_ready, void *arg)
{
    size_t first = SWEEP_ALL, i;
    json_t *batch;

    json_array_foreach (batches_of(watch), i, batch) {
        /* A job that is gone by now is started again. */
        if (!is_in(batch, waiting) ||
            (!json_is_string(json_object_get(batch, "group")) &&
             !are_ready(json_object_get(batch, "nodes"), is_ready, arg)))
            continue;
        if (json_object_get(batch, "spec"))
            return i;
        first = first == SWEEP_ALL ? i : first;
    }
    return first;
}

void sweep_split(json_t *watch, sweep_is_ready *is_ready, void *arg)
{
    json_t *batches = batches_of(watch), *name;
    size_t n = json_array_size(batches), i, k;

    for (i = 0; i < n; i++) {
        json_t *batch = json_array_get(batches, i), *ready, *rest;

        if (!is_in(batch, waiting) || json_object_get(batch, "spec"))
            continue;
        ready = json_array();
        rest = json_array();
        json_array_foreach (json_object_get(batch, "nodes"), k, name)
            json_array_append(is_ready(arg, json_string_value(name)) ? ready : rest,
                              name);
        if (json_array_size(ready) > 0 && json_array_size(rest) > 0) {
            json_object_set(batch, "nodes", ready);
            json_array_append_new(batches, new_batch(json_incref(rest)));
        }
        json_decref(ready);
        json_decref(rest);
    }
}

/* The latest of a batch's runs. */
static json_t *latest_run(const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs");

    return json_array_get(runs, json_array_size(runs) - 1);
}

const char *sweep_run(const json_t *watch, size_t *batch)
{
    json_t *one;
    size_t i;

    json_array_foreach (batches_of(watch), i, one)
        if (is_in(one, measuring)) {
            *batch = i;
            return json_string_value(latest_run(one));
        }
    return NULL;
}

void sweep_take_run(json_t *watch, size_t i, const char *run)
{
    json_t *batch = sweep_batch(watch, i), *runs = json_object_get(batch, "runs");

    if (run)
        json_array_append_new(runs, json_string(run));
    else
        json_array_remove(runs, json_array_size(runs) - 1);
    set_state(batch, run ? measuring : waiting);
}

static void end_batch(json_t *batch, enum verdict_answer answer, const char *sentence)
{
    json_object_set_new(batch, "answer", json_string(verdict_answer_name(answer)));
    json_object_set_new(batch, "sentence", json_clean_string(sentence));
    json_object_del(batch, "spec");
    set_state(batch, over);
}

/* A batch with a reason for pairs was slower twice, or has a lasting slowdown. */
static bool is_slow(const json_t *batch)
{
    return json_object_get(batch, "why") != NULL;
}

void sweep_give_up(json_t *watch, size_t i, const char *why)
{
    json_t *batch = sweep_batch(watch, i);

    end_batch(batch, is_slow(batch) ? VERDICT_FAIL : VERDICT_NOT_EVALUATED, why);
}

/* Of each node of the run, when it was measured and what that came to; with a launcher
 * the batch gets its nodes here. A run that did not complete has measured none. */
static void note_nodes(json_t *watch, json_t *batch, const json_t *run,
                       enum verdict_answer answer, int64_t now_ms)
{
    json_t *nodes = json_object_get(watch, "nodes"), *level = chain_level(run), *node;
    json_t *names = json_object_get(batch, "nodes"), *known = json_object();
    bool is_new = json_array_size(names) == 0;
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

        if (is_new)
            json_array_append(names, name);
        if (before)
            json_object_update(before, known);
        else
            json_object_set_new(nodes, json_string_value(name), json_copy(known));
    }
    json_decref(known);
    json_decref(level);
}

bool sweep_take_end(json_t *watch, const json_t *run, struct chain_step *step,
                    int64_t now_ms)
{
    size_t i;
    json_t *batch;

    if (!sweep_run(watch, &i))
        return false;
    batch = sweep_batch(watch, i);
    if (step->has_yielded) {
        sweep_count(watch, "yielded", 1);
        set_state(batch, waiting);
        return false;
    }
    sweep_count(watch, "runs", 1);
    sweep_count(watch, "alarms", step->was_alarm);
    sweep_count(watch, "unconfirmed_alarms", step->is_unconfirmed);
    if (strcmp(json_get_str(run, "state", ""), "completed") == 0)
        note_nodes(watch, batch, run, step->answer, now_ms);
    if (step->follow_up) {
        const json_t *nodes = json_object_get(json_object_get(run, "spec"), "nodes");

        sweep_count(watch, "fails", 1);
        json_object_set_new(batch, "spec", step->follow_up);
        json_object_set(batch, "group", json_object_get(nodes, "group"));
        json_object_set_new(batch, "why", json_clean_string(step->sentence));
        set_state(batch, waiting);
        return false;
    }
    if (step->named) {
        sweep_count(watch, "named", 1);
        json_object_set(batch, "named", step->named);
    } else if (is_slow(batch)) {
        sweep_count(watch, "unexplained", 1);
        if (step->answer != VERDICT_NONE)
            step->answer = VERDICT_FAIL;
    } else if (step->answer == VERDICT_NONE) {
        step->answer = VERDICT_PASS;
    }
    end_batch(batch, step->answer, step->sentence);
    return is_slow(batch) || step->named || step->answer == VERDICT_FAIL;
}

bool sweep_is_over(const json_t *watch)
{
    json_t *batch;
    size_t i;

    json_array_foreach (batches_of(watch), i, batch)
        if (!is_in(batch, over))
            return false;
    return true;
}

/* The first of the batches with the answer that the sweep is known by. */
static const json_t *leading_batch(const json_t *batches, size_t *answer)
{
    json_t *batch;
    size_t i;

    for (size_t k = 0; k < ANSWERS; k++) {
        *answer = k;
        json_array_foreach (batches, i, batch)
            if (is_in(batch, over) && verdict_says(batch, answers[k].answer))
                return batch;
    }
    *answer = ANSWERS - 2; /* not evaluated */
    return NULL;
}

/* missed: the names of those of n_nodes that were not measured; MISSED_MAX are kept. */
static json_t *verdict_of(const json_t *batches, size_t n_nodes, json_t *missed,
                          size_t skipped)
{
    struct finding finding = finding_begin();
    size_t answer, n_missed = json_array_size(missed), i;
    const json_t *leader = leading_batch(batches, &answer);
    json_t *runs = json_array(), *named = json_array(), *batch;

    while (json_array_size(missed) > MISSED_MAX)
        json_array_remove(missed, MISSED_MAX);
    json_array_foreach (batches, i, batch) {
        json_array_extend(runs, json_object_get(batch, "runs"));
        if (json_object_get(batch, "named"))
            json_array_append_new(named,
                                  json_pack("{s:O, s:O, s:O, s:O}", "answer",
                                            json_object_get(batch, "answer"), "nodes",
                                            json_object_get(batch, "named"), "sentence",
                                            json_object_get(batch, "sentence"), "run",
                                            latest_run(batch)));
    }
    finding_put(&finding, "{s:I, s:I, s:O, s:I, s:I, s:b, s:o, s:o, s:I, s:O?}", "of",
                (json_int_t)n_nodes, "measured", (json_int_t)(n_nodes - n_missed),
                "missed", missed, "n_missed", (json_int_t)n_missed, "skipped",
                (json_int_t)skipped, "$was_skipped", skipped > 0, "runs", runs, "named",
                named, "$others",
                json_array_size(named) > 1 ? (json_int_t)json_array_size(named) - 1 : 0,
                "$said", json_object_get(leader, "sentence"));
    json_array_foreach (batches, i, batch)
        finding_name_all(&finding, json_object_get(batch, "named"));
    return finding_end(&finding, answers[answer].message, NULL);
}

json_t *sweep_stale(const json_t *watch, const json_t *names, const char *since,
                    const char *from)
{
    const json_t *known = json_object_get(watch, "nodes");
    json_t *stale = json_array(), *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const json_t *node = json_object_get(known, json_string_value(name));
        const char *measured = json_get_str(node, "measured", from);

        if (!measured || strcmp(measured, since) < 0)
            json_array_append(stale, name);
    }
    return stale;
}

const json_t *sweep_close(json_t *watch, int64_t now_ms)
{
    json_t *sweep = json_object_get(watch, "sweep"), *names = json_array(), *missed;
    json_t *sweeps = json_object_get(watch, "sweeps"), *closed, *batch;
    const json_t *batches = json_object_get(sweep, "batches");
    size_t i;

    json_array_foreach (batches, i, batch) {
        if (json_object_get(batch, "spec"))
            sweep_give_up(watch, i, json_get_str(batch, "why", ""));
        json_array_extend(names, json_object_get(batch, "nodes"));
    }
    missed = sweep_stale(watch, names, json_get_str(sweep, "begun", ""), NULL);
    closed = json_pack("{s:O, s:O, s:o}", "due", json_object_get(sweep, "due"), "begun",
                       json_object_get(sweep, "begun"), "verdict",
                       verdict_of(batches, json_array_size(names), missed,
                                  (size_t)json_get_int(sweep, "skipped", 0)));
    json_set_time(closed, "ended", now_ms);
    json_decref(missed);
    json_decref(names);
    json_array_insert_new(sweeps, 0, closed);
    if (json_array_size(sweeps) > SWEEPS_KEPT)
        json_array_remove(sweeps, SWEEPS_KEPT);
    json_object_set_new(watch, "sweep", json_null());
    return closed;
}
