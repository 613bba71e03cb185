/* trends_read.c - values of runs and baselines, out of the database */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/store/store_read.h"
#include "server/store/store_sql.h"
#include "server/store/store_trends.h"

static const char SQL_DUE_RUN[] =
    "SELECT doc FROM values_due JOIN runs ON id = run WHERE run = :run";
static const char SQL_DUE_ANY[] =
    "SELECT doc FROM values_due CROSS JOIN runs"
    " WHERE id = run ORDER BY run DESC LIMIT 1 OFFSET :skip";
static const char SQL_HAS_VALUES[] = "SELECT 1 FROM run_values WHERE run = :like LIMIT 1";
/* The texts that the window has numbers of. */
static const char SQL_TEXTS[] =
    "SELECT json_group_object(CAST(id AS TEXT), text) FROM texts WHERE id IN"
    " (SELECT json_extract(value, '$[4]') FROM json_each(:window))";

/* COLUMN: by which values are of one series. Values of a figure lie in the order in which
 * they are asked for; a filter that few of them pass costs a walk through the others. */
#define VALUES_WHERE(COLUMN)                                                             \
    " WHERE v.figure = (SELECT id FROM texts WHERE text = :figure)"                      \
    " AND (:nodes IS NULL OR v.nodes = (SELECT id FROM texts WHERE text = :nodes))"      \
    " AND (:backend IS NULL OR v.backend = :backend)"                                    \
    " AND (:world_size = 0 OR v.world_size = :world_size)"                               \
    " AND (:like IS NULL OR v." COLUMN " IN"                                             \
    "  (SELECT " COLUMN " FROM run_values WHERE run = :like))"
#define VALUES_ORDER " ORDER BY v.created_ms DESC, v.run DESC, v.like_nodes DESC"

#define SQL_PAGE(COLUMN)                                                                 \
    "SELECT v.run, runs.name, runs.state, v.created_ms, v.value, v.low, v.high, "        \
    "v.least,"                                                                           \
    " v.most, v.cases, v." COLUMN ", likes.text, versions.text, v.like_nodes"            \
    " FROM run_values AS v CROSS JOIN runs ON runs.id = v.run"                           \
    " CROSS JOIN texts AS likes ON likes.id = v." COLUMN                                 \
    " CROSS JOIN texts AS versions ON versions.id = v.versions" VALUES_WHERE(            \
        COLUMN) " AND (v.created_ms, v.run, v.like_nodes) < (:before_ms, :before_id, "   \
                ":before_like)" VALUES_ORDER " LIMIT :limit + 1"
#define SQL_WINDOW(COLUMN)                                                               \
    "SELECT v." COLUMN ", v.value, v.run, v.created_ms, v.versions"                      \
    " FROM run_values AS v" VALUES_WHERE(COLUMN) " AND v.is_whole" VALUES_ORDER          \
                                                 " LIMIT 1000"

_Static_assert(STORE_TREND_WINDOW == 1000, "as SQL_WINDOW has it");

#define BASELINE_COLUMNS                                                                 \
    "SELECT b.id, b.run, runs.name, b.likeness, b.accepted_ms, b.accepted_by, b.why,"    \
    " b.peer, b.removed_ms, b.removed_by, b.removed_why, b.removed_peer"                 \
    " FROM baselines AS b LEFT JOIN runs ON runs.id = b.run"

static const char SQL_BASELINES[] =
    BASELINE_COLUMNS " WHERE (:id IS NULL OR b.id = :id)"
                     " AND (:run IS NULL OR b.run = :run)"
                     " AND (:has_removed OR :id IS NOT NULL OR b.removed_ms IS NULL)"
                     " AND (b.accepted_ms, b.id) < (:before_ms, :before_id)"
                     " ORDER BY b.accepted_ms DESC, b.id DESC LIMIT :limit + 1";

/* The run's series: as they are stored, or as they are given. */
#define ID_OF(MEMBER)                                                                    \
    "(SELECT id FROM texts WHERE text = json_extract(value, '$." MEMBER "'))"
#define MINE                                                                             \
    "(SELECT like_nodes, like_hardware FROM run_values WHERE run = :run UNION ALL"       \
    " SELECT " ID_OF("like_nodes") ", " ID_OF(                                           \
        "like_hardware") " FROM json_each(:values))"

#define SHARES(COLUMN)                                                                   \
    "EXISTS (SELECT 1 FROM " MINE " AS mine CROSS JOIN run_values AS its"                \
    " WHERE its.run = b.run AND its." COLUMN " = mine." COLUMN ")"

/* A window (last > 0) begins with what was accepted, which is thus earlier. */
static const char SQL_ACCEPTED[] = BASELINE_COLUMNS
    " WHERE b.removed_ms IS NULL AND b.run <> :run AND (:last = 0 OR"
    " (runs.created_ms, runs.id) < (SELECT created_ms, id FROM runs WHERE id = :run))"
    " AND CASE b.likeness WHEN 'nodes' THEN " SHARES("like_nodes") " ELSE " SHARES(
        "like_hardware") " END"
                         " ORDER BY b.accepted_ms DESC, b.id DESC LIMIT 1";

/* The run that comes later of two. */
#define LATER                                                                            \
    "(SELECT created_ms, id FROM runs WHERE id IN (:run, :before)"                       \
    " ORDER BY created_ms DESC, id DESC LIMIT 1)"

/* A gate that failed says that the run was not as usual, unless somebody accepted it. */
#define IS_USUAL                                                                         \
    "v.is_whole AND v.run NOT IN (:run, :before) AND (v.run IS :since OR"                \
    " NOT EXISTS (SELECT 1 FROM run_answers AS said WHERE said.run = v.run"              \
    "  AND said.kind = 'gate' AND said.answer = 'fail'))"

/* The last of each of the run's series, and of these the last. since: the first that
 * counts, or null. */
#define SQL_LAST(COLUMN)                                                                 \
    "SELECT DISTINCT json_extract(pair.value, '$[0]') AS created_ms,"                    \
    " json_extract(pair.value, '$[1]') AS run"                                           \
    " FROM (SELECT DISTINCT " COLUMN " AS series FROM " MINE ") AS mine,"                \
    " json_each((SELECT json_group_array(json_array(created_ms, run)) FROM"              \
    "  (SELECT created_ms, run FROM run_values AS v WHERE v." COLUMN " = mine.series"    \
    "   AND (v.created_ms, v.run) < " LATER                                              \
    "   AND (:since IS NULL OR (v.created_ms, v.run) >="                                 \
    "    (SELECT created_ms, id FROM runs WHERE id = :since))"                           \
    "   AND " IS_USUAL                                                                   \
    "   ORDER BY v.created_ms DESC, v.run DESC LIMIT :last))) AS pair"                   \
    " ORDER BY 1 DESC, 2 DESC LIMIT :last"

/* The given series, each with its latest runs, oldest first, and its own value. */
#define SQL_SERIES(COLUMN)                                                               \
    "SELECT mine.figure, (SELECT json_group_array(json_array(run, value)) FROM"          \
    "  (SELECT run, value FROM"                                                          \
    "   (SELECT run, value, created_ms FROM run_values AS v"                             \
    "    WHERE v." COLUMN " = mine.series AND v.figure ="                                \
    "     (SELECT id FROM texts WHERE text = mine.figure) AND v.value > 0"               \
    "    AND v.is_whole AND (v.created_ms, v.run) <"                                     \
    "     (SELECT created_ms, id FROM runs WHERE id = :run)"                             \
    "    ORDER BY v.created_ms DESC, v.run DESC LIMIT 399)"                              \
    "   ORDER BY created_ms, run)), mine.value"                                          \
    " FROM (SELECT json_extract(value, '$.figure') AS figure,"                           \
    "  json_extract(value, '$.value') AS value, " ID_OF(                                 \
        COLUMN) " AS series"                                                             \
                "  FROM json_each(:values)) AS mine"

_Static_assert(STORE_SERIES_RUNS == 399 + 1, "as SQL_SERIES has it");

struct by_likeness {
    const char *nodes, *hardware;
};

static const struct by_likeness sql_page = {SQL_PAGE("like_nodes"),
                                            SQL_PAGE("like_hardware")};
static const struct by_likeness sql_window = {SQL_WINDOW("like_nodes"),
                                              SQL_WINDOW("like_hardware")};
static const struct by_likeness sql_last = {SQL_LAST("like_nodes"),
                                            SQL_LAST("like_hardware")};
static const struct by_likeness sql_series = {SQL_SERIES("like_nodes"),
                                              SQL_SERIES("like_hardware")};

static const char *sql_by(const struct by_likeness *sql, const char *likeness)
{
    return strcmp(likeness, "nodes") == 0 ? sql->nodes : sql->hardware;
}

static const char *sql_of(const struct by_likeness *sql, const struct store_read *read)
{
    return sql_by(sql, json_get_str(read->params, "likeness", ""));
}

static json_t *column_number(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL
               ? json_null()
               : json_real(sqlite3_column_double(stmt, column));
}

static json_t *column_time(sqlite3_stmt *stmt, int column)
{
    char text[CLOCK_TEXT_MAX];

    return json_string(clock_format_ms(sqlite3_column_int64(stmt, column), text));
}

/* ---- Due ---- */

static void take_due(struct store_read *read, sqlite3_stmt *stmt)
{
    json_decref(read->result);
    read->result = store_sql_json(stmt, 0, &read->err);
    if (!read->result)
        read->is_failed = true;
}

static void answer_due(sqlite3 *db, struct store_read *read)
{
    bool is_any = json_is_null(json_object_get(read->params, "run"));

    read->result = json_null();
    read_each_row(db, read, is_any ? SQL_DUE_ANY : SQL_DUE_RUN, read->params, take_due);
}

json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err)
{
    return store_answer(db, answer_due,
                        json_pack("{s:s?, s:I}", "run", run, "skip", (json_int_t)skip),
                        err);
}

/* ---- Trends ---- */

static void take_point(struct store_read *read, sqlite3_stmt *stmt)
{
    if (store_read_ends_page(read))
        return;
    read_append(
        read, "points",
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:I, s:o, s:o}",
                  "run", store_sql_text(stmt, 0), "name", store_sql_text(stmt, 1),
                  "state", store_sql_text(stmt, 2), "created", column_time(stmt, 3),
                  "value", column_number(stmt, 4), "low", column_number(stmt, 5), "high",
                  column_number(stmt, 6), "least", column_number(stmt, 7), "most",
                  column_number(stmt, 8), "cases", sqlite3_column_int(stmt, 9), "series",
                  (json_int_t)sqlite3_column_int64(stmt, 10), "like",
                  store_sql_json(stmt, 11, NULL), "versions",
                  store_sql_json(stmt, 12, NULL)));
    read->page_ms = sqlite3_column_int64(stmt, 3);
    snprintf(read->page_id, sizeof(read->page_id), "%s.%" PRId64, store_sql_text(stmt, 0),
             (int64_t)sqlite3_column_int64(stmt, 13));
}

static void take_window(struct store_read *read, sqlite3_stmt *stmt)
{
    read_append(read, "window",
                json_pack("[I, f, s, I, I]", (json_int_t)sqlite3_column_int64(stmt, 0),
                          sqlite3_column_double(stmt, 1), store_sql_text(stmt, 2),
                          (json_int_t)sqlite3_column_int64(stmt, 3),
                          (json_int_t)sqlite3_column_int64(stmt, 4)));
}

static void take_texts(struct store_read *read, sqlite3_stmt *stmt)
{
    json_object_set_new(read->result, "texts", store_sql_json(stmt, 0, NULL));
}

static void take_has_values(struct store_read *read, sqlite3_stmt *stmt)
{
    (void)stmt;
    read->count = 1;
}

/* Whether the run that the others are to be like has values. */
static bool knows_like(sqlite3 *db, struct store_read *read)
{
    if (json_is_null(json_object_get(read->params, "like")))
        return true;
    read_each_row(db, read, SQL_HAS_VALUES, read->params, take_has_values);
    if (read->count == 0)
        store_read_fail(read, ERROR_NOT_FOUND,
                        "there is no such run, or it has measured nothing");
    read->count = 0;
    return !read->is_failed;
}

static void answer_trends(sqlite3 *db, struct store_read *read)
{
    read->result =
        json_pack("{s:[], s:n, s:[], s:n}", "points", "next", "window", "texts");
    if (!knows_like(db, read))
        return;
    read_each_row(db, read, sql_of(&sql_page, read), read->params, take_point);
    read_each_row(db, read, sql_of(&sql_window, read), read->params, take_window);
    read_each_row(db, read, SQL_TEXTS, read->result, take_texts);
}

json_t *store_get_trends(sqlite3 *db, const struct store_trends_query *query,
                         struct error *err)
{
    json_t *params =
        json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:i, s:i, s:i}", "figure", query->figure,
                  "nodes", query->nodes, "backend", query->backend, "like", query->like,
                  "likeness", run_likeness_names[query->likeness], "world_size",
                  query->world_size, "limit", query->limit, "before_like", 0);

    return store_answer_page(db, answer_trends, params, query->cursor, err);
}

/* ---- Baselines ---- */

static json_t *baseline_json(sqlite3_stmt *stmt)
{
    json_t *removed = json_null();

    if (sqlite3_column_type(stmt, 8) != SQLITE_NULL)
        removed = json_pack("{s:o, s:s, s:s, s:s}", "time", column_time(stmt, 8), "by",
                            store_sql_text(stmt, 9), "why", store_sql_text(stmt, 10),
                            "from", store_sql_text(stmt, 11));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:o}", "id",
                     store_sql_text(stmt, 0), "run", store_sql_text(stmt, 1), "name",
                     store_sql_text(stmt, 2), "like", store_sql_text(stmt, 3), "accepted",
                     column_time(stmt, 4), "by", store_sql_text(stmt, 5), "why",
                     store_sql_text(stmt, 6), "from", store_sql_text(stmt, 7), "removed",
                     removed);
}

static void take_baseline(struct store_read *read, sqlite3_stmt *stmt)
{
    if (store_read_ends_page(read))
        return;
    read_append(read, "baselines", baseline_json(stmt));
    read->page_ms = sqlite3_column_int64(stmt, 4);
    snprintf(read->page_id, sizeof(read->page_id), "%s", store_sql_text(stmt, 0));
}

static void answer_baselines(sqlite3 *db, struct store_read *read)
{
    read->result = json_pack("{s:[], s:n}", "baselines", "next");
    read_each_row(db, read, SQL_BASELINES, read->params, take_baseline);
}

json_t *store_get_baselines(sqlite3 *db, const struct store_baselines_query *query,
                            struct error *err)
{
    json_t *params =
        json_pack("{s:s?, s:s?, s:b, s:i}", "id", query->id, "run", query->run,
                  "has_removed", (int)query->has_removed, "limit", query->limit);

    return store_answer_page(db, answer_baselines, params, query->cursor, err);
}

/* ---- What a run is compared with ---- */

static void take_accepted(struct store_read *read, sqlite3_stmt *stmt)
{
    json_object_set_new(read->result, "baseline", baseline_json(stmt));
    if (json_get_int(read->params, "last", 0) == 0)
        read_append(read, "runs", json_string(store_sql_text(stmt, 1)));
}

static void take_last(struct store_read *read, sqlite3_stmt *stmt)
{
    read_append(read, "runs", json_string(store_sql_text(stmt, 1)));
}

static void take_history(struct store_read *read, sqlite3_stmt *stmt)
{
    read_append(read, "history", json_string(store_sql_text(stmt, 1)));
}

static void take_series(struct store_read *read, sqlite3_stmt *stmt)
{
    json_t *runs = store_sql_json(stmt, 1, NULL);

    json_array_append_new(runs, json_pack("[O, f]", json_object_get(read->params, "run"),
                                          sqlite3_column_double(stmt, 2)));
    read_append(read, "series",
                json_pack("{s:s, s:o}", "figure", store_sql_text(stmt, 0), "runs", runs));
}

/* Completed runs like `run`, from `since` (or NULL) on and from before `before`. */
static void read_last(sqlite3 *db, struct store_read *read, const char *likeness,
                      const char *run, const char *before, const char *since,
                      json_int_t last,
                      void take(struct store_read *read, sqlite3_stmt *stmt))
{
    json_t *values = strcmp(run, json_get_str(read->params, "run", "")) == 0
                         ? json_object_get(read->params, "values")
                         : NULL;
    json_t *params = json_pack("{s:s, s:s, s:s?, s:I, s:O?}", "run", run, "before",
                               before, "since", since, "last", last, "values", values);

    read_each_row(db, read, sql_by(&sql_last, likeness), params, take);
    json_decref(params);
}

/* What of the window lies before `since` says how runs scatter. */
static void answer_window(sqlite3 *db, struct store_read *read, const char *run,
                          const char *since)
{
    const char *likeness = json_get_str(read->params, "likeness", "");
    json_int_t last = json_get_int(read->params, "last", 0), n;

    read_last(db, read, likeness, run, run, since, last, take_last);
    n = (json_int_t)json_array_size(json_object_get(read->result, "runs"));
    if (since && n < last)
        read_last(db, read, likeness, since, since, NULL, last - n, take_history);
}

static void answer_base(sqlite3 *db, struct store_read *read)
{
    const char *run = json_get_str(read->params, "run", "");
    const char *base = json_get_str(read->params, "base", NULL);
    const char *likeness = json_get_str(read->params, "likeness", "");
    json_t *baseline;

    read->result = json_pack("{s:n, s:[], s:[]}", "baseline", "runs", "history");
    if (base) {
        read_append(read, "runs", json_string(base));
    } else {
        read_each_row(db, read, SQL_ACCEPTED, read->params, take_accepted);
        baseline = json_object_get(read->result, "baseline");
        base = json_get_str(baseline, "run", NULL);
        likeness = json_get_str(baseline, "like", likeness);
    }
    if (json_is_array(json_object_get(read->params, "values"))) {
        json_object_set_new(read->result, "series", json_array());
        read_each_row(db, read, sql_by(&sql_series, likeness), read->params, take_series);
    }
    if (read->is_failed)
        return;
    if (json_get_int(read->params, "last", 0) > 0)
        answer_window(db, read, run, base);
    else if (base)
        read_last(db, read, likeness, base, run, NULL, STORE_HISTORY, take_history);
}

static json_t *base_params(const struct store_base_query *query)
{
    return json_pack("{s:s, s:s?, s:O?, s:i, s:s}", "run", query->run, "base",
                     query->base, "values", json_object_get(query->values, "values"),
                     "last", query->last, "likeness",
                     run_likeness_names[query->likeness]);
}

json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err)
{
    return store_answer(db, answer_base, base_params(query), err);
}
