/* store_results.c - results, out of the database */
#include "server/store/store_results.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/result_row.h"
#include "server/store/store_read.h"
#include "server/store/store_sql.h"
#include "server/summary/summary_build.h"
#include "server/summary/summary_json.h"

#define TEXT_MAX ((size_t)256 << 20)
#define PAGE_BYTES_MAX ((size_t)8 << 20) /* a page ends with the row that reaches it */
#define KEPT_MAX 2000000 /* results that are kept between two summaries of a run */
#define REASONS_MAX 500  /* of skipped rows: each takes a look at its event */

static const char SQL_TEXTS[] =
    "SELECT number, text FROM result_texts WHERE run = :run AND number >= :texts"
    " ORDER BY number";
/* The function gets each result, by the order of the key. It gets the values as they are:
 * for a million rows, asking for each column of each row takes longer than the rest. */
static const char SQL_RESULTS[] =
    "SELECT " RESULT_CALL("take_result") " FROM results"
                                         " WHERE run = :run AND event > :after AND event "
                                         "<= :head ORDER BY event";
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
    json_t *params; /* of the statements: run, the first text, events behind and up to */
    json_t **texts; /* by number */
    size_t n_texts, capacity;
    int (*take)(struct reading *reading, const struct result_record *record);
    int taken; /* what it returned last: other than 0 ends the reading */
    union {
        struct summary_builder *builder;
        struct {
            record_passer *take;
            void *arg;
        } each;
    } to;
    struct error *err;
};

/* Texts are numbered without gaps. */
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

/* Everything is read as of one moment. */
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
    reading->taken = reading->take(reading, &record);
}

static int on_row(void *arg, sqlite3_stmt *stmt)
{
    const struct reading *reading = arg;

    (void)stmt;
    return reading->taken;
}

/* Have `take` called for each result. */
static int read_results(struct reading *reading)
{
    if (sqlite3_create_function(reading->db, "take_result", -1, SQLITE_UTF8, reading,
                                on_result, NULL, NULL) != SQLITE_OK)
        return store_sql_error(reading->err, reading->db, "cannot read");
    return store_sql_each(reading->db, SQL_RESULTS, reading->params, on_row, reading,
                          reading->err);
}

static int pass_on(struct reading *reading, const struct result_record *record)
{
    if (record->key >= 0 && (size_t)record->key < reading->n_texts)
        reading->to.each.take(reading->to.each.arg, record, reading->texts[record->key]);
    return 0;
}

int records_each(sqlite3 *db, const char *run, record_passer *take, void *arg,
                 struct error *err)
{
    struct reading reading = {
        .db = db, .take = pass_on, .to.each = {take, arg}, .err = err};
    int result;

    reading.params = json_pack("{s:s, s:i, s:i, s:I}", "run", run, "texts", 0, "after", 0,
                               "head", (json_int_t)INT64_MAX);
    result = reading_begin(&reading);
    if (!result)
        result = read_texts(&reading);
    if (!result)
        result = read_results(&reading);
    reading_end(&reading);
    return result;
}

/* ---- Summaries ---- */

static int sum_up(struct reading *reading, const struct result_record *record)
{
    if (!summary_builder_add(reading->to.builder, record))
        return 0;
    return error_set(reading->err, ERROR_UNAVAILABLE,
                     "the run has more results than can be summed up");
}

/* What was read of a run's results, to go on from. */
struct summary_reader {
    json_t **texts;
    size_t n_texts, capacity;
    struct summary_builder *builder; /* NULL: nothing was read yet */
    struct summary_case *cases;      /* as they were then */
    size_t n_cases;
    int64_t last_event;
};

struct summary_reader *summary_reader_create(void)
{
    return memory_zeroed(1, sizeof(struct summary_reader), "a summary");
}

static void forget(struct summary_reader *reader)
{
    summary_builder_destroy(reader->builder);
    for (size_t i = 0; i < reader->n_texts; i++)
        json_decref(reader->texts[i]);
    free(reader->texts);
    free(reader->cases);
    *reader = (struct summary_reader){.texts = NULL};
}

void summary_reader_destroy(struct summary_reader *reader)
{
    if (reader)
        forget(reader);
    free(reader);
}

/* Whether the query's cases are those that were read, and perhaps new ones. The rows of a
 * case that began anew are no longer there. */
static bool goes_on(const struct summary_reader *reader,
                    const struct summary_query *query)
{
    for (size_t i = 0; i < reader->n_cases && i < query->n_cases; i++) {
        const struct summary_case *old = &reader->cases[i], *new = &query->cases[i];

        if (old->combination != new->combination ||
            (old->attempt > 0 && old->attempt != new->attempt))
            return false;
    }
    return reader->n_cases <= query->n_cases;
}

static void keep_cases(struct summary_reader *reader, const struct summary_query *query)
{
    size_t size = query->n_cases * sizeof(*query->cases);

    free(reader->cases);
    reader->cases = memory_zeroed(query->n_cases + 1, sizeof(*query->cases), "a summary");
    if (size > 0)
        memcpy(reader->cases, query->cases, size);
    reader->n_cases = query->n_cases;
}

/* The builder takes in what is new. */
static int take_in(struct summary_reader *reader, struct reading *reading,
                   const struct summary_query *query)
{
    if (!reader->builder)
        reader->builder = summary_builder_create(query, reading->texts, reading->n_texts);
    keep_cases(reader, query);
    summary_builder_renew(reader->builder, query, reading->texts, reading->n_texts);
    reading->take = sum_up;
    reading->to.builder = reader->builder;
    return read_results(reading);
}

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
        return error_set(listing->err, ERROR_LIMIT, "the run has too much text");
    return 0;
}

/* The latest events of a statement, as the text of an array; NULL with err on failure. */
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

/* Texts are for an answer: who only computes needs none. */
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
               : error_set(reading->err, ERROR_LIMIT, "the run has too much text");
}

static int take_head(void *arg, sqlite3_stmt *stmt)
{
    *(int64_t *)arg = sqlite3_column_int64(stmt, 0);
    return 0;
}

/* Read on, as of one moment, and sum up. */
static struct summary *read_on(struct summary_reader *reader, struct reading *reading,
                               const struct summary_query *query)
{
    struct summary *summary = NULL;
    int64_t head = 0;

    if (read_texts(reading) || store_sql_each(reading->db, SQL_HEAD, reading->params,
                                              take_head, &head, reading->err))
        return NULL;
    json_object_set_new(reading->params, "head", json_integer(head));
    if (take_in(reader, reading, query))
        return NULL;
    summary = summary_builder_finish(reader->builder);
    summary->last_event = head;
    if (!query->is_bare && add_texts(reading, summary)) {
        summary_destroy(summary);
        return NULL;
    }
    return summary;
}

struct summary *summary_reader_read(struct summary_reader *reader, sqlite3 *db,
                                    const struct summary_query *query, struct error *err)
{
    struct reading reading = {.db = db, .err = err};
    struct summary *summary = NULL;

    if (!goes_on(reader, query))
        forget(reader);
    reading.texts = reader->texts;
    reading.n_texts = reader->n_texts;
    reading.capacity = reader->capacity;
    reading.params = json_pack(
        "{s:s, s:I, s:I, s:I}", "run", query->run, "texts", (json_int_t)reader->n_texts,
        "after", (json_int_t)reader->last_event, "head", (json_int_t)query->up_to);
    if (!reading_begin(&reading))
        summary = read_on(reader, &reading, query);
    reader->texts = reading.texts;
    reader->n_texts = reading.n_texts;
    reader->capacity = reading.capacity;
    reading.texts = NULL;
    reading.n_texts = 0;
    reading_end(&reading);
    /* After a failure some records may be in it, and after many they would fill memory.
     */
    if (!summary || summary->results > KEPT_MAX)
        forget(reader);
    else
        reader->last_event = summary->last_event;
    return summary;
}

struct summary *summary_read(sqlite3 *db, const struct summary_query *query,
                             struct error *err)
{
    struct summary_reader reader = {.texts = NULL};
    struct summary *summary = summary_reader_read(&reader, db, query, err);

    forget(&reader);
    return summary;
}

/* ---- Pages ---- */

struct page {
    struct store_events *events;
    size_t limit;
    struct error *err;
};

static int take_row(void *arg, sqlite3_stmt *stmt)
{
    const struct page *page = arg;
    struct store_events *out = page->events;
    struct store_event event;

    if (out->n == page->limit || out->bytes >= PAGE_BYTES_MAX) {
        out->next = out->list[out->n - 1].id;
        return 1;
    }
    if (event_row_read(stmt, &event, page->err))
        return -1;
    store_events_add(out, &event);
    return 0;
}

struct store_events *rows_read(sqlite3 *db, const json_t *params, struct error *err)
{
    struct page page = {.events = store_events_create(),
                        .limit = (size_t)json_get_int(params, "limit", 0),
                        .err = err};

    if (store_sql_each(db, SQL_PAGE, params, take_row, &page, err) >= 0)
        return page.events;
    store_events_destroy(page.events);
    return NULL;
}
