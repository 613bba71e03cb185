/* store_read.h - a question to the database, and its answer */
#ifndef RINGBENCH_SERVER_STORE_STORE_READ_H
#define RINGBENCH_SERVER_STORE_STORE_READ_H

#include <sys/queue.h>

#include "common/base/buf.h"
#include "server/store/store.h"
#include "server/store/store_cursor.h"
#include "server/summary/summary.h"

enum store_read_kind {
    STORE_READ_RUN,
    STORE_READ_EVENTS,
    STORE_READ_LOGS,
    STORE_READ_COMPLETED,
    STORE_READ_VERDICTS,
    STORE_READ_NODE,
    STORE_READ_JOBS,
    STORE_READ_STATEMENTS, /* those above are a statement each */
    STORE_READ_RUNS = STORE_READ_STATEMENTS,
    STORE_READ_OLD,
    STORE_READ_DUE,
    STORE_READ_TRENDS,
    STORE_READ_BASELINES,
    STORE_READ_BASE,
    STORE_READ_ARTIFACTS,
    STORE_READ_TEXTS,
    STORE_READ_LONG, /* those above take milliseconds */
    STORE_READ_SUMMARY = STORE_READ_LONG,
    STORE_READ_ROWS
};

/* One question and its answer. */
struct store_read {
    STAILQ_ENTRY(store_read) entry;
    enum store_read_kind kind;

    char *run;       /* RUN, EVENTS, LOGS, SUMMARY, ROWS; NODE: its name */
    char *type;      /* EVENTS */
    char *before_id; /* of a page: rows below (before_ms, before_id) */
    int64_t before_ms;
    int64_t after; /* EVENTS */
    int limit;
    json_t *params;                     /* RUNS, OLD, DUE, of those behind STATEMENTS */
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
    size_t count;    /* of rows */
    int64_t page_ms; /* the last row of this page */
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

/* Of a list that comes by pages, backwards in time: begin it behind a cursor, or with the
 * newest if that is NULL. What is no cursor fails the question. */
void store_read_begin(struct store_read *read, const char *cursor);

/* Ask by parameters (taken), of which `limit` is about pages: before_ms and before_id
 * join them. */
void store_ask(struct store *store, enum store_read_kind kind, json_t *params,
               const char *cursor, store_read_done *done, void *arg);

/* Whether the page is full: then the row is of the next one, and page_ms and page_id, of
 * the last row of this one, say where that begins. */
bool store_read_ends_page(struct store_read *read);

/* Of text and events that are the answer. */
size_t store_read_bytes(const struct store_read *read);

/* store.c: hand a question to the thread that answers its kind; what failed already is
 * answered all the same. */
void store_submit_read(struct store *store, struct store_read *read);

#endif
