/* event_samples.c - the arrays of a result that few ask for */
#include "server/store/event_samples.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

/* Stored by number: new ones only at the end. Those that are KEPT_APART. */
static const char *const fields[] = {"samples_us", "blocks_us", "traffic_bytes"};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Before the numbers of a field; in the byte order of the machine, as records are. */
struct head {
    uint32_t field, n;
};

/* ---- Into an event ---- */

static size_t packed_size(const json_t *body)
{
    size_t size = 0;

    for (size_t i = 0; i < FIELDS; i++) {
        const json_t *array = json_object_get(body, fields[i]);

        if (json_is_array(array))
            size += sizeof(struct head) + json_array_size(array) * sizeof(float);
    }
    return size;
}

static char *pack_field(const json_t *array, size_t field, char *at)
{
    struct head head = {(uint32_t)field, (uint32_t)json_array_size(array)};

    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    for (size_t i = 0; i < head.n; i++, at += sizeof(float)) {
        double number = json_number_value(json_array_get(array, i));
        float value = (float)fmax(-(double)FLT_MAX, fmin(number, (double)FLT_MAX));

        memcpy(at, &value, sizeof(value));
    }
    return at;
}

json_t *event_samples_pack(const json_t *body, struct store_event *event)
{
    size_t size = packed_size(body);
    json_t *rest;
    char *packed, *at;

    if (size == 0)
        return json_incref((json_t *)(uintptr_t)body);
    rest = json_copy((json_t *)(uintptr_t)body);
    packed = at = malloc(size);
    if (!rest || !packed) {
        json_decref(rest);
        free(packed);
        return NULL;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        const json_t *array = json_object_get(body, fields[i]);

        if (json_is_array(array)) {
            at = pack_field(array, i, at);
            json_object_del(rest, fields[i]);
        }
    }
    assert(at == packed + size);
    event->samples = packed;
    event->samples_len = size;
    return rest;
}

/* ---- And out of it ---- */

/* The next field; false at the end, or where it is damaged. */
static bool next_field(const struct store_event *event, size_t *at, struct head *head,
                       const char **numbers)
{
    const char *samples = event->samples;
    size_t left = event->samples_len - *at;

    if (left < sizeof(*head))
        return false;
    memcpy(head, samples + *at, sizeof(*head));
    *numbers = samples + *at + sizeof(*head);
    if (head->field >= FIELDS || head->n > (left - sizeof(*head)) / sizeof(float))
        return false;
    *at += sizeof(*head) + head->n * sizeof(float);
    return true;
}

static float number_at(const char *numbers, size_t i)
{
    float value;

    memcpy(&value, numbers + i * sizeof(value), sizeof(value));
    return value;
}

int event_samples_append(const struct store_event *event, struct buf *out)
{
    const char *numbers;
    struct head head;
    size_t at = 0;

    while (next_field(event, &at, &head, &numbers)) {
        buf_printf(out, ",\"%s\":[", fields[head.field]);
        for (size_t i = 0; i < head.n; i++)
            buf_printf(out, "%s%.7g", i ? "," : "", (double)number_at(numbers, i));
        if (buf_append_str(out, "]"))
            return -1;
    }
    return 0;
}

int event_samples_unpack(const struct store_event *event, json_t *body)
{
    struct buf out;
    json_t *object;
    int result;

    buf_init(&out, 16 * event->samples_len + 256);
    buf_append_str(&out, "{\"\":0");
    result = event_samples_append(event, &out) || buf_append_str(&out, "}") ? -1 : 0;
    object = result ? NULL : json_parse(out.data, out.len, NULL);
    if (object)
        json_object_del(object, "");
    if (!object || json_object_update(body, object))
        result = -1;
    json_decref(object);
    buf_release(&out);
    return result;
}
