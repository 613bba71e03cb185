/* SPDX-License-Identifier: Apache-2.0 */
/* trends_read.c - reads trend values and baselines from the database */
#include <string.h>

#include "common/base/json_util.h"
#include "server/store/store_rows.h"
#include "server/store/store_trends.h"

static const char SQL_DUE_RUN[] =
    "SELECT doc FROM values_due JOIN runs ON id = run WHERE run = :run";
static const char SQL_DUE_ANY[] =
    "SELECT doc FROM values_due CROSS JOIN runs"
    " WHERE id = run ORDER BY run DESC LIMIT 1 OFFSET :skip";
static const char SQL_HAS_VALUES[] =
    "SELECT '[]' FROM run_values WHERE run = :like LIMIT 1";
/* SQL: the texts to whose numbers the window refers. */
static const char SQL_TEXTS[] =
    "SELECT json_group_object(CAST(id AS TEXT), text) FROM texts WHERE id IN"
    " (SELECT json_extract(value, '$[4]') FROM json_each(:window))";

/* COLUMN: the likeness that defines a series. Values of a figure are stored in the
 * order in which trends read them. A filter that few values pass makes SQLite scan the
 * others. */
#define VALUES_WHERE(COLUMN)                                                             \
    " WHERE v.figure = (SELECT id FROM texts WHERE text = :figure)"                      \
    " AND (:nodes IS NULL OR v.nodes = (SELECT id FROM texts WHERE text = :nodes))"      \
    " AND (:backend IS NULL OR v.backend = :backend)"                                    \
    " AND (:world_size = 0 OR v.world_size = :world_size)"                               \
    " AND v.created_ms >= :since AND (:until = 0 OR v.created_ms < :until)"              \
    " AND (:like IS NULL OR v." COLUMN " IN"                                             \
    "  (SELECT " COLUMN " FROM run_values WHERE run = :like))"
#define VALUES_ORDER " ORDER BY v.created_ms DESC, v.run DESC, v.like_nodes DESC"

/* SQL: the newest values, each with its position in its series (1: newest). EXAMINED
 * limits the number of values that are sorted. */
#define VALUES_PLACED(COLUMN, WHERE, EXAMINED)                                           \
    "(SELECT *, row_number() OVER (PARTITION BY " COLUMN                                 \
    " ORDER BY created_ms DESC, run DESC, like_nodes DESC) AS place FROM"                \
    " (SELECT * FROM run_values AS v" WHERE VALUES_ORDER " LIMIT " EXAMINED ")) AS v"

#define PAGE_COLUMNS                                                                     \
    "SELECT v.created_ms || ':' || v.run || '.' || v.like_nodes AS next, v.run,"         \
    " runs.name, runs.state, v.value, v.low, v.high, v.least, v.most, v.cases,"          \
    " likes.text AS \"like:json\", versions.text AS \"versions:json\", " SQL_TIME(       \
        "v.created_ms") " AS created"
#define PAGE_WHERE                                                                       \
    " AND (v.created_ms, v.run, v.like_nodes) < (:before_ms, :before_id, :before_like)"
#define PAGE_EXAMINED "iif(:per_line = 0, :limit + 1, 20000)"
#define PAGE_JOINS(COLUMN)                                                               \
    " CROSS JOIN runs ON runs.id = v.run"                                                \
    " CROSS JOIN texts AS likes ON likes.id = v." COLUMN                                 \
    " CROSS JOIN texts AS versions ON versions.id = v.versions"                          \
    " WHERE (:per_line = 0 OR v.place <= :per_line)"
#define SQL_PAGE(COLUMN)                                                                 \
    PAGE_COLUMNS ", v." COLUMN " AS series FROM " VALUES_PLACED(                         \
        COLUMN, VALUES_WHERE(COLUMN) PAGE_WHERE, PAGE_EXAMINED) PAGE_JOINS(COLUMN)       \
        VALUES_ORDER " LIMIT :limit + 1"

#define WINDOW_PLACED(COLUMN)                                                            \
    VALUES_PLACED(COLUMN, VALUES_WHERE(COLUMN) " AND v.is_whole", "20000")
#define SQL_WINDOW(COLUMN)                                                               \
    "SELECT json_array(v." COLUMN ", v.value, v.run, v.created_ms, v.versions)"          \
    " AS \":json\" FROM " WINDOW_PLACED(COLUMN) " WHERE v.place <= 200" VALUES_ORDER     \
                                                " LIMIT 10000"

_Static_assert(STORE_TREND_WINDOW == 10000, "as SQL_WINDOW has it");

#define BASELINE_COLUMNS                                                                 \
    "SELECT b.accepted_ms || ':' || b.id AS next, b.id, b.run,"                          \
    " coalesce(runs.name, '') AS name, b.likeness AS like,"                              \
    " " SQL_TIME("b.accepted_ms") " AS accepted, b.accepted_by AS by, b.why,"            \
                                  " b.peer AS \"from\", CASE WHEN b.removed_ms NOT "     \
                                  "NULL THEN json_object("                               \
                                  "'time', " SQL_TIME(                                   \
                                      "b.removed_ms") ", 'by', b.removed_by, 'why', "    \
                                                      "b.removed_why,"                   \
                                                      " 'from', b.removed_peer) END AS " \
                                                      "\"removed:json\""                 \
                                                      " FROM baselines AS b LEFT JOIN "  \
                                                      "runs ON runs.id = b.run"

static const char SQL_BASELINES[] =
    BASELINE_COLUMNS " WHERE (:id IS NULL OR b.id = :id)"
                     " AND (:run IS NULL OR b.run = :run)"
                     " AND (:removed OR :id IS NOT NULL OR b.removed_ms IS NULL)"
                     " AND (b.accepted_ms, b.id) < (:before_ms, :before_id)"
                     " ORDER BY b.accepted_ms DESC, b.id DESC LIMIT :limit + 1";

/* SQL: the run's series, either stored or given by the query. */
#define ID_OF(MEMBER)                                                                    \
    "(SELECT id FROM texts WHERE text = json_extract(value, '$." MEMBER "'))"
#define MINE                                                                             \
    "(SELECT like_nodes, like_hardware FROM run_values WHERE run = :run UNION ALL"       \
    " SELECT " ID_OF("like_nodes") ", " ID_OF(                                           \
        "like_hardware") " FROM json_each(:values))"

#define SHARES(COLUMN)                                                                   \
    "EXISTS (SELECT 1 FROM " MINE " AS mine CROSS JOIN run_values AS its"                \
    " WHERE its.run = b.run AND its." COLUMN " = mine." COLUMN ")"

/* A window (last > 0) starts at an accepted run, which must be earlier. */
static const char SQL_ACCEPTED[] = BASELINE_COLUMNS
    " WHERE b.removed_ms IS NULL AND b.run <> :run AND (:last = 0 OR"
    " (runs.created_ms, runs.id) < (SELECT created_ms, id FROM runs WHERE id = :run))"
    " AND CASE b.likeness WHEN 'nodes' THEN " SHARES("like_nodes") " ELSE " SHARES(
        "like_hardware") " END"
                         " ORDER BY b.accepted_ms DESC, b.id DESC LIMIT 1";

/* SQL: the later of two runs. */
#define LATER                                                                            \
    "(SELECT created_ms, id FROM runs WHERE id IN (:run, :before)"                       \
    " ORDER BY created_ms DESC, id DESC LIMIT 1)"

/* SQL: true if the run is usual. A run whose gate failed is unusual, unless it was
 * accepted as a baseline. */
#define IS_USUAL                                                                         \
    "v.is_whole AND v.run NOT IN (:run, :before) AND (v.run IS :since OR"                \
    " NOT EXISTS (SELECT 1 FROM run_answers AS said WHERE said.run = v.run"              \
    "  AND said.kind = 'gate' AND said.answer = 'fail'))"

/* SQL: the latest runs of each of the run's series, and of these runs the latest. since:
 * the first run to include, or null. */
#define SQL_LAST(COLUMN)                                                                 \
    "SELECT run AS \":text\" FROM"                                                       \
    " (SELECT DISTINCT json_extract(pair.value, '$[0]') AS created_ms,"                  \
    " json_extract(pair.value, '$[1]') AS run"                                           \
    " FROM (SELECT DISTINCT " COLUMN " AS series FROM " MINE ") AS mine,"                \
    " json_each((SELECT json_group_array(json_array(created_ms, run)) FROM"              \
    "  (SELECT created_ms, run FROM run_values AS v WHERE v." COLUMN " = mine.series"    \
    "   AND (v.created_ms, v.run) < " LATER                                              \
    "   AND (:since IS NULL OR (v.created_ms, v.run) >="                                 \
    "    (SELECT created_ms, id FROM runs WHERE id = :since))"                           \
    "   AND " IS_USUAL                                                                   \
    "   ORDER BY v.created_ms DESC, v.run DESC LIMIT :last))) AS pair)"                  \
    " ORDER BY created_ms DESC, run DESC LIMIT :last"

/* SQL: the given series, each with its latest runs, oldest first, followed by its own
 * value. */
#define SQL_SERIES(COLUMN)                                                               \
    "SELECT mine.figure, (SELECT json_insert(json_group_array(json_array(run, value)),"  \
    "  '$[#]', json_array(:run, mine.value)) FROM"                                       \
    "  (SELECT run, value FROM"                                                          \
    "   (SELECT run, value, created_ms FROM run_values AS v"                             \
    "    WHERE v." COLUMN " = mine.series AND v.figure ="                                \
    "     (SELECT id FROM texts WHERE text = mine.figure) AND v.value > 0"               \
    "    AND v.is_whole AND (v.created_ms, v.run) <"                                     \
    "     (SELECT created_ms, id FROM runs WHERE id = :run)"                             \
    "    ORDER BY v.created_ms DESC, v.run DESC LIMIT 399)"                              \
    "   ORDER BY created_ms, run)) AS \"runs:json\""                                     \
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

/* ---- Due ---- */

json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err)
{
    json_t *params = json_pack("{s:s?, s:I}", "run", run, "skip", (json_int_t)skip);
    json_t *due = store_value(db, run ? SQL_DUE_RUN : SQL_DUE_ANY, params, err);

    json_decref(params);
    return due;
}

/* ---- Trends ---- */

/* Add the window and its texts to the page; -1 with err. */
static int add_window(sqlite3 *db, const json_t *params, const char *likeness,
                      json_t *page, struct error *err)
{
    json_t *window = store_rows(db, sql_by(&sql_window, likeness), params, err);

    json_object_set_new(page, "window", window);
    if (window)
        json_object_set_new(page, "texts", store_value(db, SQL_TEXTS, page, err));
    return json_object_get(page, "texts") ? 0 : -1;
}

/* Fail if the parameter `like` names a run without values. */
static int check_like(sqlite3 *db, const json_t *params, struct error *err)
{
    json_t *known = store_value(db, SQL_HAS_VALUES, params, err);
    int result = known ? 0 : -1;

    if (json_is_null(known))
        result =
            error_set(err, ERROR_NOT_FOUND, "there is no such run, or it has no values");
    json_decref(known);
    return result;
}

json_t *store_get_trends(sqlite3 *db, const struct store_trends_query *query,
                         struct error *err)
{
    const char *likeness = run_likeness_names[query->likeness];
    json_t *params = json_pack(
        "{s:s, s:s?, s:s?, s:s?, s:i, s:I, s:I, s:i, s:i}", "figure", query->figure,
        "nodes", query->nodes, "backend", query->backend, "like", query->like,
        "world_size", query->world_size, "since", (json_int_t)query->since_ms, "until",
        (json_int_t)query->until_ms, "per_line", query->per_line, "limit", query->limit);
    json_t *page = NULL;

    if (!query->like || check_like(db, params, err) == 0)
        page = store_page(db, "points", sql_by(&sql_page, likeness), json_incref(params),
                          query->cursor, err);
    if (page && add_window(db, params, likeness, page, err)) {
        json_decref(page);
        page = NULL;
    }
    json_decref(params);
    return page;
}

/* ---- Baselines ---- */

json_t *store_get_baselines(sqlite3 *db, json_t *params, struct error *err)
{
    const char *cursor = json_get_str(params, "cursor", NULL);

    return store_page(db, "baselines", SQL_BASELINES, params, cursor, err);
}

/* ---- The base of a comparison ---- */

struct base {
    sqlite3 *db;
    const struct store_base_query *query;
    json_t *params; /* run, last and values of the query */
    /* the run to compare with, or the first run of the window; NULL: not found yet */
    const char *run;
    const char *likeness;
    json_t *answer;
    struct error *err;
};

/* Read completed runs that are similar to `run` and earlier than `before`. since: the
 * first run that counts, or NULL. */
static int read_last(struct base *base, const char *run, const char *before,
                     const char *since, int last, const char *list)
{
    bool is_own = strcmp(run, base->query->run) == 0;
    json_t *params = json_pack("{s:s, s:s, s:s?, s:i, s:O?}", "run", run, "before",
                               before, "since", since, "last", last, "values",
                               is_own ? json_object_get(base->params, "values") : NULL);
    json_t *runs =
        store_rows(base->db, sql_by(&sql_last, base->likeness), params, base->err);

    json_array_extend(json_object_get(base->answer, list), runs);
    json_decref(params);
    json_decref(runs);
    return runs ? 0 : -1;
}

/* Read the window of latest runs. If an accepted baseline shortens the window, earlier
 * runs supply the scatter. They form a group with its own mean, which costs a degree of
 * freedom, so one more run is read. */
static int read_window(struct base *base)
{
    int last = base->query->last, n;

    base->likeness = run_likeness_names[base->query->likeness];
    if (read_last(base, base->query->run, base->query->run, base->run, last, "runs"))
        return -1;
    n = (int)json_array_size(json_object_get(base->answer, "runs"));
    return base->run && n < last
               ? read_last(base, base->run, base->run, NULL, last - n + 1, "history")
               : 0;
}

static int read_accepted(struct base *base)
{
    json_t *accepted = store_rows(base->db, SQL_ACCEPTED, base->params, base->err);
    json_t *baseline = json_array_get(accepted, 0);

    if (!accepted)
        return -1;
    if (baseline)
        json_object_set(base->answer, "baseline", baseline);
    base->run = json_get_str(baseline, "run", NULL);
    base->likeness = json_get_str(baseline, "like", base->likeness);
    json_decref(accepted);
    return 0;
}

static int read_series(struct base *base)
{
    json_t *series = store_rows(base->db, sql_by(&sql_series, base->likeness),
                                base->params, base->err);

    json_object_set_new(base->answer, "series", series);
    return series ? 0 : -1;
}

static int read_base(struct base *base)
{
    int last = base->query->last;

    if (!base->run && read_accepted(base))
        return -1;
    if (base->run && (base->query->base || last == 0))
        json_array_append_new(json_object_get(base->answer, "runs"),
                              json_string(base->run));
    if (json_is_array(json_object_get(base->params, "values")) && read_series(base))
        return -1;
    if (last > 0)
        return read_window(base);
    return base->run ? read_last(base, base->run, base->query->run, NULL, STORE_HISTORY,
                                 "history")
                     : 0;
}

json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err)
{
    json_t *values = json_object_get(query->values, "values");
    struct base base = {
        .db = db,
        .query = query,
        .params = json_pack("{s:s, s:i, s:O?}", "run", query->run, "last", query->last,
                            "values", values),
        .run = query->base,
        .likeness = run_likeness_names[query->likeness],
        .answer = json_pack("{s:n, s:[], s:[]}", "baseline", "runs", "history"),
        .err = err,
    };

    if (read_base(&base)) {
        json_decref(base.answer);
        base.answer = NULL;
    }
    json_decref(base.params);
    return base.answer;
}
