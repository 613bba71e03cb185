/* SPDX-License-Identifier: Apache-2.0 */
/* result_row.c - writes and reads rows of the table `results` */
#include "server/store/result_row.h"

#define BIND(name, type) sqlite3_bind_##type(stmt, index++, record->name);
#define READ(name, type) record->name = sqlite3_value_##type(*values++);

void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record)
{
    int index = 2;

    RESULT_COLUMNS(BIND)
}

static sqlite3_value **read_common(struct result_record *record, sqlite3_value **values)
{
    RESULT_COMMON_COLUMNS(READ)
    return values;
}

static void read_figure(struct result_record *record, sqlite3_value **values)
{
    RESULT_FIGURE_COLUMNS(READ)
}

static void read_times(struct result_record *record, sqlite3_value **values)
{
    RESULT_TIME_COLUMNS(READ)
}

struct result_record result_row_read(sqlite3_value **values)
{
    struct result_record record = {.event = 0};

    /* the first value is a dummy that precedes the first comma */
    values = read_common(&record, values + 1);
    if (record.is_figure)
        read_figure(&record, values);
    else
        read_times(&record, values);
    return record;
}
