/* test_event_line.c - which lines of a worker are events */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/process/event_line.h"

struct sample {
    const char *line;
    const char *error; /* part of it; NULL: it is an event */
    bool is_progress;
};

static const struct sample samples[] = {
    {"{\"type\":\"hello\",\"protocol\":1}", NULL, false},
    {" { \"type\" : \"result\" } ", NULL, false},
    {"{\"type\":\"done\",\"ok\":true}\r", NULL, false},
    {"{\"type\":\"log\"}", NULL, false},
    {"{\"type\":\"phase\"}", NULL, false},
    {"{\"type\":\"progress\",\"op\":1}", NULL, true},
    {"", "not valid JSON", false},
    {"{", "not valid JSON", false},
    {"{\"type\":\"log\"} x", "not valid JSON", false},
    {"{\"type\":\"log\",\"type\":\"log\"}", "duplicate", false},
    {"{\"type\":\"log\",\"text\":\"\\u0000\"}", "not valid JSON", false},
    {"[]", "not a JSON object", false},
    {"{}", "no type", false},
    {"{\"type\":1}", "no type", false},
    {"{\"type\":\"exit\"}", "'exit' is no type", false},
    {"{\"type\":\"gone\"}", "'gone' is no type", false},
    {"{\"type\":\"log\",\"seq\":1}", "'seq' is the agent's", false},
    {"{\"type\":\"log\",\"rank\":1}", "'rank' is the agent's", false},
    {"{\"type\":\"log\",\"time_ms\":1}", "'time_ms' is the agent's", false},
};

static void judges_each_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        struct error err = {ERROR_NONE, ""};
        bool is_progress = false;
        int result = event_line_check(s->line, strlen(s->line), &is_progress, &err);

        if ((result == 0) != (s->error == NULL))
            fail_msg("%s: %d, %s", s->line, result, err.text);
        if (s->error && !strstr(err.text, s->error))
            fail_msg("%s: '%s' does not say '%s'", s->line, err.text, s->error);
        assert_int_equal(is_progress, s->is_progress);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(judges_each_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
