/* artifacts_read.c - the texts of runs, out of the database */
#include "common/base/json_util.h"
#include "server/store/store_artifacts.h"
#include "server/store/store_read.h"
#include "server/store/store_sql.h"

static const char SQL_LIST[] =
    "SELECT a.case_no, a.node, a.name, c.bytes, c.digest FROM artifacts AS a"
    " JOIN contents AS c ON c.digest = a.digest"
    " WHERE a.run = :run AND (:name IS NULL OR a.name = :name)"
    " ORDER BY a.case_no, a.node, a.name LIMIT :limit + 1 OFFSET :after";
static const char SQL_TEXT[] =
    "SELECT a.node, c.text, a.case_no FROM artifacts AS a JOIN contents AS c ON c.digest "
    "= a.digest"
    " WHERE a.run = :run AND (:digest IS NULL OR a.digest = :digest)"
    " AND (:node IS NULL OR a.node = :node) AND (:name IS NULL OR a.name = :name)"
    " ORDER BY a.case_no LIMIT 1";

/* min: the other columns are of its row. */
static const char SQL_NODES[] =
    "SELECT node, (SELECT text FROM contents WHERE digest = some.digest), case_no FROM"
    " (SELECT node, digest, case_no, sum(bytes) OVER (ORDER BY node) AS total FROM"
    "  (SELECT a.node, a.digest, min(a.case_no) AS case_no, c.bytes FROM artifacts AS a"
    "   JOIN contents AS c ON c.digest = a.digest WHERE a.run = :run AND a.name = :name"
    "   AND (:case < 0 OR a.case_no = :case) GROUP BY a.node)) AS some"
    " WHERE total <= :most ORDER BY node";

static json_t *case_no_of(sqlite3_stmt *stmt, int column)
{
    int number = sqlite3_column_int(stmt, column);

    return number == STORE_NO_CASE ? json_null() : json_integer(number);
}

static void take_item(struct store_read *read, sqlite3_stmt *stmt)
{
    if (read->count++ == (size_t)read->limit) {
        json_object_set_new(
            read->result, "next",
            json_integer(json_get_int(read->params, "after", 0) + read->limit));
        return;
    }
    read_append(read, "artifacts",
                json_pack("{s:o, s:s, s:s, s:I, s:s}", "case", case_no_of(stmt, 0),
                          "node", store_sql_text(stmt, 1), "name",
                          store_sql_text(stmt, 2), "bytes",
                          (json_int_t)sqlite3_column_int64(stmt, 3), "digest",
                          store_sql_text(stmt, 4)));
}

static void answer_list(sqlite3 *db, struct store_read *read)
{
    read->result = json_pack("{s:[], s:n}", "artifacts", "next");
    read_each_row(db, read, SQL_LIST, read->params, take_item);
}

static void take_text(struct store_read *read, sqlite3_stmt *stmt)
{
    json_t *one = json_pack("{s:s, s:s, s:o}", "node", store_sql_text(stmt, 0), "text",
                            store_sql_text(stmt, 1), "case", case_no_of(stmt, 2));

    read_append(read, NULL, one);
}

static void answer_texts(sqlite3 *db, struct store_read *read)
{
    json_t *key;
    size_t i;

    read->result = json_array();
    if (!json_object_get(read->params, "keys"))
        read_each_row(db, read, SQL_NODES, read->params, take_text);
    json_array_foreach (json_object_get(read->params, "keys"), i, key) {
        read_each_row(db, read, SQL_TEXT, key, take_text);
        if (json_array_size(read->result) == i)
            store_read_fail(read, ERROR_NOT_FOUND,
                            "nothing of the kind was kept with the run");
    }
}

json_t *store_get_artifacts(sqlite3 *db, const char *run, const char *name, int64_t after,
                            int limit, struct error *err)
{
    return store_answer(db, answer_list,
                        json_pack("{s:s, s:s?, s:I, s:i}", "run", run, "name", name,
                                  "after", (json_int_t)after, "limit", limit),
                        err);
}

json_t *store_get_texts(sqlite3 *db, const struct store_artifact_key *keys, size_t n,
                        struct error *err)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:s?, s:s?}", "run", keys[i].run, "digest",
                            keys[i].digest, "node", keys[i].node, "name", keys[i].name));
    return store_answer(db, answer_texts, json_pack("{s:o}", "keys", list), err);
}

json_t *store_get_case_texts(sqlite3 *db, const char *run, const char *name,
                             int64_t case_no, struct error *err)
{
    return store_answer(db, answer_texts,
                        json_pack("{s:s, s:s, s:I, s:i}", "run", run, "name", name,
                                  "case", (json_int_t)case_no, "most", STORE_TEXTS_BYTES),
                        err);
}
