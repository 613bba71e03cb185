/* SPDX-License-Identifier: Apache-2.0 */
/* store_queries.c - reads data of one run or node */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/store_results.h"
#include "server/store/store_rows.h"
#include "server/store/store_sql.h"
#include "server/store/store_work.h"

#define TEXT_SOFT_MAX ((size_t)1 << 20) /* a page ends after this many bytes */

/* ---- A run ---- */

json_t *store_get_run(sqlite3 *db, const char *run, struct error *err)
{
    json_t *params = json_pack("{s:s}", "run", run);
    json_t *doc = store_value(db, "SELECT doc FROM runs WHERE id = :run", params, err);

    json_decref(params);
    if (!json_is_null(doc))
        return doc;
    error_set(err, ERROR_NOT_FOUND, "there is no such run");
    return NULL;
}

json_t *store_get_completed(sqlite3 *db, int limit, struct error *err)
{
    json_t *params = json_pack("{s:i}", "limit", limit);
    json_t *docs = store_rows(db,
                              "SELECT json_remove(doc, '$.cases') AS \":json\" FROM runs"
                              " WHERE state = 'completed' AND length(doc) < 1048576"
                              " ORDER BY created_ms DESC, id DESC LIMIT :limit",
                              params, err);

    json_decref(params);
    return docs;
}

/* ---- Its events and results ---- */

static const char SQL_EVENTS[] =
    "SELECT " EVENT_ROW " FROM events WHERE run = :run AND id > :after"
    " AND (:type IS NULL OR type = :type) ORDER BY id LIMIT :limit";
static const char SQL_BUT_RESULTS[] =
    "SELECT " EVENT_ROW " FROM events INDEXED BY events_but_results WHERE run = :run"
    " AND id > :after AND type <> 'result' AND type <> 'disowned'"
    " ORDER BY id LIMIT :limit";

struct store_events *store_get_events(sqlite3 *db, const char *run, int64_t after,
                                      const char *type, int limit, struct error *err)
{
    bool but_results = type && strcmp(type, STORE_BUT_RESULTS) == 0;
    json_t *params = json_pack("{s:s, s:I, s:s?, s:i}", "run", run, "after",
                               (json_int_t)after, "type", type, "limit", limit);
    struct store_events *events = events_read(
        db, but_results ? SQL_BUT_RESULTS : SQL_EVENTS, params, TEXT_SOFT_MAX, err);

    json_decref(params);
    return events;
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

/* ---- The output of its ranks ---- */

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

/* A full page is always followed by another page, which may be empty. */
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
        return error_set(page->err, ERROR_LIMIT, "a log entry is too long");
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

json_t *store_get_node(sqlite3 *db, const char *node, struct error *err)
{
    json_t *params = json_pack("{s:s}", "node", node);
    json_t *changes =
        store_rows(db,
                   "SELECT " SQL_TIME(
                       "time_ms") " AS time, state, detail"
                                  " FROM node_events WHERE node = :node ORDER BY id DESC",
                   params, err);

    json_decref(params);
    return changes;
}
