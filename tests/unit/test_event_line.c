/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_line.c - which lines of a worker are events */
#include "agent/case/event_line.h"
#include "tests/unit/test.h"

struct sample {
    const char *line;
    const char *error; /* part of it; NULL: it is an event */
};

static const struct sample samples[] = {
    {"{\"type\":\"hello\",\"protocol\":1}", NULL},
    {" { \"type\" : \"result\" } ", NULL},
    {"{\"type\":\"done\",\"ok\":true}\r", NULL},
    {"{\"type\":\"log\"}", NULL},
    {"{\"type\":\"phase\"}", NULL},
    {"{\"type\":\"progress\",\"op\":1}", NULL},
    {"", "not valid JSON"},
    {"{", "JSON"},
    {"{\"type\":\"log\"} x", "JSON"},
    {"{\"type\":\"log\",\"type\":\"log\"}", "duplicate"},
    {"{\"type\":\"log\",\"text\":\"\\u0000\"}", "JSON"},
    {"[]", "not a JSON object"},
    {"{}", "'type' is missing"},
    {"{\"type\":1}", "type"},
    {"{\"type\":\"exit\"}", "must not send events of type 'exit'"},
    {"{\"type\":\"gone\"}", "'gone'"},
    {"{\"type\":\"log\",\"seq\":1}", "may set the key 'seq'"},
    {"{\"type\":\"log\",\"rank\":1}", "'rank'"},
    {"{\"type\":\"log\",\"time_ms\":1}", "'time_ms'"},
};

TEST(judges_each_line)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        struct error err = {ERROR_NONE, ""};
        json_t *event = event_line_parse(s->line, strlen(s->line), &err);

        if ((event != NULL) != (s->error == NULL))
            fail_msg("%s: %s", s->line, err.text);
        if (s->error && !strstr(err.text, s->error))
            fail_msg("%s: '%s' does not say '%s'", s->line, err.text, s->error);
        json_decref(event);
    }
}
