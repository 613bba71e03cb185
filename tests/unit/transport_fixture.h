/* SPDX-License-Identifier: Apache-2.0 */
/* transport_fixture.h - what tests of transports compare: ways and verdicts */
#ifndef RINGBENCH_TESTS_UNIT_TRANSPORT_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_TRANSPORT_FIXTURE_H

#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define VERDICTS_MAX 5

/* Each verdict's code, a colon, and names of its sentence, which is whole in one place.
 */
static inline void expect_verdicts(const json_t *folded, const char *const *wanted)
{
    const json_t *verdicts = json_object_get(folded, "verdicts");
    size_t n = json_array_size(verdicts);

    for (size_t i = 0; i < n || (i < VERDICTS_MAX && wanted[i]); i++) {
        const json_t *verdict = json_array_get(verdicts, i);
        char got[1000];

        snprintf(got, sizeof(got), "%s: %s",
                 json_get_str(json_object_get(verdict, "evidence"), "about", ""),
                 json_get_str(verdict, "sentence", "(none)"));
        if (!wanted[i] || !mentions(got, wanted[i]))
            fail_msg("verdict %zu: '%s', wanted '%s'", i, got,
                     wanted[i] ? wanted[i] : "(none)");
    }
}

static inline void expect_ways(const json_t *folded, const char *wanted)
{
    const json_t *ways = json_object_get(folded, "ways");
    char got[2000] = "";

    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *way = json_array_get(ways, i);
        char *pairs = json_dumps(json_object_get(way, "pairs"), JSON_COMPACT);

        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s %s", i ? "; " : "",
                 json_get_str(way, "text", ""), pairs);
        free(pairs);
    }
    assert_string_equal(got, wanted);
}

#endif
