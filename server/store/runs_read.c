/* runs_read.c - the list of runs, out of the database */
#include "server/store/runs_read.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "server/store/store_rows.h"
#include "server/store/store_work.h"

#define SQL_MAX ((size_t)4096)

_Static_assert(STORE_RUNS_TOTAL_MAX == 10000, "as the statement has it");

/* By enum store_runs_sort. */
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

/* ANSWER or KIND:ANSWER is that of a verdict. */
#define SQL_SAID                                                                         \
    "said.answer = substr(want.value, instr(want.value, ':') + 1)"                       \
    " AND want.value IN (said.answer, said.kind || ':' || said.answer)"

static const struct {
    const char *param, *condition;
} filters[] = {
    {"states", "state IN (SELECT value FROM json_each(:states))"},
    {"pattern", "(id LIKE :pattern ESCAPE '\\' OR name LIKE :pattern ESCAPE '\\'"
                " OR notes LIKE :pattern ESCAPE '\\')"},
    {"labels", "NOT EXISTS (SELECT 1 FROM json_each(:labels) AS want WHERE NOT EXISTS"
               " (SELECT 1 FROM json_each(labels) AS have"
               " WHERE have.key = json_extract(want.value, '$[0]')"
               " AND have.value = json_extract(want.value, '$[1]')))"},
    /* The sign keeps the plan on the index that has the order. */
    {"node", "+id IN (SELECT run FROM run_nodes WHERE node = :node)"},
    {"suspect", "+id IN (SELECT said.run FROM json_each(:judging) AS want"
                " CROSS JOIN run_answers AS said"
                " WHERE said.node = :suspect AND " SQL_SAID ")"},
    {"judged", "+id IN (SELECT said.run FROM json_each(:judging) AS want"
               " CROSS JOIN run_answers AS said WHERE " SQL_SAID ")"},
    {"answers", "+id IN (SELECT said.run FROM json_each(:answers) AS want"
                " CROSS JOIN run_answers AS said WHERE " SQL_SAID ")"},
    {"since_ms", "created_ms >= :since_ms"},
    {"until_ms", "created_ms < :until_ms"},
};

static void put_source(const json_t *params, struct buf *sql)
{
    int64_t sort = json_get_int(params, "sort", STORE_RUNS_CREATED);

    buf_printf(sql, " FROM runs INDEXED BY %s WHERE %s IS NOT NULL", indexes[sort],
               columns[sort]);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        const json_t *value = json_object_get(params, filters[i].param);

        if (value && !json_is_null(value))
            buf_printf(sql, " AND %s", filters[i].condition);
    }
}

void runs_read_page_sql(const json_t *params, const char *cursor, struct buf *sql)
{
    const char *column = columns[json_get_int(params, "sort", STORE_RUNS_CREATED)];
    bool is_rising = json_get_bool(params, "is_rising", false);
    const char *way = is_rising ? "ASC" : "DESC";

    buf_printf(sql, "SELECT %s || ':' || id AS next, id, listed AS text", column);
    put_source(params, sql);
    /* The first page has no limit: a figure may be the largest number there is. */
    if (cursor)
        buf_printf(sql, " AND (%s, id) %c (:before_ms, :before_id)", column,
                   is_rising ? '>' : '<');
    buf_printf(sql, " ORDER BY %s %s, id %s LIMIT :limit + 1", column, way, way);
}

void runs_read_total_sql(const json_t *params, struct buf *sql)
{
    buf_append_str(sql, "SELECT json_object('runs', min(count(*), 10000), 'is_more',"
                        " json(iif(count(*) > 10000, 'true', 'false'))) FROM (SELECT 1");
    put_source(params, sql);
    buf_append_str(sql, " LIMIT 10001)");
}

static json_t *words_json(const char *const *words, size_t n)
{
    json_t *list = n ? json_array() : json_null();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(words[i]));
    return list;
}

static json_t *labels_json(const struct store_runs_query *query)
{
    json_t *labels = query->n_labels ? json_array() : json_null();

    for (size_t i = 0; i < query->n_labels; i++)
        json_array_append_new(
            labels, json_pack("[s,s]", query->label_keys[i], query->label_values[i]));
    return labels;
}

/* The text as a LIKE pattern that matches it anywhere, its own % and _ being plain. */
static json_t *pattern_json(const char *text)
{
    json_t *pattern = json_null();
    struct buf out;

    if (!text)
        return pattern;
    buf_init(&out, SIZE_MAX);
    buf_append_str(&out, "%");
    for (; *text; text++)
        buf_printf(&out, "%s%c", strchr("%_\\", *text) ? "\\" : "", *text);
    if (buf_append_str(&out, "%") == 0)
        pattern = json_string(out.data);
    buf_release(&out);
    return pattern;
}

static json_t *time_json(int64_t ms)
{
    return ms ? json_integer(ms) : json_null();
}

/* params: taken. */
static json_t *read_list(sqlite3 *db, json_t *params, const char *cursor,
                         struct error *err)
{
    json_t *page, *total = json_null();
    struct buf sql;

    buf_init(&sql, SQL_MAX);
    if (json_get_bool(params, "has_total", false)) {
        runs_read_total_sql(params, &sql);
        total = store_value(db, sql.data, params, err);
        buf_clear(&sql);
    }
    runs_read_page_sql(params, cursor, &sql);
    page =
        total ? store_page(db, "runs", sql.data, json_incref(params), cursor, err) : NULL;
    if (page)
        json_object_set(page, "total", total);
    json_decref(total);
    json_decref(params);
    buf_release(&sql);
    return page;
}

json_t *store_get_runs(sqlite3 *db, const struct store_runs_query *query,
                       struct error *err)
{
    json_t *params = json_pack(
        "{s:i, s:b, s:o, s:o, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:b, s:i}",
        "sort", (int)query->sort, "is_rising", (int)query->is_rising, "states",
        words_json(query->states, query->n_states), "answers",
        words_json(query->answers, query->n_answers), "labels", labels_json(query),
        "pattern", pattern_json(query->text), "node", query->node, "suspect",
        query->suspect, "judged", query->is_judged ? json_true() : json_null(), "judging",
        query->is_judged || query->suspect ? verdicts_judging() : json_null(), "since_ms",
        time_json(query->since_ms), "until_ms", time_json(query->until_ms), "has_total",
        (int)query->has_total, "limit", query->limit);

    return read_list(db, params, query->cursor, err);
}
