/* SPDX-License-Identifier: Apache-2.0 */
/* store_reads.h - reads of the store for tests, on its threads as the API does them */
#ifndef RINGBENCH_TESTS_UNIT_STORE_READS_H
#define RINGBENCH_TESTS_UNIT_STORE_READS_H

#include "common/base/memory.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

/* The parameters of a list of runs. */
struct store_runs_query {
    enum store_runs_sort sort;
    bool is_rising; /* the least first */
    bool has_total;
    int64_t since_ms, until_ms; /* created since, and before; 0: any time */
    const char *const *states;  /* any of these; NULL = all */
    size_t n_states;
    const char *const *answers; /* ANSWER or KIND:ANSWER of a verdict on it, any of these;
                                   NULL = all */
    size_t n_answers;
    const char *const *label_keys, *const *label_values; /* all must match */
    size_t n_labels;
    const char *node;    /* took part in it; NULL = any */
    const char *suspect; /* a node that its verdicts name; NULL = any */
    bool is_judged;      /* a verdict says whether a node is to blame */
    const char *text;    /* in id or name; NULL = any */
    const char *cursor;  /* from an earlier answer, or NULL */
    int limit;
};

static inline json_t *store_words(const char *const *words, size_t n)
{
    json_t *list = n ? json_array() : json_null();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(words[i]));
    return list;
}

static inline json_t *store_runs_params(const struct store_runs_query *query)
{
    json_t *params = json_pack(
        "{s:i, s:i, s:o, s:o, s:s?, s:s?, s:s?, s:b, s:I, s:I, s:b, s:i, s:s?}", "sort",
        (int)query->sort, "order", (int)query->is_rising, "state",
        store_words(query->states, query->n_states), "verdict",
        store_words(query->answers, query->n_answers), "q", query->text, "node",
        query->node, "suspect", query->suspect, "judged", (int)query->is_judged, "since",
        (json_int_t)query->since_ms, "until", (json_int_t)query->until_ms, "total",
        (int)query->has_total, "limit", query->limit, "cursor", query->cursor);

    for (size_t i = 0; i < query->n_labels; i++) {
        if (i == 0)
            json_object_set_new(params, "label", json_array());
        json_array_append_new(
            json_object_get(params, "label"),
            json_sprintf("%s=%s", query->label_keys[i], query->label_values[i]));
    }
    if (!query->since_ms)
        json_object_del(params, "since");
    if (!query->until_ms)
        json_object_del(params, "until");
    return params;
}

/* Which of a run's results; -1 or NULL: any. */
struct store_rows_query {
    const char *run;
    int64_t after; /* the last event id of the page before */
    int limit;
    int64_t case_no, series, group, row, rank, size;
    const char *metric;
};

static inline struct store_events *
store_read_rows(sqlite3 *db, const struct store_rows_query *query, struct error *err)
{
    json_t *params =
        json_pack("{s:s, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s?}", "run",
                  query->run, "after", (json_int_t)query->after, "limit", query->limit,
                  "case", (json_int_t)query->case_no, "series", (json_int_t)query->series,
                  "group", (json_int_t)query->group, "row", (json_int_t)query->row,
                  "rank", (json_int_t)query->rank, "size", (json_int_t)query->size,
                  "metric", query->metric);
    struct store_events *rows = store_get_rows(db, params, err);

    json_decref(params);
    return rows;
}

/* result, events: taken; NULL with err. */
typedef void store_read_done(void *arg, const struct error *err, json_t *result);
typedef void store_events_done(void *arg, const struct error *err,
                               struct store_events *events);

struct store_question {
    char run[64];
    const struct store_runs_query *query; /* NULL: the document of the run */
    const char *type;                     /* of events */
    int64_t after;
    int limit;
    json_t *result;
    struct store_events *events;
    store_read_done *done;
    store_events_done *events_done; /* or NULL */
    void *arg;
};

static inline int store_question_work(sqlite3 *db, void *arg, struct error *err)
{
    struct store_question *question = arg;

    if (question->events_done)
        question->events = store_get_events(db, question->run, question->after,
                                            question->type, question->limit, err);
    else if (question->query)
        question->result = store_get_runs(db, store_runs_params(question->query), err);
    else
        question->result = store_get_run(db, question->run, err);
    return question->events || question->result ? 0 : -1;
}

static inline void store_question_answer(void *arg, const struct error *err)
{
    struct store_question *question = arg;

    if (question->events_done)
        question->events_done(question->arg, err, question->events);
    else
        question->done(question->arg, err, question->result);
    free(question);
}

static inline void store_question_ask(struct store *store,
                                      const struct store_question *question)
{
    struct store_question *copy = memory_zeroed(1, sizeof(*copy), "a question");

    *copy = *question;
    store_do_on(store, STORE_KEYED, store_question_work, store_question_answer, copy);
}

static inline void store_read_run(struct store *store, const char *run,
                                  store_read_done *done, void *arg)
{
    struct store_question question = {.done = done, .arg = arg};

    snprintf(question.run, sizeof(question.run), "%s", run);
    store_question_ask(store, &question);
}

/* query: borrowed until `done`. */
static inline void store_read_runs(struct store *store,
                                   const struct store_runs_query *query,
                                   store_read_done *done, void *arg)
{
    store_question_ask(
        store, &(struct store_question){.query = query, .done = done, .arg = arg});
}

static inline void store_read_events(struct store *store, const char *run, int64_t after,
                                     const char *type, int limit, store_events_done *done,
                                     void *arg)
{
    struct store_question question = {
        .type = type, .after = after, .limit = limit, .events_done = done, .arg = arg};

    snprintf(question.run, sizeof(question.run), "%s", run);
    store_question_ask(store, &question);
}

#endif
