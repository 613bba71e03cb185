/* trends_read.h - values of runs and baselines, out of the database */
#ifndef RINGBENCH_SERVER_STORE_TRENDS_READ_H
#define RINGBENCH_SERVER_STORE_TRENDS_READ_H

#include <sqlite3.h>

#include "server/store/store_read.h"

/* Answer a question of store_trends.h, by read->params. */
void trends_answer(sqlite3 *db, struct store_read *read);

#endif
