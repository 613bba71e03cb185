/* run_doc.h - the document of a run, out of the database, where its cases have rows of
 * their own */
#ifndef RINGBENCH_SERVER_STORE_RUN_DOC_H
#define RINGBENCH_SERVER_STORE_RUN_DOC_H

#include <jansson.h>
#include <sqlite3.h>

#include "common/base/error.h"

/* The document of a row's column, with the run's cases in it. NULL with err when one of
 * them can't be read or is no JSON (ERROR_INTERNAL). */
json_t *run_doc_read(sqlite3_stmt *stmt, int column, struct error *err);

#endif
