/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - the worker's events: one JSON object per line on a descriptor */
#include "agent/worker/bench/events.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS 10 /* precision of numbers: finer than any clock */

int events_init(struct events *events, int fd)
{
    memset(events, 0, sizeof(*events));
    events->fd = fd;
    return pthread_mutex_init(&events->lock, NULL) ? -1 : 0;
}

void events_release(struct events *events)
{
    pthread_mutex_destroy(&events->lock);
}

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd pollfd = {.fd = fd, .events = POLLOUT};
            poll(&pollfd, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            return;
        }
    }
}

static void emit(struct events *events, const char *type, json_t *object, bool is_last)
{
    char *text = NULL;
    size_t len = 0;

    json_t *event = object ? json_pack("{s:s}", "type", type) : NULL;
    if (event && !json_object_update(event, object))
        text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(event);
    json_decref(object);
    if (text) {
        len = strlen(text);
        text[len++] = '\n'; /* in place of the terminator */
    }
    pthread_mutex_lock(&events->lock);
    if (text && !events->is_closed)
        write_all(events->fd, text, len);
    events->is_closed = events->is_closed || is_last;
    pthread_mutex_unlock(&events->lock);
    free(text);
}

void events_emit(struct events *events, const char *type, json_t *object)
{
    emit(events, type, object, false);
}

void events_emit_last(struct events *events, const char *type, json_t *object)
{
    emit(events, type, object, true);
}
