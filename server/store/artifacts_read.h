/* artifacts_read.h - the texts of runs, out of the database */
#ifndef RINGBENCH_SERVER_STORE_ARTIFACTS_READ_H
#define RINGBENCH_SERVER_STORE_ARTIFACTS_READ_H

#include <sqlite3.h>

#include "server/store/store_read.h"

/* Answer STORE_READ_ARTIFACTS or STORE_READ_ARTIFACT. */
void artifacts_answer(sqlite3 *db, struct store_read *read);

#endif
