/* SPDX-License-Identifier: Apache-2.0 */
/* runs_read.c - reads the list of runs from the database */
#include "server/store/runs_read.h"

#include <stdbool.h>

#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "server/store/store_rows.h"
#include "server/store/store_work.h"

#define SQL_MAX ((size_t)4096)

_Static_assert(STORE_RUNS_TOTAL_MAX == 10000, "as the statement has it");

/* The columns to sort by, indexed by enum store_runs_sort. */
static const char *const columns[] = {
    [STORE_RUNS_CREATED] = "created_ms",
    [STORE_RUNS_DURATION] = "duration_ms",
    [STORE_RUNS_FIGURE] = "figure_micro",
};
static const char *const indexes[] = {
    [STORE_RUNS_CREATED] = "runs_by_created",
    [STORE_RUNS_DURATION] = "runs_by_duration",
    [STORE_RUNS_FIGURE] = "runs_by_figure",
};

/* SQL: true if the verdict matches the filter, which is ANSWER or KIND:ANSWER. */
#define SQL_SAID                                                                         \
    "said.answer = substr(want.value, instr(want.value, ':') + 1)"                       \
    " AND want.value IN (said.answer, said.kind || ':' || said.answer)"

#define HAS_TEXT(COLUMN) "instr(lower(" COLUMN "), lower(:q)) > 0"

static const struct {
    const char *param, *condition;
} filters[] = {
    {"state", "state IN (SELECT value FROM json_each(:state))"},
    {"q", "(" HAS_TEXT("id") " OR " HAS_TEXT("name") " OR " HAS_TEXT("notes") ")"},
    {"label", "NOT EXISTS (SELECT 1 FROM json_each(:label) AS want WHERE NOT EXISTS"
              " (SELECT 1 FROM json_each(labels) AS have"
              " WHERE have.key || '=' || have.value = want.value))"},
    /* The unary + prevents SQLite from using any index except the one that provides the
     * order. */
    {"node", "+id IN (SELECT run FROM run_nodes WHERE node = :node)"},
    {"suspect", "+id IN (SELECT said.run FROM json_each(:judging) AS want"
                " CROSS JOIN run_answers AS said"
                " WHERE said.node = :suspect AND " SQL_SAID ")"},
    {"judged", "+id IN (SELECT said.run FROM json_each(:judging) AS want"
               " CROSS JOIN run_answers AS said WHERE " SQL_SAID ")"},
    {"verdict", "+id IN (SELECT said.run FROM json_each(:verdict) AS want"
                " CROSS JOIN run_answers AS said WHERE " SQL_SAID ")"},
    {"since", "created_ms >= :since"},
    {"until", "created_ms < :until"},
};

static bool is_given(const json_t *params, const char *name)
{
    const json_t *value = json_object_get(params, name);

    return value && !json_is_null(value) && !json_is_false(value);
}

static void put_source(const json_t *params, struct buf *sql)
{
    int64_t sort = json_get_int(params, "sort", STORE_RUNS_CREATED);

    buf_printf(sql, " FROM runs INDEXED BY %s WHERE %s IS NOT NULL", indexes[sort],
               columns[sort]);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        if (is_given(params, filters[i].param))
            buf_printf(sql, " AND %s", filters[i].condition);
}

void runs_read_page_sql(const json_t *params, struct buf *sql)
{
    const char *column = columns[json_get_int(params, "sort", STORE_RUNS_CREATED)];
    bool is_rising = json_get_int(params, "order", 0) == 1;
    const char *direction = is_rising ? "ASC" : "DESC";

    buf_printf(sql, "SELECT %s || ':' || id AS next, id, listed AS text", column);
    put_source(params, sql);
    /* The first page has no bound, because a figure can be as large as the initial
     * before_ms. */
    if (is_given(params, "cursor"))
        buf_printf(sql, " AND (%s, id) %c (:before_ms, :before_id)", column,
                   is_rising ? '>' : '<');
    buf_printf(sql, " ORDER BY %s %s, id %s LIMIT :limit + 1", column, direction,
               direction);
}

void runs_read_total_sql(const json_t *params, struct buf *sql)
{
    buf_append_str(sql, "SELECT json_object('runs', min(count(*), 10000), 'is_more',"
                        " json(iif(count(*) > 10000, 'true', 'false'))) FROM (SELECT 1");
    put_source(params, sql);
    buf_append_str(sql, " LIMIT 10001)");
}

json_t *store_get_runs(sqlite3 *db, json_t *params, struct error *err)
{
    const char *cursor = json_get_str(params, "cursor", NULL);
    json_t *page, *total = json_null();
    struct buf sql;

    if (is_given(params, "suspect") || is_given(params, "judged"))
        json_object_set_new(params, "judging", verdicts_judging());
    buf_init(&sql, SQL_MAX);
    if (is_given(params, "total")) {
        runs_read_total_sql(params, &sql);
        total = store_value(db, sql.data, params, err);
        buf_clear(&sql);
    }
    runs_read_page_sql(params, &sql);
    page =
        total ? store_page(db, "runs", sql.data, json_incref(params), cursor, err) : NULL;
    if (page)
        json_object_set(page, "total", total);
    json_decref(total);
    json_decref(params);
    buf_release(&sql);
    return page;
}
