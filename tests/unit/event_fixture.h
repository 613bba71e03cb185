/* SPDX-License-Identifier: Apache-2.0 */
/* event_fixture.h - pages of events as JSON */
#ifndef RINGBENCH_TESTS_UNIT_EVENT_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_EVENT_FIXTURE_H

#include <jansson.h>

#include "server/store/store_event.h"
#include "tests/unit/test.h"

/* [events as clients see them]; takes the page. */
static inline json_t *events_json(struct store_events *page)
{
    json_t *events = json_array();

    for (size_t i = 0; i < page->n; i++) {
        struct buf line;

        buf_init(&line, (size_t)1 << 30);
        assert_int_equal(store_event_append(&page->list[i], &line), 0);
        assert_int_equal(
            json_array_append_new(events, json_loadb(line.data, line.len, 0, NULL)), 0);
        buf_release(&line);
    }
    store_events_destroy(page);
    return events;
}

#endif
