/* SPDX-License-Identifier: Apache-2.0 */
/* result_row.h - writes and reads rows of the table `results`, which contains the parts
 * of a result that summaries need */
#ifndef RINGBENCH_SERVER_STORE_RESULT_ROW_H
#define RINGBENCH_SERVER_STORE_RESULT_ROW_H

#include <sqlite3.h>

#include "server/summary/result_record.h"

/* The columns after `run`: a member of the record and its type for each. Some columns are
 * set only in rows of figures, others only in rows of times. */
#define RESULT_COMMON_COLUMNS(COLUMN)                                                    \
    COLUMN(event, int64)                                                                 \
    COLUMN(time_ms, int64)                                                               \
    COLUMN(case_no, int)                                                                 \
    COLUMN(attempt, int)                                                                 \
    COLUMN(cycle, int)                                                                   \
    COLUMN(row, int)                                                                     \
    COLUMN(rank, int)                                                                    \
    COLUMN(key, int)                                                                     \
    COLUMN(choice, int)                                                                  \
    COLUMN(is_figure, int)                                                               \
    COLUMN(is_skipped, int)                                                              \
    COLUMN(is_noisy, int)                                                                \
    COLUMN(has_more, int)                                                                \
    COLUMN(size, int64)                                                                  \
    COLUMN(count, int64)                                                                 \
    COLUMN(wrong, int64)
#define RESULT_FIGURE_COLUMNS(COLUMN)                                                    \
    COLUMN(value, double)                                                                \
    COLUMN(x, double)
#define RESULT_TIME_COLUMNS(COLUMN)                                                      \
    COLUMN(time_us, double)                                                              \
    COLUMN(time_min_us, double)                                                          \
    COLUMN(time_max_us, double)                                                          \
    COLUMN(time_low_us, double)                                                          \
    COLUMN(time_high_us, double)                                                         \
    COLUMN(algbw_gbs, double)                                                            \
    COLUMN(busbw_gbs, double)
#define RESULT_COLUMNS(COLUMN)                                                           \
    RESULT_COMMON_COLUMNS(COLUMN)                                                        \
    RESULT_FIGURE_COLUMNS(COLUMN)                                                        \
    RESULT_TIME_COLUMNS(COLUMN)

#define RESULT_TYPE_int "INTEGER"
#define RESULT_TYPE_int64 "INTEGER"
#define RESULT_TYPE_double "REAL"

#define RESULT_DEFINITION(name, type) ", " #name " " RESULT_TYPE_##type " NOT NULL"
#define RESULT_NAME(name, type) ", " #name
#define RESULT_PARAMETER(name, type) ", ?"

/* Lists of the columns for SQL statements, with a comma before each column: definitions,
 * names and parameters. */
#define RESULT_DEFINITIONS RESULT_COLUMNS(RESULT_DEFINITION)
#define RESULT_NAMES RESULT_COLUMNS(RESULT_NAME)
#define RESULT_PARAMETERS RESULT_COLUMNS(RESULT_PARAMETER)

/* Bind the record to the second and later parameters; the first is the run. */
void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record);

/* An SQL expression that calls `function`, a string literal, with a row's record as
 * arguments. The call omits the columns that this kind of row does not set, because
 * reading columns takes half of the call's time. */
#define RESULT_CALL(function)                                                            \
    "CASE WHEN is_figure THEN " function RESULT_COMMON_NAMES RESULT_FIGURE_NAMES ")"     \
    " ELSE " function RESULT_COMMON_NAMES RESULT_TIME_NAMES ") END"
#define RESULT_COMMON_NAMES "(0" RESULT_COMMON_COLUMNS(RESULT_NAME)
#define RESULT_FIGURE_NAMES RESULT_FIGURE_COLUMNS(RESULT_NAME)
#define RESULT_TIME_NAMES RESULT_TIME_COLUMNS(RESULT_NAME)

/* Read the record from the arguments of RESULT_CALL. */
struct result_record result_row_read(sqlite3_value **values);

#endif
