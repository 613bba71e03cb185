/* SPDX-License-Identifier: Apache-2.0 */
/* run_packed.c - prepares a run's document for use on another thread */
#include "server/store/run_packed.h"

#include <stdint.h>
#include <string.h>

#include "common/base/json_util.h"

#ifndef JANSSON_THREAD_SAFE_REFCOUNT
#error "threads share values, so jansson's reference counts have to be atomic"
#endif

json_t *run_unpack(json_t *packed)
{
    const json_t *cases = json_object_get(packed, "cases");
    json_t *unpacked = json_array(), *one;
    size_t i;

    json_array_foreach (cases, i, one) {
        const char *text = json_string_value(one);

        if (text)
            json_array_append_new(unpacked, json_loads(text, 0, NULL));
        else
            json_array_append(unpacked, one);
    }
    if (cases)
        json_object_set(packed, "cases", unpacked);
    json_decref(unpacked);
    return packed;
}

static int append_cases(const json_t *cases, struct buf *out)
{
    const json_t *one;
    size_t i;
    int result = buf_append_str(out, "[");

    json_array_foreach (cases, i, one) {
        const char *text = json_string_value(one);

        result |= buf_append_str(out, i > 0 ? "," : "");
        result |= text ? buf_append_str(out, text) : json_append(one, out);
    }
    return result | buf_append_str(out, "]");
}

int run_packed_append(const json_t *doc, struct buf *out)
{
    const char *key, *before = "";
    const json_t *value;
    int result = buf_append_str(out, "{");

    json_object_foreach ((json_t *)(uintptr_t)doc, key, value) {
        result |= buf_printf(out, "%s\"%s\":", before, key);
        result |= strcmp(key, "cases") == 0 && json_is_array(value)
                      ? append_cases(value, out)
                      : json_append(value, out);
        before = ",";
    }
    return result | buf_append_str(out, "}");
}
