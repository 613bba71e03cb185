/* SPDX-License-Identifier: Apache-2.0 */
/* event_line.c - parses and checks a line that a worker wrote to its event pipe */
#include "agent/case/event_line.h"

#include <string.h>

#include "common/base/json_util.h"

static const char *const types[] = {"hello", "phase", "progress", "result",
                                    "log",   "done",  "unreached"};

/* Keys that only the agent may set. */
static const char *const own_keys[] = {"seq",     "run",  "case",
                                       "attempt", "rank", "time_ms"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int check_type(const char *type, struct error *err)
{
    if (!type)
        return error_set(err, ERROR_INVALID, "'type' is missing");
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(type, types[i]) == 0)
            return 0;
    return error_set(err, ERROR_INVALID, "workers must not send events of type '%.60s'",
                     type);
}

static int check_object(const json_t *event, struct error *err)
{
    if (!json_is_object(event))
        return error_set(err, ERROR_INVALID, "not a JSON object");
    for (size_t i = 0; i < COUNT(own_keys); i++) {
        if (json_object_get(event, own_keys[i]))
            return error_set(err, ERROR_INVALID, "only the agent may set the key '%s'",
                             own_keys[i]);
    }
    return check_type(json_get_str(event, "type", NULL), err);
}

json_t *event_line_parse(const char *line, size_t len, struct error *err)
{
    json_t *event = json_parse(line, len, err);

    if (event && check_object(event, err)) {
        json_decref(event);
        return NULL;
    }
    return event;
}
