/* result_row.h - a row of the table `results`: what is known of a result beside its event
 */
#ifndef RINGBENCH_SERVER_STORE_RESULT_ROW_H
#define RINGBENCH_SERVER_STORE_RESULT_ROW_H

#include <sqlite3.h>

#include "server/summary/result_record.h"

/* The columns after `run`: members of the record, and their types. */
#define RESULT_COLUMNS(COLUMN)                                                           \
    COLUMN(event, int64)                                                                 \
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
    COLUMN(size, int64)                                                                  \
    COLUMN(wrong, int64)                                                                 \
    COLUMN(value, double)                                                                \
    COLUMN(x, double)                                                                    \
    COLUMN(time_us, double)                                                              \
    COLUMN(time_min_us, double)                                                          \
    COLUMN(time_max_us, double)                                                          \
    COLUMN(time_low_us, double)                                                          \
    COLUMN(time_high_us, double)                                                         \
    COLUMN(algbw_gbs, double)                                                            \
    COLUMN(busbw_gbs, double)                                                            \
    COLUMN(time_ms, int64)                                                               \
    COLUMN(has_more, int)

#define RESULT_TYPE_int "INTEGER"
#define RESULT_TYPE_int64 "INTEGER"
#define RESULT_TYPE_double "REAL"

#define RESULT_DEFINITION(name, type) ", " #name " " RESULT_TYPE_##type " NOT NULL"
#define RESULT_NAME(name, type) ", " #name
#define RESULT_PARAMETER(name, type) ", ?"

/* For SQL, each column behind a comma: with its type, by its name, and as a parameter. */
#define RESULT_DEFINITIONS RESULT_COLUMNS(RESULT_DEFINITION)
#define RESULT_NAMES RESULT_COLUMNS(RESULT_NAME)
#define RESULT_PARAMETERS RESULT_COLUMNS(RESULT_PARAMETER)

/* Bind the record to the parameters from the second on; the run is the first. */
void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record);

/* The record of these columns' values. */
struct result_record result_row_read(sqlite3_value **values);

#endif
