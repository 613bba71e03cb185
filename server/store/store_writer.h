/* SPDX-License-Identifier: Apache-2.0 */
/* store_writer.h - the writer thread: commits all queued writes as one transaction and
 * hands them back. Calls come from the loop's thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_WRITER_H
#define RINGBENCH_SERVER_STORE_STORE_WRITER_H

#include <sqlite3.h>

#include "server/store/store_write.h"

struct store_writer;

/* Start the thread. It owns db (closed also on failure) and sends `wake` each time that
 * store_writer_collect has something new. */
struct store_writer *store_writer_create(sqlite3 *db, uv_async_t *wake,
                                         struct error *err);

/* Ask the thread to finish queued writes and end. Writes that the disk still refuses are
 * handed back as failed. */
void store_writer_stop(struct store_writer *writer);

/* Wait for the thread, which must have been stopped, and free everything. */
void store_writer_destroy(struct store_writer *writer);

void store_writer_submit(struct store_writer *writer, struct store_write *write);

/* Append the writes that were committed or failed since the last call to *finished.
 * trouble: why writes fail now ("" if they do not). Returns true once the thread has
 * ended; nothing more will come then. */
bool store_writer_collect(struct store_writer *writer, struct store_write_list *finished,
                          struct error *trouble);

#endif
