/* sweep.c - one time that a watch measures its nodes */
#include "server/watches/sweep.h"

#include <string.h>

#include "common/base/clock.h"
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

#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

json_t *sweep_document(const char *id, json_t *request, const char *by, int64_t now_ms,
                       int64_t next_ms)
{
    return json_pack("{s:s, s:s, s:I, s:s?, s:b, s:O, s:I, s:n, s:[], s:{}, s:{}, s:[]}",
                     "kind", "watch", "id", id, "created_ms", (json_int_t)now_ms, "by",
                     by, "paused", 0, "request", request, "next_ms", (json_int_t)next_ms,
                     "sweep", "sweeps", "counts", "nodes", "actions");
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
    return json_pack("{s:o, s:s, s:[]}", "nodes", nodes, "state", waiting, "runs");
}

void sweep_begin(json_t *watch, json_t *groups, int64_t due_ms, size_t skipped,
                 int64_t now_ms)
{
    json_t *batches = json_array(), *group;
    size_t i;

    json_array_foreach (groups, i, group)
        json_array_append_new(batches, new_batch(json_incref(group)));
    json_decref(groups);
    json_object_set_new(watch, "sweep",
                        json_pack("{s:I, s:I, s:I, s:o}", "due_ms", (json_int_t)due_ms,
                                  "begun_ms", (json_int_t)now_ms, "skipped",
                                  (json_int_t)skipped, "batches", batches));
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
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (!is_ready(arg, json_string_value(json_array_get(nodes, i))))
            return false;
    return true;
}

size_t sweep_find_ready(const json_t *watch, sweep_is_ready *is_ready, void *arg)
{
    size_t first = SWEEP_ALL, i;
    json_t *batch;

    json_array_foreach (batches_of(watch), i, batch) {
        if (!is_in(batch, waiting) ||
            !are_ready(json_object_get(batch, "nodes"), is_ready, arg))
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

const char *sweep_run(const json_t *watch, size_t *batch)
{
    json_t *one;
    size_t i;

    json_array_foreach (batches_of(watch), i, one)
        if (is_in(one, measuring)) {
            *batch = i;
            return json_get_str(one, "run", "");
        }
    return NULL;
}

void sweep_take_run(json_t *watch, size_t i, const char *run)
{
    json_t *batch = sweep_batch(watch, i), *runs = json_object_get(batch, "runs");

    if (run) {
        json_object_set_new(batch, "run", json_string(run));
        json_array_append_new(runs, json_string(run));
    } else {
        json_object_del(batch, "run");
        json_array_remove(runs, json_array_size(runs) - 1);
    }
    set_state(batch, run ? measuring : waiting);
}

static void end_batch(json_t *batch, enum verdict_answer answer, const char *sentence)
{
    json_object_set_new(batch, "answer", json_string(verdict_answer_name(answer)));
    json_object_set_new(batch, "sentence", json_clean_string(sentence));
    json_object_del(batch, "spec");
    set_state(batch, over);
}

void sweep_give_up(json_t *watch, size_t i, const char *why)
{
    json_t *batch = sweep_batch(watch, i);

    json_object_del(batch, "run");
    end_batch(batch,
              json_get_bool(batch, "is_slow", false) ? VERDICT_FAIL
                                                     : VERDICT_NOT_EVALUATED,
              why);
}

/* Of each node of the run, when it was measured and what that came to. A run that did not
 * complete has measured none. */
static void note_nodes(json_t *watch, const json_t *run, enum verdict_answer answer,
                       int64_t now_ms)
{
    json_t *nodes = json_object_get(watch, "nodes"), *level = chain_level(run), *node;
    size_t i;

    if (strcmp(json_get_str(run, "state", ""), "completed") != 0)
        return;
    json_array_foreach (json_object_get(run, "nodes"), i, node) {
        const char *name = json_get_str(node, "name", "");
        json_t *known = json_object_get(nodes, name);

        if (!known) {
            known = json_object();
            json_object_set_new(nodes, name, known);
        }
        json_object_set_new(known, "measured_ms", json_integer((json_int_t)now_ms));
        json_object_set(known, "run", json_object_get(run, "id"));
        json_object_set_new(known, "answer", json_string(verdict_answer_name(answer)));
        if (level)
            json_object_update(known, level);
    }
    json_decref(level);
}

bool sweep_take_end(json_t *watch, const json_t *run, struct chain_step *step,
                    int64_t now_ms)
{
    size_t i;
    json_t *batch;
    bool is_slow;

    if (!sweep_run(watch, &i))
        return false;
    batch = sweep_batch(watch, i);
    json_object_del(batch, "run");
    if (step->has_yielded) {
        sweep_count(watch, "yielded", 1);
        set_state(batch, waiting);
        return false;
    }
    sweep_count(watch, "runs", 1);
    sweep_count(watch, "alarms", step->was_alarm);
    note_nodes(watch, run, step->answer, now_ms);
    if (step->follow_up) {
        sweep_count(watch, "fails", 1);
        json_object_set_new(batch, "is_slow", json_true());
        json_object_set_new(batch, "spec", step->follow_up);
        json_object_set(
            batch, "group",
            json_object_get(json_object_get(json_object_get(run, "spec"), "nodes"),
                            "group"));
        json_object_set_new(batch, "why", json_clean_string(step->sentence));
        set_state(batch, waiting);
        return false;
    }
    if (step->named) {
        sweep_count(watch, "named", 1);
        json_object_set(batch, "named", step->named);
    }
    is_slow = json_get_bool(batch, "is_slow", false);
    if (step->answer == VERDICT_NONE && !is_slow)
        step->answer = VERDICT_PASS;
    if (is_slow && !step->named) {
        sweep_count(watch, "unexplained", 1);
        if (step->answer != VERDICT_NONE)
            step->answer = VERDICT_FAIL;
    }
    end_batch(batch, step->answer, step->sentence);
    return is_slow || step->named || step->answer == VERDICT_FAIL;
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

static json_t *verdict_of(const json_t *batches, size_t n_nodes, size_t n_measured,
                          const json_t *missed, size_t skipped)
{
    struct finding finding = finding_begin();
    size_t answer, i;
    const json_t *leader = leading_batch(batches, &answer);
    json_t *runs = json_array(), *named = json_array(), *batch;

    json_array_foreach (batches, i, batch) {
        json_array_extend(runs, json_object_get(batch, "runs"));
        if (json_object_get(batch, "named"))
            json_array_append_new(
                named,
                json_pack(
                    "{s:O, s:O, s:O, s:O}", "answer", json_object_get(batch, "answer"),
                    "nodes", json_object_get(batch, "named"), "sentence",
                    json_object_get(batch, "sentence"), "run",
                    json_array_get(json_object_get(batch, "runs"),
                                   json_array_size(json_object_get(batch, "runs")) - 1)));
    }
    finding_put(&finding, "{s:I, s:I, s:O, s:I, s:I, s:b, s:o, s:o, s:I, s:O?}", "of",
                (json_int_t)n_nodes, "measured", (json_int_t)n_measured, "missed", missed,
                "n_missed", (json_int_t)(n_nodes - n_measured), "skipped",
                (json_int_t)skipped, "$was_skipped", skipped > 0, "runs", runs, "named",
                named, "$others",
                json_array_size(named) > 1 ? (json_int_t)json_array_size(named) - 1 : 0,
                "$said", json_object_get(leader, "sentence"));
    json_array_foreach (batches, i, batch)
        finding_name_all(&finding, json_object_get(batch, "named"));
    return finding_end(&finding, answers[answer].message, NULL);
}

#define MISSED_MAX 100 /* names kept */

/* Nodes of the sweep's batches that it has measured, and the others. With a launcher
 * there is one batch, which names none. */
static size_t count_measured(const json_t *watch, const json_t *batches, int64_t begun_ms,
                             size_t *n_nodes, json_t *missed)
{
    const json_t *known = json_object_get(watch, "nodes");
    size_t n = 0, i, k;
    json_t *batch, *name, *node;
    const char *key;

    *n_nodes = 0;
    json_array_foreach (batches, i, batch)
        json_array_foreach (json_object_get(batch, "nodes"), k, name) {
            node = json_object_get(known, json_string_value(name));
            (*n_nodes)++;
            if (json_get_int(node, "measured_ms", 0) >= begun_ms)
                n++;
            else if (json_array_size(missed) < MISSED_MAX)
                json_array_append(missed, name);
        }
    if (*n_nodes > 0)
        return n;
    json_object_foreach ((json_t *)(uintptr_t)known, key, node)
        n += json_get_int(node, "measured_ms", 0) >= begun_ms;
    *n_nodes = n;
    return n;
}

const json_t *sweep_close(json_t *watch, int64_t now_ms)
{
    json_t *sweep = json_object_get(watch, "sweep"), *missed = json_array(), *closed;
    json_t *sweeps = json_object_get(watch, "sweeps");
    const json_t *batches = json_object_get(sweep, "batches");
    int64_t begun_ms = json_get_int(sweep, "begun_ms", 0);
    char texts[3][CLOCK_TEXT_MAX];
    size_t n_nodes, n = count_measured(watch, batches, begun_ms, &n_nodes, missed), i;
    json_t *batch;

    json_array_foreach (batches, i, batch)
        if (json_object_get(batch, "spec"))
            sweep_give_up(watch, i, json_get_str(batch, "why", ""));
    closed = json_pack("{s:s, s:s, s:s, s:o}", "due",
                       clock_format_ms(json_get_int(sweep, "due_ms", 0), texts[0]),
                       "begun", clock_format_ms(begun_ms, texts[1]), "ended",
                       clock_format_ms(now_ms, texts[2]), "verdict",
                       verdict_of(batches, n_nodes, n, missed,
                                  (size_t)json_get_int(sweep, "skipped", 0)));
    json_decref(missed);
    json_array_insert_new(sweeps, 0, closed);
    if (json_array_size(sweeps) > SWEEPS_KEPT)
        json_array_remove(sweeps, SWEEPS_KEPT);
    json_object_set_new(watch, "sweep", json_null());
    return closed;
}

json_t *sweep_stale(const json_t *watch, const json_t *names, int64_t since_ms)
{
    const json_t *known = json_object_get(watch, "nodes");
    json_t *stale = json_array(), *name;
    size_t i;

    json_array_foreach (names, i, name)
        if (json_get_int(json_object_get(known, json_string_value(name)), "measured_ms",
                         0) < since_ms)
            json_array_append(stale, name);
    return stale;
}
