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

void store_ask(struct store *store, store_read_answer *answer, json_t *params,
               store_read_done *done, void *arg)
{
    struct store_read *read = store_read_create(answer, params, arg);

    read->done = done;
    store_submit_read(store, read);
}

/* -1: it is none of ours. */
static int parse_cursor(const char *text, int64_t *ms, char *id)
{
    char *end;

    errno = 0;
    *ms = strtoll(text, &end, 10);
    if (errno || end == text || *end != ':' || strlen(end + 1) > STORE_CURSOR_ID_MAX)
        return -1;
    strcpy(id, end + 1);
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

void store_ask_page(struct store *store, store_read_answer *answer, json_t *params,
                    const char *cursor, store_read_done *done, void *arg)
{
    struct store_read *read = store_read_create(answer, params, arg);

    read->done = done;
    begin_page(read, cursor);
    store_submit_read(store, read);
}

/* ---- A function of the caller's ---- */

static void answer_work(sqlite3 *db, struct store_read *read)
{
    read->is_failed = read->work(db, read->arg, &read->err) != 0;
}

void store_do(struct store *store, store_work *work, store_worked *worked, void *arg)
{
    struct store_read *read = store_read_create(answer_work, json_object(), arg);

    read->work = work;
    read->worked = worked;
    read->is_long = true;
    store_submit_read(store, read);
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

void store_read_run(struct store *store, const char *id, store_read_done *done, void *arg)
{
    store_ask(store, answer_run, json_pack("{s:s}", "run", id), done, arg);
}

/* ---- Its events and results ---- */

static const char SQL_EVENTS[] =
    "SELECT " EVENT_ROW " FROM events WHERE run = :run AND id > :after"
    " AND (:type IS NULL OR type = :type) ORDER BY id LIMIT :limit";

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
    read->events = store_events_create();
    read_each_row(db, read, SQL_EVENTS, read->params, take_event);
}

void store_read_events(struct store *store, const char *run, int64_t after,
                       const char *type, int limit, store_events_done *done, void *arg)
{
    json_t *params = json_pack("{s:s, s:I, s:s?, s:i}", "run", run, "after",
                               (json_int_t)after, "type", type, "limit", limit);
    struct store_read *read = store_read_create(answer_events, params, arg);

    read->events_done = done;
    store_submit_read(store, read);
}

static void answer_rows(sqlite3 *db, struct store_read *read)
{
    read->events = rows_read(db, read->params, &read->err);
    read->is_failed = !read->events;
}

void store_read_rows(struct store *store, const struct store_rows_query *query,
                     store_events_done *done, void *arg)
{
    json_t *params =
        json_pack("{s:s, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s?}", "run",
                  query->run, "after", (json_int_t)query->after, "limit", query->limit,
                  "case", (json_int_t)query->case_no, "series", (json_int_t)query->series,
                  "group", (json_int_t)query->group, "row", (json_int_t)query->row,
                  "rank", (json_int_t)query->rank, "size", (json_int_t)query->size,
                  "metric", query->metric);
    struct store_read *read = store_read_create(answer_rows, params, arg);

    read->events_done = done;
    read->is_long = true;
    store_submit_read(store, read);
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

static void answer_summary(sqlite3 *db, struct store_read *read)
{
    read->summary = summary_read(db, &read->summary_query, &read->err);
    read->is_failed = !read->summary;
}

void store_read_summary(struct store *store, const json_t *run,
                        const struct summary_query *query, summary_done *done, void *arg)
{
    json_t *params = json_pack("{s:s}", "run", json_get_str(run, "id", ""));
    struct store_read *read = store_read_create(answer_summary, params, arg);

    read->summary_done = done;
    read->is_long = true;
    read->summary_query = *query;
    read->cases = summary_cases(run, &read->summary_query.n_cases);
    read->summary_query.run = json_get_str(read->params, "run", "");
    read->summary_query.cases = read->cases;
    store_submit_read(store, read);
}

/* ---- What its ranks printed ---- */

static const char SQL_LOGS[] =
    "SELECT seq, time_ms, case_no, rank, stream, text FROM logs"
    " WHERE run = :run AND seq > :after AND (:case < 0 OR case_no = :case)"
    " AND (:rank < 0 OR rank = :rank) ORDER BY seq LIMIT :limit";

/* A full page is followed by another, which may turn out to be empty. */
static void take_log_row(struct store_read *read, sqlite3_stmt *stmt)
{
    const struct store_log log = {
        .seq = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .case_no = sqlite3_column_int(stmt, 2),
        .rank = sqlite3_column_int(stmt, 3),
        .stream = store_sql_text(stmt, 4),
        .text = store_sql_text(stmt, 5),
        .len = (size_t)sqlite3_column_bytes(stmt, 5),
    };

    if (read->put_log(&log, &read->text))
        store_read_fail(read, ERROR_LIMIT, "an entry is too long");
    if (++read->count == (size_t)read->limit || read->text.len >= TEXT_SOFT_MAX)
        read->next = log.seq;
}

static void answer_logs(sqlite3 *db, struct store_read *read)
{
    read_each_row(db, read, SQL_LOGS, read->params, take_log_row);
}

void store_read_logs(struct store *store, const struct store_logs_query *query,
                     store_logs_done *done, void *arg)
{
    json_t *params = json_pack("{s:s, s:I, s:i, s:i, s:i}", "run", query->run, "after",
                               (json_int_t)query->after, "case", query->case_no, "rank",
                               query->rank, "limit", query->limit);
    struct store_read *read = store_read_create(answer_logs, params, arg);

    read->logs_done = done;
    read->put_log = query->put;
    store_submit_read(store, read);
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

void store_read_node(struct store *store, const char *node, store_read_done *done,
                     void *arg)
{
    store_ask(store, answer_node, json_pack("{s:s}", "node", node), done, arg);
}
