/* test_event_line.c - which lines of a worker are events */
#include "agent/case/event_line.h"
#include "tests/unit/test.h"

struct sample {
    const char *line;
    const char *error; /* part of it; NULL: it is an event */
    enum event_line_kind kind;
};

static const struct sample samples[] = {
    {"{\"type\":\"hello\",\"protocol\":1}", NULL, EVENT_LINE_OTHER},
    {" { \"type\" : \"result\" } ", NULL, EVENT_LINE_OTHER},
    {"{\"type\":\"done\",\"ok\":true}\r", NULL, EVENT_LINE_DONE},
    {"{\"type\":\"log\"}", NULL, EVENT_LINE_OTHER},
    {"{\"type\":\"phase\"}", NULL, EVENT_LINE_OTHER},
    {"{\"type\":\"progress\",\"op\":1}", NULL, EVENT_LINE_PROGRESS},
    {"", "not valid JSON", EVENT_LINE_OTHER},
    {"{", "JSON", EVENT_LINE_OTHER},
    {"{\"type\":\"log\"} x", "JSON", EVENT_LINE_OTHER},
    {"{\"type\":\"log\",\"type\":\"log\"}", "duplicate", EVENT_LINE_OTHER},
    {"{\"type\":\"log\",\"text\":\"\\u0000\"}", "JSON", EVENT_LINE_OTHER},
    {"[]", "not a JSON object", EVENT_LINE_OTHER},
    {"{}", "no type", EVENT_LINE_OTHER},
    {"{\"type\":1}", "type", EVENT_LINE_OTHER},
    {"{\"type\":\"exit\"}", "'exit' is no type", EVENT_LINE_OTHER},
    {"{\"type\":\"gone\"}", "'gone'", EVENT_LINE_OTHER},
    {"{\"type\":\"log\",\"seq\":1}", "'seq' is the agent's", EVENT_LINE_OTHER},
    {"{\"type\":\"log\",\"rank\":1}", "'rank'", EVENT_LINE_OTHER},
    {"{\"type\":\"log\",\"time_ms\":1}", "'time_ms'", EVENT_LINE_OTHER},
};

TEST(judges_each_line)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        struct error err = {ERROR_NONE, ""};
        enum event_line_kind kind = EVENT_LINE_OTHER;
        int result = event_line_check(s->line, strlen(s->line), &kind, &err);

        if ((result == 0) != (s->error == NULL))
            fail_msg("%s: %d, %s", s->line, result, err.text);
        if (s->error && !strstr(err.text, s->error))
            fail_msg("%s: '%s' does not say '%s'", s->line, err.text, s->error);
        assert_int_equal(kind, s->kind);
    }
}
