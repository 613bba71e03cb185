/* SPDX-License-Identifier: Apache-2.0 */
/* artifacts_read.c - reads the texts of runs from the database */
#include "common/base/json_util.h"
#include "server/store/store_artifacts.h"
#include "server/store/store_rows.h"

/* Answers show STORE_NO_CASE (-1) as null. */
static const char SQL_LIST[] =
    "SELECT nullif(a.case_no, -1) AS \"case\", a.node, a.name, c.bytes, c.digest"
    " FROM artifacts AS a"
    " JOIN contents AS c ON c.digest = a.digest"
    " WHERE a.run = :run AND (:name IS NULL OR a.name = :name)"
    " ORDER BY a.case_no, a.node, a.name LIMIT :limit + 1 OFFSET :after";
static const char SQL_TEXT[] =
    "SELECT a.node, c.text, nullif(a.case_no, -1) AS \"case\" FROM artifacts AS a"
    " JOIN contents AS c ON c.digest = a.digest"
    " WHERE a.run = :run AND (:digest IS NULL OR a.digest = :digest)"
    " AND (:node IS NULL OR a.node = :node) AND (:name IS NULL OR a.name = :name)"
    " ORDER BY a.case_no LIMIT 1";

/* In a query with min(), SQLite takes the other columns from the row with the minimum. */
static const char SQL_NODES[] =
    "SELECT node, (SELECT text FROM contents WHERE digest = some.digest) AS text,"
    " nullif(case_no, -1) AS \"case\" FROM"
    " (SELECT node, digest, case_no, sum(bytes) OVER (ORDER BY node) AS total FROM"
    "  (SELECT a.node, a.digest, min(a.case_no) AS case_no, c.bytes FROM artifacts AS a"
    "   JOIN contents AS c ON c.digest = a.digest WHERE a.run = :run AND a.name = :name"
    "   AND (:case < 0 OR a.case_no = :case) GROUP BY a.node)) AS some"
    " WHERE total <= :most ORDER BY node";

json_t *store_get_artifacts(sqlite3 *db, const char *run, const char *name, int64_t after,
                            int limit, struct error *err)
{
    json_t *params = json_pack("{s:s, s:s?, s:I, s:i}", "run", run, "name", name, "after",
                               (json_int_t)after, "limit", limit);
    json_t *list = store_rows(db, SQL_LIST, params, err), *next = json_null();

    json_decref(params);
    if (json_array_size(list) > (size_t)limit) {
        json_array_remove(list, (size_t)limit);
        next = json_integer(after + limit);
    }
    return list ? json_pack("{s:o, s:o}", "artifacts", list, "next", next) : NULL;
}

json_t *store_get_texts(sqlite3 *db, const struct store_artifact_key *keys, size_t n,
                        struct error *err)
{
    json_t *texts = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *key =
            json_pack("{s:s, s:s?, s:s?, s:s?}", "run", keys[i].run, "digest",
                      keys[i].digest, "node", keys[i].node, "name", keys[i].name);
        json_t *found = store_rows(db, SQL_TEXT, key, err);

        if (found && json_array_size(found) == 0)
            error_set(err, ERROR_NOT_FOUND, "the run has no such stored text");
        json_array_extend(texts, found);
        json_decref(found);
        json_decref(key);
        if (json_array_size(texts) <= i) {
            json_decref(texts);
            return NULL;
        }
    }
    return texts;
}

json_t *store_get_case_texts(sqlite3 *db, const char *run, const char *name,
                             int64_t case_no, struct error *err)
{
    json_t *params = json_pack("{s:s, s:s, s:I, s:i}", "run", run, "name", name, "case",
                               (json_int_t)case_no, "most", STORE_TEXTS_BYTES);
    json_t *texts = store_rows(db, SQL_NODES, params, err);

    json_decref(params);
    return texts;
}
