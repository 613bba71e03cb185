/* SPDX-License-Identifier: Apache-2.0 */
/* spec_fixture.h - JSON and run specs from the text of a test */
#ifndef RINGBENCH_TESTS_UNIT_SPEC_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_SPEC_FIXTURE_H

#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "tests/unit/test.h"

/* The caller drops it. */
static inline json_t *json_of(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);

    if (!value)
        fail_msg("%s: %s", error.text, text);
    return value;
}

/* NULL where there are problems, which the caller releases. */
static inline struct run_spec *spec_parse(const char *text, struct problems *problems)
{
    json_t *body = json_of(text);
    struct run_spec *spec;

    problems_init(problems);
    spec = run_spec_parse(body, problems);
    json_decref(body);
    return spec;
}

/* A spec that has no problem. */
static inline struct run_spec *spec_of(const char *text)
{
    struct problems problems;
    struct run_spec *spec = spec_parse(text, &problems);

    if (!spec || problems.count)
        fail_msg("%s: %s", text, json_text(problems.errors));
    problems_release(&problems);
    return spec;
}

#endif
