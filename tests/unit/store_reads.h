/* store_reads.h - reads of the store for tests, on its threads as the API does them */
#ifndef RINGBENCH_TESTS_UNIT_STORE_READS_H
#define RINGBENCH_TESTS_UNIT_STORE_READS_H

#include "common/base/memory.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

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
        question->result = store_get_runs(db, question->query, err);
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
