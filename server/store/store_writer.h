/* SPDX-License-Identifier: Apache-2.0 */
/* store_writer.h - runs the writer thread, which commits all queued writes as one
 * transaction and returns them to the loop. All functions are called on the loop's
 * thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_WRITER_H
#define RINGBENCH_SERVER_STORE_STORE_WRITER_H

#include <sqlite3.h>

#include "server/store/store_write.h"

struct store_writer;

/* Start the thread, which owns db (closed also on failure). The thread sends `wake` each
 * time that store_writer_collect() can return something new. */
struct store_writer *store_writer_create(sqlite3 *db, uv_async_t *wake,
                                         struct error *err);

/* Tell the thread to finish queued writes and end. Writes that the disk still refuses are
 * returned as failed. */
void store_writer_stop(struct store_writer *writer);

/* Wait for the thread, which must have been stopped, and free everything. */
void store_writer_destroy(struct store_writer *writer);

void store_writer_submit(struct store_writer *writer, struct store_write *write);

/* Append the writes that were committed or failed since the last call to *finished.
 * trouble: the reason why writes fail at the moment, or "". Returns true once the thread
 * has ended and all writes were returned. */
bool store_writer_collect(struct store_writer *writer, struct store_write_list *finished,
                          struct error *trouble);

#endif
