/* store_reader.h - the reader thread: answers queries one after the other on a connection
 * of its own. Calls come from the loop's thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_READER_H
#define RINGBENCH_SERVER_STORE_STORE_READER_H

#include "server/store/store_read.h"

struct store_reader;

/* Start the thread with a connection of its own to path; `wake` is sent each time that
 * store_reader_collect has something new. */
struct store_reader *store_reader_create(const char *path, uv_async_t *wake,
                                         struct error *err);

/* Ask the thread to end; questions that it has not begun are failed. */
void store_reader_stop(struct store_reader *reader);
void store_reader_destroy(struct store_reader *reader);

void store_reader_submit(struct store_reader *reader, struct store_read *read);

/* Append what is answered to *finished. Returns whether the thread has ended. */
bool store_reader_collect(struct store_reader *reader, struct store_read_list *finished);

#endif
