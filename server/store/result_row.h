/* result_row.h - a row of the table `results`: what is known of a result beside its event
 */
#ifndef RINGBENCH_SERVER_STORE_RESULT_ROW_H
#define RINGBENCH_SERVER_STORE_RESULT_ROW_H

#include <sqlite3.h>

#include "server/summary/result_record.h"

/* The columns after `run`, in the order in which both functions have them. */
#define RESULT_ROW                                                                       \
    "event, case_no, attempt, cycle, row, rank, key, choice, is_figure, is_skipped,"     \
    " is_noisy, size, wrong, value, x, time_us, time_min_us, time_max_us, time_low_us,"  \
    " time_high_us, algbw_gbs, busbw_gbs"

/* Bind the record to parameters 2 to 23; the run is the first. */
void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record);

/* The record of a statement's row that begins with these columns. */
struct result_record result_row_read(sqlite3_stmt *stmt);

#endif
