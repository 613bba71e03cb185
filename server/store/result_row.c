/* result_row.c - a row of the table `results` */
#include "server/store/result_row.h"

#define BIND(name, type) sqlite3_bind_##type(stmt, index++, record->name);
#define READ(name, type) record.name = sqlite3_value_##type(*values++);

void result_row_bind(sqlite3_stmt *stmt, const struct result_record *record)
{
    int index = 2;

    RESULT_COLUMNS(BIND)
}

struct result_record result_row_read(sqlite3_value **values)
{
    struct result_record record;

    RESULT_COLUMNS(READ)
    return record;
}
