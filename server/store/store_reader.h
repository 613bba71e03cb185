/* SPDX-License-Identifier: Apache-2.0 */
/* store_reader.h - runs a reader thread, which executes jobs one after the other on its
 * own connection. All functions are called on the loop's thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_READER_H
#define RINGBENCH_SERVER_STORE_STORE_READER_H

#include <sys/queue.h>
#include <uv.h>

#include "server/store/store_work.h"

struct store_reader;

/* A queued call of a store_work function. */
struct store_job {
    STAILQ_ENTRY(store_job) entry;
    store_work *work;
    store_worked *worked;
    void *arg;
    bool is_failed;
    struct error err;
};

STAILQ_HEAD(store_job_list, store_job);

/* Start the thread with its own connection to the database at `path`. The thread sends
 * `wake` each time that store_reader_collect() can return something new. */
struct store_reader *store_reader_create(const char *path, uv_async_t *wake,
                                         struct error *err);

/* Tell the thread to end. Jobs that it has not begun fail. */
void store_reader_stop(struct store_reader *reader);
void store_reader_destroy(struct store_reader *reader);

void store_reader_submit(struct store_reader *reader, struct store_job *job);

/* Append finished jobs to *finished. Returns true once the thread has ended. */
bool store_reader_collect(struct store_reader *reader, struct store_job_list *finished);

#endif
