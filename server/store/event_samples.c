/* SPDX-License-Identifier: Apache-2.0 */
/* event_samples.c - stores a result's arrays separately from its event */
#include "server/store/event_samples.h"

#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/result/row_fields.h"

#define DIGITS 7 /* more digits than a sample contains */

/* Return the body's KEPT_APART arrays as an object; NULL if there are none. */
static json_t *samples_of(const json_t *body)
{
    json_t *samples = NULL;
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        json_t *value =
            fields[i].use & KEPT_APART ? json_object_get(body, fields[i].name) : NULL;

        if (!json_is_array(value))
            continue;
        samples = samples ? samples : json_object();
        json_object_set(samples, fields[i].name, value);
    }
    return samples;
}

json_t *event_samples_pack(const json_t *body, struct store_event *event)
{
    json_t *samples = samples_of(body), *rest, *value;
    const char *name;
    char *text;

    if (!samples)
        return json_incref((json_t *)(uintptr_t)body);
    rest = json_copy((json_t *)(uintptr_t)body);
    text = json_dumps(samples, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_object_foreach (samples, name, value)
        json_object_del(rest, name);
    json_decref(samples);
    if (!rest || !text)
        memory_out("samples");
    event->samples = text;
    event->samples_len = strlen(text);
    return rest;
}

int event_samples_append(const struct store_event *event, struct buf *out)
{
    if (!event->samples)
        return 0;
    buf_append_str(out, ",");
    return buf_append(out, event->samples + 1, event->samples_len - 2);
}

int event_samples_unpack(const struct store_event *event, json_t *body)
{
    json_t *samples =
        event->samples ? json_parse(event->samples, event->samples_len, NULL) : NULL;
    int result = event->samples ? json_object_update(body, samples) : 0;

    json_decref(samples);
    return result;
}
