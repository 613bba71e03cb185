/* store_queries.c - what is asked of the readers, and the answers that are of one run or
 * node */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/store_read.h"
#include "server/store/store_results.h"
#include "server/store/store_sql.h"

/* -1: it is none of ours. */
static int parse_cursor(const char *text, int64_t *ms, char *id)
{
    char *end;

    errno = 0;
    *ms = strtoll(text, &end, 10);
    if (errno || end == text || *end != ':' || strlen(end + 1) > STORE_CURSOR_ID_MAX)
        return -1;
    memcpy(id, end + 1, strlen(end + 1) + 1);
    return 0;
}

/* Behind which row a page begins: its time and its id, which comes last in time. That of
 * a value is its run and the number of its likeness. */
static void begin_page(struct store_read *read, const char *cursor)
{
    char id[STORE_CURSOR_ID_MAX + 1] = "", *dot;
    int64_t before_ms = INT64_MAX;

    if (cursor && parse_cursor(cursor, &before_ms, id) < 0)
        store_read_fail(read, ERROR_INVALID, "the cursor is not one of this server");
    dot = strchr(id, '.');
    if (dot) {
        json_object_set_new(read->params, "before_like", json_integer(atoll(dot + 1)));
        *dot = '\0';
    }
    json_object_set_new(read->params, "before_ms", json_integer(before_ms));
    json_object_set_new(read->params, "before_id", json_string(id));
}

json_t *store_answer_page(sqlite3 *db, store_read_answer *answer, json_t *params,
                          const char *cursor, struct error *err)
{
    struct store_read *read = store_read_create(answer, params);

    begin_page(read, cursor);
    return store_read_finish(db, read, err);
}

/* ---- A run ---- */

static void take_run(struct store_read *read, sqlite3_stmt *stmt)
{
    read->result = store_sql_json(stmt, 0, &read->err);
    read->is_failed = !read->result;
}

static void answer_run(sqlite3 *db, struct store_read *read)
{
    read_each_row(db, read, "SELECT doc FROM runs WHERE id = :run", read->params,
                  take_run);
    if (!read->result)
        store_read_fail(read, ERROR_NOT_FOUND, "there is no such run");
}

json_t *store_get_run(sqlite3 *db, const char *run, struct error *err)
{
    return store_answer(db, answer_run, json_pack("{s:s}", "run", run), err);
}

static void take_completed(struct store_read *read, sqlite3_stmt *stmt)
{
    json_t *doc = store_sql_json(stmt, 0, &read->err);

    if (doc)
        read_append(read, NULL, doc);
    read->is_failed = !doc;
}

static void answer_completed(sqlite3 *db, struct store_read *read)
{
    read->result = json_array();
    read_each_row(db, read,
                  "SELECT json_remove(doc, '$.cases') FROM runs"
                  " WHERE state = 'completed' AND length(doc) < 1048576"
                  " ORDER BY created_ms DESC, id DESC LIMIT :limit",
                  read->params, take_completed);
}

json_t *store_get_completed(sqlite3 *db, int limit, struct error *err)
{
    return store_answer(db, answer_completed, json_pack("{s:i}", "limit", limit), err);
}

/* ---- Its events and results ---- */

static const char SQL_EVENTS[] =
    "SELECT " EVENT_ROW " FROM events WHERE run = :run AND id > :after"
    " AND (:type IS NULL OR type = :type) ORDER BY id LIMIT :limit";
static const char SQL_BUT_RESULTS[] =
    "SELECT " EVENT_ROW " FROM events INDEXED BY events_but_results WHERE run = :run"
    " AND id > :after AND type <> 'result' AND type <> 'disowned'"
    " ORDER BY id LIMIT :limit";

static void take_event(struct store_read *read, sqlite3_stmt *stmt)
{
    struct store_event event;

    if (event_row_read(stmt, &event, &read->err))
        read->is_failed = true;
    else
        store_events_add(read->events, &event);
}

static void answer_events(sqlite3 *db, struct store_read *read)
{
    const char *type = json_get_str(read->params, "type", "");
    bool but_results = strcmp(type, STORE_BUT_RESULTS) == 0;

    read->events = store_events_create();
    read_each_row(db, read, but_results ? SQL_BUT_RESULTS : SQL_EVENTS, read->params,
                  take_event);
}

struct store_events *store_get_events(sqlite3 *db, const char *run, int64_t after,
                                      const char *type, int limit, struct error *err)
{
    struct store_read *read = store_read_create(
        answer_events, json_pack("{s:s, s:I, s:s?, s:i}", "run", run, "after",
                                 (json_int_t)after, "type", type, "limit", limit));
    struct store_events *events;

    answer_events(db, read);
    *err = read->err;
    events = read->is_failed ? NULL : read->events;
    if (events)
        read->events = NULL;
    store_read_destroy(read);
    return events;
}

struct store_events *store_get_rows(sqlite3 *db, const struct store_rows_query *query,
                                    struct error *err)
{
    json_t *params =
        json_pack("{s:s, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s?}", "run",
                  query->run, "after", (json_int_t)query->after, "limit", query->limit,
                  "case", (json_int_t)query->case_no, "series", (json_int_t)query->series,
                  "group", (json_int_t)query->group, "row", (json_int_t)query->row,
                  "rank", (json_int_t)query->rank, "size", (json_int_t)query->size,
                  "metric", query->metric);
    struct store_events *rows = rows_read(db, params, err);

    json_decref(params);
    return rows;
}

struct summary *store_get_summary(sqlite3 *db, const json_t *run,
                                  const struct summary_query *query, struct error *err)
{
    struct summary_query full = *query;
    struct summary_case *cases = summary_cases(run, &full.n_cases);
    struct summary *summary;

    full.run = json_get_str(run, "id", "");
    full.cases = cases;
    summary = summary_read(db, &full, err);
    free(cases);
    return summary;
}

/* ---- What its ranks printed ---- */

static const char SQL_LOGS[] =
    "SELECT seq, time_ms, case_no, rank, stream, text FROM logs"
    " WHERE run = :run AND seq > :after AND (:case < 0 OR case_no = :case)"
    " AND (:rank < 0 OR rank = :rank) ORDER BY seq LIMIT :limit";

struct log_page {
    const struct store_logs_query *query;
    struct buf *out;
    int count;
    int64_t next;
    struct error *err;
};

/* A full page is followed by another, which may turn out to be empty. */
static int take_log_row(void *arg, sqlite3_stmt *stmt)
{
    struct log_page *page = arg;
    const struct store_log log = {
        .seq = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .case_no = sqlite3_column_int(stmt, 2),
        .rank = sqlite3_column_int(stmt, 3),
        .stream = store_sql_text(stmt, 4),
        .text = store_sql_text(stmt, 5),
        .len = (size_t)sqlite3_column_bytes(stmt, 5),
    };

    if (page->query->put(&log, page->out))
        return error_set(page->err, ERROR_LIMIT, "an entry is too long");
    if (++page->count == page->query->limit || page->out->len >= TEXT_SOFT_MAX)
        page->next = log.seq;
    return page->next > 0;
}

int store_get_logs(sqlite3 *db, const struct store_logs_query *query, struct buf *out,
                   int64_t *next, struct error *err)
{
    struct log_page page = {.query = query, .out = out, .err = err};
    json_t *params = json_pack("{s:s, s:I, s:i, s:i, s:i}", "run", query->run, "after",
                               (json_int_t)query->after, "case", query->case_no, "rank",
                               query->rank, "limit", query->limit);
    int rc = store_sql_each(db, SQL_LOGS, params, take_log_row, &page, err);

    *next = page.next;
    json_decref(params);
    return rc < 0 ? -1 : 0;
}

/* ---- A node ---- */

static void take_node_row(struct store_read *read, sqlite3_stmt *stmt)
{
    char time[CLOCK_TEXT_MAX];
    json_t *change = json_pack("{s:s, s:s, s:s?}", "time",
                               clock_format_ms(sqlite3_column_int64(stmt, 0), time),
                               "state", store_sql_text(stmt, 1), "detail",
                               (const char *)sqlite3_column_text(stmt, 2));

    read_append(read, NULL, change);
}

static void answer_node(sqlite3 *db, struct store_read *read)
{
    read->result = json_array();
    read_each_row(db, read,
                  "SELECT time_ms, state, detail FROM node_events WHERE node = :node"
                  " ORDER BY id DESC",
                  read->params, take_node_row);
}

json_t *store_get_node(sqlite3 *db, const char *node, struct error *err)
{
    return store_answer(db, answer_node, json_pack("{s:s}", "node", node), err);
}
