/* store_reader.h - the reader thread: answers queries one after the other on a connection
 * of its own. Calls come from the loop's thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_READER_H
#define RINGBENCH_SERVER_STORE_STORE_READER_H

#include <sqlite3.h>
#include <sys/queue.h>

#include "common/base/buf.h"
#include "server/store/store.h"
#include "server/store/store_cursor.h"
#include "server/summary/summary.h"

enum store_read_kind {
    STORE_READ_RUNS,
    STORE_READ_RUN,
    STORE_READ_EVENTS,
    STORE_READ_LOGS,
    STORE_READ_COMPLETED,
    STORE_READ_VERDICTS,
    STORE_READ_NODE,
    STORE_READ_STATEMENTS, /* those above are a statement each */
    STORE_READ_DUE = STORE_READ_STATEMENTS,
    STORE_READ_TRENDS,
    STORE_READ_BASELINES,
    STORE_READ_BASE,
    STORE_READ_LONG, /* those above take milliseconds */
    STORE_READ_SUMMARY = STORE_READ_LONG,
    STORE_READ_ROWS
};

/* One question and its answer. */
struct store_read {
    STAILQ_ENTRY(store_read) entry;
    enum store_read_kind kind;

    char *run;             /* RUN, EVENTS, LOGS, SUMMARY, ROWS; NODE: its name */
    char *type;            /* EVENTS */
    char *states, *labels; /* RUNS: JSON arrays, of strings and of pairs, or NULL */
    char *pattern;         /* RUNS: for LIKE, or NULL */
    char *node;            /* RUNS, or NULL */
    char *before_id;       /* RUNS: rows below (before_ms, before_id) */
    int64_t before_ms;
    int64_t after; /* EVENTS */
    int limit;
    json_t *params;                     /* DUE, TRENDS, BASELINES, BASE */
    struct summary_query summary_query; /* SUMMARY: run and cases are owned */
    struct summary_case *cases;
    struct store_logs_query logs_query; /* LOGS: run is owned */
    struct store_rows_query rows_query; /* ROWS: run and metric are owned */
    char *metric;

    bool is_failed;
    struct error err;
    json_t *result;
    struct store_events *events; /* EVENTS, ROWS */
    struct buf text;             /* LOGS */
    struct summary *summary;
    int64_t next;    /* LOGS */
    size_t count;    /* RUNS, LOGS */
    int64_t page_ms; /* RUNS: the last row of this page */
    char page_id[STORE_CURSOR_ID_MAX + 1];

    store_read_done *done; /* or: */
    store_events_done *events_done;
    store_logs_done *logs_done;
    summary_done *summary_done;
    void *arg;
};

STAILQ_HEAD(store_read_list, store_read);

struct store_read *store_read_create(enum store_read_kind kind);
void store_read_destroy(struct store_read *read);

/* Note why the question can't be asked or answered; the first reason stays. */
void store_read_fail(struct store_read *read, enum error_code code, const char *text);

/* A copy of an optional text; on failure NULL, and the question fails. */
char *store_read_copy(struct store_read *read, const char *text);

/* Of text and events that are the answer. */
size_t store_read_bytes(const struct store_read *read);

/* store.c: hand a question to the thread that answers its kind; what failed already is
 * answered all the same. */
void store_submit_read(struct store *store, struct store_read *read);

/* Answer one question on this thread, on a connection opened for it. */
void store_read_now(const char *path, struct store_read *read);

struct store_reader;

/* Start the thread with a connection of its own to path; `wake` is sent each time that
 * store_reader_collect has something new. */
struct store_reader *store_reader_create(const char *path, uv_async_t *wake,
                                         struct error *err);

/* Ask the thread to end; questions that it has not begun are failed. */
void store_reader_stop(struct store_reader *reader);
void store_reader_destroy(struct store_reader *reader);

void store_reader_submit(struct store_reader *reader, struct store_read *read);

/* Append what is answered to *finished. Returns whether the thread has ended. */
bool store_reader_collect(struct store_reader *reader, struct store_read_list *finished);

#endif
