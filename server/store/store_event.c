/* SPDX-License-Identifier: Apache-2.0 */
/* store_event.c - represents stored events and pages of events */
#include "server/store/store_event.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

int store_event_append(const struct store_event *event, struct buf *out)
{
    char time[CLOCK_TEXT_MAX];

    assert(event->body_len >= 2 && event->body[0] == '{');
    if (buf_printf(out, "{\"id\":%" PRId64 ",\"time\":\"%s\",\"type\":\"%s\"%s",
                   event->id, clock_format_ms(event->time_ms, time), event->type,
                   event->body_len > 2 ? "," : "") < 0)
        return -1;
    return buf_append(out, event->body + 1, event->body_len - 1);
}

struct store_events *store_events_create(void)
{
    return memory_zeroed(1, sizeof(struct store_events), "events");
}

void store_events_destroy(struct store_events *events)
{
    if (!events)
        return;
    /* Type, body and samples share one allocation. */
    for (size_t i = 0; i < events->n; i++)
        free((char *)(uintptr_t)events->list[i].type);
    free(events->list);
    free(events);
}

void store_events_add(struct store_events *events, const struct store_event *event)
{
    size_t type_size = strlen(event->type) + 1;
    size_t size = type_size + event->body_len + 1 + event->samples_len;
    char *text = memory_zeroed(1, size, "events");
    struct store_event *copy;

    events->list = memory_grown(events->list, events->n, &events->capacity,
                                sizeof(*events->list), "events");
    memcpy(text, event->type, type_size);
    memcpy(text + type_size, event->body, event->body_len);
    copy = &events->list[events->n++];
    *copy = *event;
    copy->type = text;
    copy->body = text + type_size;
    copy->samples = NULL;
    if (event->samples_len > 0) {
        memcpy(text + size - event->samples_len, event->samples, event->samples_len);
        copy->samples = text + size - event->samples_len;
    }
    events->bytes += size;
}
