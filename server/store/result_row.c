/* result_row.c - a row of the table `results` */
#include "server/store/result_row.h"

void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record)
{
    sqlite3_bind_int64(stmt, 2, record->event);
    sqlite3_bind_int(stmt, 3, record->case_no);
    sqlite3_bind_int(stmt, 4, record->attempt);
    sqlite3_bind_int(stmt, 5, record->cycle);
    sqlite3_bind_int(stmt, 6, record->row);
    sqlite3_bind_int(stmt, 7, record->rank);
    sqlite3_bind_int(stmt, 8, record->key);
    sqlite3_bind_int(stmt, 9, record->choice);
    sqlite3_bind_int(stmt, 10, record->is_figure);
    sqlite3_bind_int(stmt, 11, record->is_skipped);
    sqlite3_bind_int(stmt, 12, record->is_noisy);
    sqlite3_bind_int64(stmt, 13, record->size);
    sqlite3_bind_int64(stmt, 14, record->wrong);
    sqlite3_bind_double(stmt, 15, record->value);
    sqlite3_bind_double(stmt, 16, record->x);
    sqlite3_bind_double(stmt, 17, record->time_us);
    sqlite3_bind_double(stmt, 18, record->time_min_us);
    sqlite3_bind_double(stmt, 19, record->time_max_us);
    sqlite3_bind_double(stmt, 20, record->time_low_us);
    sqlite3_bind_double(stmt, 21, record->time_high_us);
    sqlite3_bind_double(stmt, 22, record->algbw_gbs);
    sqlite3_bind_double(stmt, 23, record->busbw_gbs);
}

/* A million of them may be read: each look at a column counts. */
struct result_record result_row_read(sqlite3_stmt *stmt)
{
    struct result_record record = {
        .event = sqlite3_column_int64(stmt, 0),
        .case_no = sqlite3_column_int(stmt, 1),
        .attempt = sqlite3_column_int(stmt, 2),
        .cycle = sqlite3_column_int(stmt, 3),
        .row = sqlite3_column_int(stmt, 4),
        .rank = sqlite3_column_int(stmt, 5),
        .key = sqlite3_column_int(stmt, 6),
        .choice = sqlite3_column_int(stmt, 7),
        .is_figure = sqlite3_column_int(stmt, 8),
        .is_skipped = sqlite3_column_int(stmt, 9),
        .is_noisy = sqlite3_column_int(stmt, 10),
        .size = sqlite3_column_int64(stmt, 11),
        .wrong = sqlite3_column_int64(stmt, 12),
    };

    if (record.is_figure) {
        record.value = sqlite3_column_double(stmt, 13);
        record.x = sqlite3_column_double(stmt, 14);
    } else if (!record.is_skipped) {
        record.time_us = sqlite3_column_double(stmt, 15);
        record.time_min_us = sqlite3_column_double(stmt, 16);
        record.time_max_us = sqlite3_column_double(stmt, 17);
        record.time_low_us = sqlite3_column_double(stmt, 18);
        record.time_high_us = sqlite3_column_double(stmt, 19);
        record.algbw_gbs = sqlite3_column_double(stmt, 20);
        record.busbw_gbs = sqlite3_column_double(stmt, 21);
    }
    return record;
}
