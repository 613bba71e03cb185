/* store_results.c - results, out of the database */
#include "server/store/store_results.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/event_row.h"
#include "server/store/result_row.h"
#include "server/store/store_sql.h"
#include "server/summary/summary_build.h"
#include "server/summary/summary_json.h"

#define TEXT_MAX ((size_t)256 << 20)
#define PAGE_BYTES_MAX ((size_t)8 << 20) /* a page ends with the row that reaches it */
#define REASONS_MAX 500 /* of skipped rows: each takes a look at its event */

enum {
    SQL_TEXTS,
    SQL_RESULTS,
    SQL_PAGE,
    SQL_REASON,
    SQL_HEAD,
    SQL_MESSAGES,
    SQL_RECENT,
    SQL_COUNT
};

/* SQLite's planner does not know how types are distributed, and would scan all events of
 * a run. CROSS JOIN makes it start from the results that match, and INDEXED BY makes it
 * use the index of events that are not results. */
static const char *const statements[SQL_COUNT] = {
    [SQL_TEXTS] = "SELECT number, text FROM result_texts WHERE run = ?1 ORDER BY number",
    [SQL_RESULTS] = "SELECT " RESULT_ROW " FROM results WHERE run = ?1 AND event <= ?2"
                    " ORDER BY event",
    [SQL_PAGE] = "SELECT " EVENT_ROW " FROM results CROSS JOIN events"
                 " ON events.run = results.run AND id = event"
                 " WHERE results.run = :run AND event > :after"
                 " AND (:case < 0 OR case_no = :case) AND (:row < 0 OR row = :row)"
                 " AND (:rank < 0 OR rank = :rank) AND (:size < 0 OR size = :size)"
                 " AND key IN (SELECT number FROM result_texts WHERE run = :run"
                 "  AND (:series < 0 OR json_extract(text, '$.series') = :series)"
                 "  AND (:group < 0 OR json_extract(text, '$.group') = :group)"
                 "  AND (:metric IS NULL OR json_extract(text, '$.metric') = :metric))"
                 " ORDER BY event",
    [SQL_REASON] = "SELECT json_extract(body, '$.skipped') FROM events"
                   " WHERE run = ?1 AND id = ?2 AND json_valid(body)",
    [SQL_HEAD] = "SELECT coalesce(max(id), 0) FROM events WHERE run = ?1",
    [SQL_MESSAGES] = "SELECT " EVENT_ROW " FROM events WHERE rowid IN (SELECT rowid"
                     " FROM events INDEXED BY events_but_results"
                     " WHERE run = ?1 AND type <> 'result'"
                     " AND type = 'message' AND id <= ?2 ORDER BY id DESC LIMIT ?3)"
                     " ORDER BY id",
    [SQL_RECENT] = "SELECT " EVENT_ROW " FROM events WHERE rowid IN (SELECT rowid"
                   " FROM events INDEXED BY events_but_results"
                   " WHERE run = ?1 AND type <> 'result'"
                   " AND type NOT IN ('message', 'disowned') AND id <= ?2"
                   " ORDER BY id DESC LIMIT ?3) ORDER BY id",
};

/* One question under way. */
struct reading {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
    const char *run;
    json_t **texts;
    size_t n_texts;
    struct error *err;
};

static int fail_sql(struct reading *reading)
{
    return store_sql_error(reading->err, reading->db, "cannot read");
}

static int fail_length(struct reading *reading)
{
    return error_set(reading->err, ERROR_LIMIT, "run %s has too much text", reading->run);
}

static int reading_init(struct reading *reading, sqlite3 *db, const char *run,
                        struct error *err)
{
    *reading = (struct reading){.db = db, .run = run, .err = err};
    if (store_sql_prepare(db, statements, SQL_COUNT, reading->stmts, err) < 0)
        return -1;
    /* Everything is read as of one moment. */
    if (store_sql_exec(db, "BEGIN") == SQLITE_OK)
        return 0;
    fail_sql(reading);
    store_sql_finalize(reading->stmts, SQL_COUNT);
    return -1;
}

static void reading_release(struct reading *reading)
{
    store_sql_finalize(reading->stmts, SQL_COUNT);
    store_sql_exec(reading->db, "COMMIT");
    for (size_t i = 0; i < reading->n_texts; i++)
        json_decref(reading->texts[i]);
    free(reading->texts);
}

/* Texts are numbered without gaps. */
static int read_texts(struct reading *reading)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_TEXTS];
    size_t capacity = 0;
    int rc;

    store_sql_bind_text(stmt, 1, reading->run);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        json_t *text;

        if (reading->n_texts == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            reading->texts = realloc(reading->texts, capacity * sizeof(*reading->texts));
            if (!reading->texts)
                memory_out("a summary");
        }
        text = store_sql_json(stmt, 1, NULL);
        if (!text || sqlite3_column_int(stmt, 0) != (int)reading->n_texts) {
            json_decref(text);
            return error_set(reading->err, ERROR_IO, "the results of run %s are damaged",
                             reading->run);
        }
        reading->texts[reading->n_texts++] = text;
    }
    return rc == SQLITE_DONE ? 0 : fail_sql(reading);
}

/* Call `take` for each record up to an event, in order, until it returns other than 0:
 * which is returned; if negative, it has said why. */
typedef int record_taker(void *arg, const struct result_record *record);

static int each_record(struct reading *reading, int64_t up_to, record_taker *take,
                       void *arg)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_RESULTS];
    int rc, taken = 0;

    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, up_to);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW && !taken; rc = sqlite3_step(stmt)) {
        const struct result_record record = result_row_read(stmt);

        taken = take(arg, &record);
    }
    sqlite3_reset(stmt);
    return taken || rc == SQLITE_DONE ? taken : fail_sql(reading);
}

/* ---- Summaries ---- */

struct sum {
    struct reading *reading;
    struct summary_builder *builder;
};

static int take_in(void *arg, const struct result_record *record)
{
    const struct sum *sum = arg;

    if (!summary_builder_add(sum->builder, record))
        return 0;
    return error_set(sum->reading->err, ERROR_UNAVAILABLE,
                     "memory is out, or the run has more results than can be summed up");
}

static int read_head(struct reading *reading, int64_t up_to, int64_t *head)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_HEAD];

    store_sql_bind_text(stmt, 1, reading->run);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        return fail_sql(reading);
    *head = sqlite3_column_int64(stmt, 0);
    if (*head > up_to)
        *head = up_to;
    return 0;
}

static int put_event(struct reading *reading, sqlite3_stmt *stmt, struct buf *out)
{
    struct store_event event;

    if (event_row_read(stmt, &event, reading->err))
        return -1;
    if ((out->len > 1 && buf_append_str(out, ",\n")) || store_event_append(&event, out))
        return fail_length(reading);
    return 0;
}

/* The last events of a statement, as the text of an array. */
static int read_last(struct reading *reading, int which, int64_t up_to, int limit,
                     char **text)
{
    sqlite3_stmt *stmt = reading->stmts[which];
    struct buf out;
    int rc, result = 0;

    buf_init(&out, TEXT_MAX);
    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, up_to);
    sqlite3_bind_int(stmt, 3, limit);
    buf_append_str(&out, "[");
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW && !result; rc = sqlite3_step(stmt))
        result = put_event(reading, stmt, &out);
    if (!result && rc != SQLITE_DONE)
        result = fail_sql(reading);
    if (!result && (buf_append_str(&out, "]") || !(*text = buf_detach(&out, NULL))))
        result = fail_length(reading);
    buf_release(&out);
    return result;
}

static char *reason_of(struct reading *reading, int64_t id)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_REASON];
    char *reason = NULL;

    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, id);
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_TEXT)
        reason = strdup(store_sql_text(stmt, 0));
    sqlite3_reset(stmt);
    return reason;
}

static void add_reasons(struct reading *reading, struct summary *summary)
{
    size_t left = REASONS_MAX;

    for (size_t i = 0; i < summary->n_series; i++) {
        struct summary_series *series = &summary->series[i];

        for (size_t k = 0; k < series->n_points && left > 0; k++) {
            if (series->points[k].skipped == 0)
                continue;
            series->points[k].reason =
                reason_of(reading, series->points[k].skipped_event);
            left--;
        }
    }
}

static struct summary *build(struct reading *reading, const struct summary_query *query,
                             int64_t head)
{
    struct sum sum = {reading,
                      summary_builder_create(query, reading->texts, reading->n_texts)};
    struct summary *summary = NULL;

    if (!sum.builder)
        memory_out("a summary");
    if (!each_record(reading, head, take_in, &sum)) {
        summary = summary_builder_finish(sum.builder);
        if (!summary)
            memory_out("a summary");
    }
    summary_builder_destroy(sum.builder);
    return summary;
}

static int write_json(struct reading *reading, struct summary *summary)
{
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (!summary_json_write(summary, &out))
        summary->json = buf_detach(&out, NULL);
    buf_release(&out);
    return summary->json ? 0 : fail_length(reading);
}

/* What nobody needs who only computes. */
static int add_texts(struct reading *reading, struct summary *summary)
{
    int64_t head = summary->last_event;

    add_reasons(reading, summary);
    if (read_last(reading, SQL_MESSAGES, head, SUMMARY_MESSAGES, &summary->messages) ||
        read_last(reading, SQL_RECENT, head, SUMMARY_RECENT, &summary->recent))
        return -1;
    return write_json(reading, summary);
}

struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err)
{
    struct summary *summary = NULL;
    struct reading reading;
    int64_t head = 0;

    if (reading_init(&reading, db, query->run, err))
        return NULL;
    if (!read_texts(&reading) && !read_head(&reading, query->up_to, &head))
        summary = build(&reading, query, head);
    if (summary)
        summary->last_event = head;
    if (summary && !query->is_bare && add_texts(&reading, summary)) {
        summary_destroy(summary);
        summary = NULL;
    }
    reading_release(&reading);
    return summary;
}

/* ---- All of a run ---- */

struct passing {
    struct reading *reading;
    store_result_taker *take;
    void *arg;
};

static int pass_on(void *arg, const struct result_record *record)
{
    struct passing *passing = arg;

    if (record->key >= 0 && (size_t)record->key < passing->reading->n_texts)
        passing->take(passing->arg, record, passing->reading->texts[record->key]);
    return 0;
}

int records_each(sqlite3 *db, const char *run, store_result_taker *take, void *arg,
                 struct error *err)
{
    struct reading reading;
    struct passing passing = {&reading, take, arg};
    int result;

    if (reading_init(&reading, db, run, err))
        return -1;
    result = read_texts(&reading);
    if (!result)
        result = each_record(&reading, INT64_MAX, pass_on, &passing);
    reading_release(&reading);
    return result;
}

/* ---- Pages ---- */

static int read_page(struct reading *reading, const json_t *params,
                     struct store_events *out)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_PAGE];
    size_t limit = (size_t)json_get_int(params, "limit", 0);
    int rc;

    store_sql_bind_json(stmt, params);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        struct store_event event;

        if (out->n == limit || out->bytes >= PAGE_BYTES_MAX) {
            out->next = out->list[out->n - 1].id;
            return 0;
        }
        if (event_row_read(stmt, &event, reading->err))
            return -1;
        store_events_add(out, &event);
    }
    return rc == SQLITE_DONE ? 0 : fail_sql(reading);
}

struct store_events *rows_read(sqlite3 *db, const json_t *params, struct error *err)
{
    struct store_events *page = store_events_create();
    struct reading reading;

    if (reading_init(&reading, db, json_get_str(params, "run", ""), err)) {
        store_events_destroy(page);
        return NULL;
    }
    if (read_page(&reading, params, page)) {
        store_events_destroy(page);
        page = NULL;
    }
    reading_release(&reading);
    return page;
}
