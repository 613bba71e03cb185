/* SPDX-License-Identifier: Apache-2.0 */
/* store_results.c - reads results from the database */
#include "server/store/store_results.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/result_row.h"
#include "server/store/store_sql.h"
#include "server/store/store_work.h"
#include "server/store/summary_sums.h"
#include "server/summary/summary_json.h"

#define TEXT_MAX ((size_t)256 << 20)
/* a page ends with the row that reaches this size */
#define PAGE_BYTES_MAX ((size_t)8 << 20)
/* Maximum number of points with a reason for skipped rows. Each reason requires reading
 * an event. */
#define REASONS_MAX 500

static const char SQL_TEXTS[] =
    "SELECT number, text FROM result_texts WHERE run = :run ORDER BY number";
/* The SQL function take_result() receives each row's values as arguments, in the order of
 * events. Reading the columns of a million rows one by one would dominate the time. */
static const char SQL_RESULTS[] =
    "SELECT " RESULT_CALL("take_result") " FROM results"
                                         " WHERE run = :run ORDER BY event";
static const char SQL_HEAD[] =
    "SELECT min(coalesce(max(id), 0), :head) FROM events WHERE run = :run";
static const char SQL_REASON[] = "SELECT json_extract(body, '$.skipped') FROM events"
                                 " WHERE run = :run AND id = :event AND json_valid(body)";

/* SQLite's planner does not know how types are distributed, and would scan all events of
 * a run. CROSS JOIN makes it start from the results that match, and INDEXED BY makes it
 * use the index of events that are not results. */
static const char SQL_PAGE[] =
    "SELECT " EVENT_ROW " FROM results CROSS JOIN events"
    " ON events.run = results.run AND id = event"
    " WHERE results.run = :run AND event > :after"
    " AND (:case < 0 OR case_no = :case) AND (:row < 0 OR row = :row)"
    " AND (:rank < 0 OR rank = :rank) AND (:size < 0 OR size = :size)"
    " AND key IN (SELECT number FROM result_texts WHERE run = :run"
    "  AND (:series < 0 OR json_extract(text, '$.series') = :series)"
    "  AND (:group < 0 OR json_extract(text, '$.group') = :group)"
    "  AND (:metric IS NULL OR json_extract(text, '$.metric') = :metric))"
    " ORDER BY event";
#define SQL_LATEST(OF_TYPE)                                                              \
    "SELECT " EVENT_ROW " FROM events WHERE rowid IN (SELECT rowid"                      \
    " FROM events INDEXED BY events_but_results WHERE run = :run AND type <> 'result'"   \
    " AND type " OF_TYPE " AND id <= :head ORDER BY id DESC LIMIT :limit) ORDER BY id"
static const char SQL_MESSAGES[] = SQL_LATEST("= 'message'");
static const char SQL_RECENT[] = SQL_LATEST("NOT IN ('message', 'disowned')");

/* ---- All results of a run ---- */

struct reading {
    sqlite3 *db;
    json_t *params; /* parameters of the statements: run and last event */
    json_t **texts; /* the run's texts by number */
    size_t n_texts, capacity;
    record_passer *take;
    void *arg;
    struct error *err;
};

/* Append a text. Texts are numbered without gaps. */
static int take_text(void *arg, sqlite3_stmt *stmt)
{
    struct reading *reading = arg;
    json_t *text = store_sql_json(stmt, 1, NULL);

    if (!text || sqlite3_column_int(stmt, 0) != (int)reading->n_texts) {
        json_decref(text);
        return error_set(reading->err, ERROR_IO, "the results of run %s are damaged",
                         json_get_str(reading->params, "run", ""));
    }
    reading->texts = memory_grown(reading->texts, reading->n_texts, &reading->capacity,
                                  sizeof(*reading->texts), "a summary");
    reading->texts[reading->n_texts++] = text;
    return 0;
}

static int read_texts(struct reading *reading)
{
    return store_sql_each(reading->db, SQL_TEXTS, reading->params, take_text, reading,
                          reading->err);
}

/* Begin a transaction, so that all statements read the same state. */
static int reading_begin(struct reading *reading)
{
    if (store_sql_exec(reading->db, "BEGIN") != SQLITE_OK)
        return store_sql_error(reading->err, reading->db, "cannot read");
    return 0;
}

static void reading_end(struct reading *reading)
{
    store_sql_exec(reading->db, "COMMIT");
    for (size_t i = 0; i < reading->n_texts; i++)
        json_decref(reading->texts[i]);
    free(reading->texts);
    json_decref(reading->params);
}

static void on_result(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct reading *reading = sqlite3_user_data(context);
    const struct result_record record = result_row_read(values);

    (void)n;
    if (record.key >= 0 && (size_t)record.key < reading->n_texts)
        reading->take(reading->arg, &record, reading->texts[record.key]);
}

static int on_row(void *arg, sqlite3_stmt *stmt)
{
    (void)arg, (void)stmt;
    return 0;
}

/* Call `take` for each result. */
static int read_results(struct reading *reading)
{
    if (sqlite3_create_function(reading->db, "take_result", -1, SQLITE_UTF8, reading,
                                on_result, NULL, NULL) != SQLITE_OK)
        return store_sql_error(reading->err, reading->db, "cannot read");
    return store_sql_each(reading->db, SQL_RESULTS, reading->params, on_row, reading,
                          reading->err);
}

int records_each(sqlite3 *db, const char *run, record_passer *take, void *arg,
                 struct error *err)
{
    struct reading reading = {.db = db, .take = take, .arg = arg, .err = err};
    int result;

    reading.params = json_pack("{s:s}", "run", run);
    result = reading_begin(&reading);
    if (!result)
        result = read_texts(&reading);
    if (!result)
        result = read_results(&reading);
    reading_end(&reading);
    return result;
}

/* ---- Summaries ---- */

static int take_reason(void *arg, sqlite3_stmt *stmt)
{
    if (sqlite3_column_type(stmt, 0) == SQLITE_TEXT)
        *(char **)arg = strdup(store_sql_text(stmt, 0));
    return 0;
}

static int add_reasons(struct reading *reading, struct summary *summary)
{
    size_t left = REASONS_MAX;
    int result = 0;

    for (size_t i = 0; i < summary->n_series; i++) {
        struct summary_series *series = &summary->series[i];

        for (size_t k = 0; k < series->n_points && left > 0 && !result; k++) {
            struct summary_point *point = &series->points[k];

            if (point->skipped == 0)
                continue;
            json_object_set_new(reading->params, "event",
                                json_integer(point->skipped_event));
            result = store_sql_each(reading->db, SQL_REASON, reading->params, take_reason,
                                    &point->reason, reading->err);
            left--;
        }
    }
    return result;
}

struct listing {
    struct buf out;
    struct error *err;
};

static int put_event(void *arg, sqlite3_stmt *stmt)
{
    struct listing *listing = arg;
    struct store_event event;

    if (event_row_read(stmt, &event, listing->err))
        return -1;
    if (listing->out.len > 1)
        buf_append_str(&listing->out, ",\n");
    if (store_event_append(&event, &listing->out))
        return error_set(listing->err, ERROR_LIMIT, "the run's texts exceed 256 MiB");
    return 0;
}

/* Return the latest events that a statement selects, as the text of a JSON array; NULL
 * with err on failure. */
static char *read_latest(struct reading *reading, const char *sql, int limit)
{
    struct listing listing = {.err = reading->err};
    char *text = NULL;

    buf_init(&listing.out, TEXT_MAX);
    json_object_set_new(reading->params, "limit", json_integer(limit));
    buf_append_str(&listing.out, "[");
    if (!store_sql_each(reading->db, sql, reading->params, put_event, &listing,
                        reading->err) &&
        !buf_append_str(&listing.out, "]"))
        text = buf_detach(&listing.out, NULL);
    buf_release(&listing.out);
    return text;
}

/* Add to the summary the texts that are needed only in replies to clients. */
static int add_texts(struct reading *reading, struct summary *summary)
{
    struct buf out;

    if (add_reasons(reading, summary) ||
        !(summary->messages = read_latest(reading, SQL_MESSAGES, SUMMARY_MESSAGES)) ||
        !(summary->recent = read_latest(reading, SQL_RECENT, SUMMARY_RECENT)))
        return -1;
    buf_init(&out, TEXT_MAX);
    if (!summary_json_write(summary, 0, &out))
        summary->json = buf_detach(&out, NULL);
    buf_release(&out);
    return summary->json
               ? 0
               : error_set(reading->err, ERROR_LIMIT, "the run's texts exceed 256 MiB");
}

static int take_head(void *arg, sqlite3_stmt *stmt)
{
    *(int64_t *)arg = sqlite3_column_int64(stmt, 0);
    return 0;
}

static struct summary *sum_up(struct reading *reading, const struct summary_query *query)
{
    struct summary *summary = memory_zeroed(1, sizeof(*summary), "a summary");

    if (!read_texts(reading) &&
        !store_sql_each(reading->db, SQL_HEAD, reading->params, take_head,
                        &summary->last_event, reading->err)) {
        struct summary_query up_to = *query;

        up_to.up_to = summary->last_event;
        json_object_set_new(reading->params, "head", json_integer(up_to.up_to));
        if (!summary_sums_read(reading->db, &up_to, reading->texts, reading->n_texts,
                               summary, reading->err) &&
            (query->is_bare || !add_texts(reading, summary)))
            return summary;
    }
    summary_destroy(summary);
    return NULL;
}

struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err)
{
    struct reading reading = {.db = db, .err = err};
    struct summary *summary = NULL;

    reading.params =
        json_pack("{s:s, s:I}", "run", query->run, "head", (json_int_t)query->up_to);
    if (!reading_begin(&reading))
        summary = sum_up(&reading, query);
    reading_end(&reading);
    return summary;
}

/* ---- Pages ---- */

int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err)
{
    *event = (struct store_event){
        .id = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .type = (const char *)sqlite3_column_text(stmt, 2),
        .body = (const char *)sqlite3_column_text(stmt, 3),
        .body_len = (size_t)sqlite3_column_bytes(stmt, 3),
        .samples = (const char *)sqlite3_column_text(stmt, 4),
        .samples_len = (size_t)sqlite3_column_bytes(stmt, 4),
    };
    if (!event->type || !event->body || event->body_len < 2 || event->body[0] != '{')
        return error_set(err, ERROR_INTERNAL, "a stored event cannot be read");
    return 0;
}

struct page {
    struct store_events *events;
    size_t limit, bytes_max;
    struct error *err;
};

static int take_row(void *arg, sqlite3_stmt *stmt)
{
    const struct page *page = arg;
    struct store_events *out = page->events;
    struct store_event event;

    if (out->n == page->limit || out->bytes >= page->bytes_max) {
        out->next = out->list[out->n - 1].id;
        return 1;
    }
    if (event_row_read(stmt, &event, page->err))
        return -1;
    store_events_add(out, &event);
    return 0;
}

struct store_events *events_read(sqlite3 *db, const char *sql, const json_t *params,
                                 size_t bytes_max, struct error *err)
{
    struct page page = {.events = store_events_create(),
                        .limit = (size_t)json_get_int(params, "limit", 0),
                        .bytes_max = bytes_max,
                        .err = err};

    if (!params)
        error_set(err, ERROR_INVALID, "a parameter is not valid UTF-8");
    else if (store_sql_each(db, sql, params, take_row, &page, err) >= 0)
        return page.events;
    store_events_destroy(page.events);
    return NULL;
}

struct store_events *store_get_rows(sqlite3 *db, const json_t *params, struct error *err)
{
    return events_read(db, SQL_PAGE, params, PAGE_BYTES_MAX, err);
}
