/* store_results.c - results by their records, out of the database */
#include "server/store/store_results.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/event_row.h"
#include "server/store/store_sql.h"
#include "server/summary/result_record.h"
#include "server/summary/summary_build.h"
#include "server/summary/summary_json.h"

#define TEXT_MAX ((size_t)256 << 20)
#define PAGE_BYTES_MAX ((size_t)8 << 20) /* a page ends with the row that reaches it */
#define REASONS_MAX 500 /* of skipped rows: each takes a look at its event */

enum { SQL_KEYS, SQL_CHUNKS, SQL_EVENT, SQL_HEAD, SQL_MESSAGES, SQL_RECENT, SQL_COUNT };

/* The records of an event are in the last chunk that begins at or before it. The planner,
 * which knows nothing of how the types are distributed, would rather walk through all
 * events of the run than through the index of those that are no results. */
static const char *const statements[SQL_COUNT] = {
    [SQL_KEYS] = "SELECT key, text FROM result_keys WHERE run = ?1 ORDER BY key",
    [SQL_CHUNKS] = "SELECT records FROM result_chunks WHERE run = ?1 AND first_id >="
                   " coalesce((SELECT max(first_id) FROM result_chunks WHERE run = ?1"
                   "  AND first_id <= ?2), 0) AND first_id <= ?3 ORDER BY first_id",
    [SQL_EVENT] = "SELECT " EVENT_ROW " FROM events WHERE run = ?1 AND id = ?2",
    [SQL_HEAD] = "SELECT coalesce(max(id), 0) FROM events WHERE run = ?1",
    [SQL_MESSAGES] = "SELECT " EVENT_ROW " FROM events WHERE rowid IN (SELECT rowid"
                     " FROM events INDEXED BY events_but_results"
                     " WHERE run = ?1 AND type <> 'result'"
                     " AND type = 'message' AND id <= ?2 ORDER BY id DESC LIMIT ?3)"
                     " ORDER BY id",
    [SQL_RECENT] = "SELECT " EVENT_ROW " FROM events WHERE rowid IN (SELECT rowid"
                   " FROM events INDEXED BY events_but_results"
                   " WHERE run = ?1 AND type <> 'result'"
                   " AND type IN ('state', 'placed', 'case', 'rank', 'nccl')"
                   " AND id <= ?2"
                   " ORDER BY id DESC LIMIT ?3) ORDER BY id",
};

/* One question under way. */
struct reading {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
    const char *run;
    json_t **keys;
    size_t n_keys;
    struct error *err;
};

static int fail_sql(struct reading *reading)
{
    return store_sql_error(reading->err, reading->db, "cannot read");
}

static int fail_memory(struct reading *reading)
{
    return error_set(reading->err, ERROR_MEMORY, "out of memory");
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
    for (size_t i = 0; i < reading->n_keys; i++)
        json_decref(reading->keys[i]);
    free(reading->keys);
}

/* Keys are numbered without gaps. */
static int read_keys(struct reading *reading)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_KEYS];
    size_t capacity = 0;
    int rc;

    store_sql_bind_text(stmt, 1, reading->run);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        json_t *key;

        if (reading->n_keys == capacity) {
            json_t **more;

            capacity = capacity ? capacity * 2 : 64;
            more = realloc(reading->keys, capacity * sizeof(*more));
            if (!more)
                return fail_memory(reading);
            reading->keys = more;
        }
        key = store_sql_json(stmt, 1, NULL);
        if (!key || sqlite3_column_int(stmt, 0) != (int)reading->n_keys) {
            json_decref(key);
            return error_set(reading->err, ERROR_IO, "the records of run %s are damaged",
                             reading->run);
        }
        reading->keys[reading->n_keys++] = key;
    }
    return rc == SQLITE_DONE ? 0 : fail_sql(reading);
}

/* Call `take` for each record with after < event <= up_to, in order, until it returns
 * other than 0: which is returned; if negative, it has said why. */
typedef int record_taker(void *arg, const struct result_record *record);

static int each_record(struct reading *reading, int64_t after, int64_t up_to,
                       record_taker *take, void *arg)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_CHUNKS];
    int rc, taken = 0;

    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, after);
    sqlite3_bind_int64(stmt, 3, up_to);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW && !taken; rc = sqlite3_step(stmt)) {
        const char *records = sqlite3_column_blob(stmt, 0);
        size_t n = (size_t)sqlite3_column_bytes(stmt, 0) / sizeof(struct result_record);

        for (size_t i = 0; i < n && !taken; i++) {
            struct result_record record;

            memcpy(&record, records + i * sizeof(record), sizeof(record));
            if (record.event > after && record.event <= up_to)
                taken = take(arg, &record);
        }
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
        return fail_memory(reading);
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
        result = fail_memory(reading);
    buf_release(&out);
    return result;
}

static char *reason_of(struct reading *reading, int64_t id)
{
    sqlite3_stmt *stmt = reading->stmts[SQL_EVENT];
    struct store_event event;
    struct error err;
    json_t *body = NULL;
    char *reason = NULL;

    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, id);
    if (sqlite3_step(stmt) == SQLITE_ROW && !event_row_read(stmt, &event, &err)) {
        body = json_parse(event.body, event.body_len, NULL);
        if (json_get_str(body, "skipped", NULL))
            reason = strdup(json_get_str(body, "skipped", ""));
    }
    json_decref(body);
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
                      summary_builder_create(query, reading->keys, reading->n_keys)};
    struct summary *summary = NULL;

    if (!sum.builder) {
        fail_memory(reading);
    } else if (!each_record(reading, 0, head, take_in, &sum)) {
        summary = summary_builder_finish(sum.builder);
        if (!summary)
            fail_memory(reading);
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
    return summary->json ? 0 : fail_memory(reading);
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
    if (!read_keys(&reading) && !read_head(&reading, query->up_to, &head))
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

    if (record->key >= 0 && (size_t)record->key < passing->reading->n_keys)
        passing->take(passing->arg, record, passing->reading->keys[record->key]);
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
    result = read_keys(&reading);
    if (!result)
        result = each_record(&reading, 0, INT64_MAX, pass_on, &passing);
    reading_release(&reading);
    return result;
}

/* ---- Pages ---- */

struct page {
    struct reading *reading;
    const struct store_rows_query *query;
    bool *is_wanted; /* by key */
    struct store_events *out;
};

static bool key_matches(const json_t *key, const struct store_rows_query *query)
{
    if (query->series >= 0 && json_get_int(key, "series", -1) != query->series)
        return false;
    if (query->group >= 0 && json_get_int(key, "group", -1) != query->group)
        return false;
    return !query->metric || strcmp(json_get_str(key, "metric", ""), query->metric) == 0;
}

static bool matches(const struct page *page, const struct result_record *record)
{
    const struct store_rows_query *query = page->query;

    if (record->key < 0 || (size_t)record->key >= page->reading->n_keys ||
        !page->is_wanted[record->key])
        return false;
    return (query->case_no < 0 || record->case_no == query->case_no) &&
           (query->row < 0 || record->row == query->row) &&
           (query->rank < 0 || record->rank == query->rank) &&
           (query->size < 0 || record->size == query->size);
}

/* A row of the record's event. */
static int put_row(struct page *page, int64_t id)
{
    sqlite3_stmt *stmt = page->reading->stmts[SQL_EVENT];
    struct store_event event;
    int rc, result = 0;

    store_sql_bind_text(stmt, 1, page->reading->run);
    sqlite3_bind_int64(stmt, 2, id);
    rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW)
        result = rc == SQLITE_DONE ? 0 : fail_sql(page->reading);
    else if (event_row_read(stmt, &event, page->reading->err))
        result = -1;
    else if (store_events_add(page->out, &event))
        result = fail_memory(page->reading);
    sqlite3_reset(stmt);
    return result;
}

static int take_row(void *arg, const struct result_record *record)
{
    struct page *page = arg;

    if (!matches(page, record))
        return 0;
    if (page->out->n == (size_t)page->query->limit ||
        page->out->bytes >= PAGE_BYTES_MAX) {
        page->out->next = page->out->list[page->out->n - 1].id;
        return 1;
    }
    return put_row(page, record->event);
}

static int read_page(struct page *page)
{
    struct reading *reading = page->reading;

    page->is_wanted = calloc(reading->n_keys + 1, sizeof(*page->is_wanted));
    if (!page->out || !page->is_wanted)
        return fail_memory(reading);
    for (size_t i = 0; i < reading->n_keys; i++)
        page->is_wanted[i] = key_matches(reading->keys[i], page->query);
    return each_record(reading, page->query->after, INT64_MAX, take_row, page);
}

struct store_events *rows_read(sqlite3 *db, const struct store_rows_query *query,
                               struct error *err)
{
    struct reading reading;
    struct page page = {.reading = &reading, .query = query};

    if (reading_init(&reading, db, query->run, err))
        return NULL;
    page.out = store_events_create();
    if (read_keys(&reading) || read_page(&page) < 0) {
        store_events_destroy(page.out);
        page.out = NULL;
    }
    free(page.is_wanted);
    reading_release(&reading);
    return page.out;
}
