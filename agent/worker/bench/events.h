/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - the worker's events: one JSON object per line on a descriptor
 *
 * Thread safe: each line is written whole. After the last event ("done") nothing more is
 * written. A descriptor that nobody reads any more is not an error: the worker's parent
 * is then gone, and so is the worker soon. */
#ifndef RINGBENCH_WORKER_BENCH_EVENTS_H
#define RINGBENCH_WORKER_BENCH_EVENTS_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "common/base/log.h"

struct events {
    int fd;
    bool is_closed;
    pthread_mutex_t lock;
};

int events_init(struct events *events, int fd);
void events_release(struct events *events);

/* Write the object, with "type" added; takes it over, also on failure and when NULL. */
void events_emit(struct events *events, const char *type, json_t *object);

/* As events_emit, and the last one. */
void events_emit_last(struct events *events, const char *type, json_t *object);

#endif
