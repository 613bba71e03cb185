/* store_read.h - a question to the database, and its answer */
#ifndef RINGBENCH_SERVER_STORE_STORE_READ_H
#define RINGBENCH_SERVER_STORE_STORE_READ_H

#include <sqlite3.h>
#include <sys/queue.h>

#include "common/base/buf.h"
#include "server/store/store.h"
#include "server/store/store_work.h"
#include "server/summary/summary.h"

#define STORE_CURSOR_ID_MAX 64
#define TEXT_SOFT_MAX ((size_t)1 << 20) /* bytes of texts or events in an answer */

struct store_read;

/* Answer a question on a reader's thread: fill one of its answers, or fail it. */
typedef void store_read_answer(sqlite3 *db, struct store_read *read);

struct store_read {
    store_read_answer *answer;
    json_t *params; /* of its statements, by name */

    bool is_failed;
    struct error err;
    json_t *result; /* or: */
    struct store_events *events;

    int limit;       /* rows of a page, -1: all */
    size_t count;    /* of rows so far */
    int64_t page_ms; /* the last row of this page */
    char page_id[STORE_CURSOR_ID_MAX + 1];
};

/* params: taken. */
struct store_read *store_read_create(store_read_answer *answer, json_t *params);
void store_read_destroy(struct store_read *read);

/* Note why the question can't be asked or answered; the first reason stays. */
void store_read_fail(struct store_read *read, enum error_code code, const char *text);

/* Ask for one page of a list, newest first, of at most the parameter `limit` rows. The
 * page starts after `cursor`, or with the newest row if that is NULL; the statement gets
 * the position as before_ms, before_id and, if it has one, before_like. A malformed
 * cursor fails the read with ERROR_INVALID. */
json_t *store_answer_page(sqlite3 *db, store_read_answer *answer, json_t *params,
                          const char *cursor, struct error *err);

/* Answer on a reader's thread: what comes as JSON, by parameters (taken). NULL
 * with err on failure. */
json_t *store_answer(sqlite3 *db, store_read_answer *answer, json_t *params,
                     struct error *err);

/* Answer this read, and free it. */
json_t *store_read_finish(sqlite3 *db, struct store_read *read, struct error *err);

/* Whether the page is full: then the row is of the next one, and page_ms and page_id, of
 * the last row of this one, say where that begins. */
bool store_read_ends_page(struct store_read *read);

/* Call `take` for each row of a statement, until the read has failed or has 1 MiB of
 * events. */
typedef void read_row_taker(struct store_read *read, sqlite3_stmt *stmt);
void read_each_row(sqlite3 *db, struct store_read *read, const char *sql,
                   const json_t *params, read_row_taker *take);

/* What a statement selects that asks for events. A disowned one was a result, and is one
 * in the log. */
#define EVENT_ROW                                                                        \
    "id, events.time_ms, iif(type = 'disowned', 'result', type), body, samples"

/* The event of such a row; its texts are the statement's, until that is stepped.
 * ERROR_INTERNAL when its body is none. */
int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err);

/* Append to a list of the answer, or (NULL) to the answer (item: taken). */
void read_append(struct store_read *read, const char *list, json_t *item);

/* Of events that are the answer. */
size_t store_read_bytes(const struct store_read *read);

#endif
