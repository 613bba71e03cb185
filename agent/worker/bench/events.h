/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - the worker's events: one JSON object per line on a descriptor
 *
 * Thread safe: each line is written whole. Nothing is written after the last event
 * ("done"). A failed write is not an error: the parent has died, and the worker dies with
 * it. */
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

/* Adds the key "type". Takes ownership of the object, even on failure; ignores NULL. */
void events_emit(struct events *events, const char *type, json_t *object);

void events_emit_last(struct events *events, const char *type, json_t *object);

#endif
