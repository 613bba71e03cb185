/* SPDX-License-Identifier: Apache-2.0 */
/* summary_fixture.h - a summary of records, through a database in memory */
#ifndef RINGBENCH_TESTS_UNIT_SUMMARY_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_SUMMARY_FIXTURE_H

#include <sqlite3.h>

#include "common/base/memory.h"
#include "server/store/result_row.h"
#include "server/store/summary_sums.h"
#include "tests/unit/test.h"

static inline struct summary *summary_of_records(const struct summary_query *query,
                                                 json_t *const *keys, size_t n_keys,
                                                 const struct result_record *records,
                                                 size_t n)
{
    struct summary *summary = memory_zeroed(1, sizeof(*summary), "a summary");
    sqlite3_stmt *stmt;
    struct error err;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE results (run" RESULT_DEFINITIONS ")",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO results VALUES (?" RESULT_PARAMETERS ")", -1,
                           &stmt, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_text(stmt, 1, query->run, -1, SQLITE_STATIC);
        result_row_bind(stmt, &records[i]);
        assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    if (summary_sums_read(db, query, keys, n_keys, summary, &err))
        fail_msg("%s", err.text);
    sqlite3_close(db);
    return summary;
}

#endif
