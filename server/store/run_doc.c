/* run_doc.c - the document of a run, out of the database */
#include "server/store/run_doc.h"

#include "common/base/json_util.h"
#include "server/store/store_sql.h"

static const char SQL_CASES[] =
    "SELECT doc FROM run_cases WHERE run = ?1 ORDER BY case_no";

static json_t *read_cases(sqlite3 *db, const char *run, struct error *err)
{
    const char *const sql = SQL_CASES;
    json_t *cases = json_array(), *item = cases;
    sqlite3_stmt *stmt;
    int rc;

    if (store_sql_prepare(db, &sql, 1, &stmt, err)) {
        json_decref(cases);
        return NULL;
    }
    store_sql_bind_text(stmt, 1, run);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW && item; rc = sqlite3_step(stmt)) {
        item = store_sql_json(stmt, 0, err);
        json_array_append_new(cases, item);
    }
    if (item && rc != SQLITE_DONE)
        store_sql_error(err, db, "cannot read");
    store_sql_finalize(&stmt, 1);
    if (item && rc == SQLITE_DONE)
        return cases;
    json_decref(cases);
    return NULL;
}

json_t *run_doc_read(sqlite3_stmt *stmt, int column, struct error *err)
{
    sqlite3 *db = sqlite3_db_handle(stmt);
    json_t *doc = store_sql_json(stmt, column, err);
    json_t *cases = doc ? read_cases(db, json_get_str(doc, "id", ""), err) : NULL;

    if (!cases) {
        json_decref(doc);
        return NULL;
    }
    json_object_set_new(doc, "cases", cases);
    return doc;
}
