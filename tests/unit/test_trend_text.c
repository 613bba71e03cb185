/* SPDX-License-Identifier: Apache-2.0 */
/* test_trend_text.c - a page of a trend for a terminal */
#include "server/render/trend_text.h"
#include "tests/unit/test.h"

TEST(a_change_that_is_none_has_no_minus)
{
    static const struct {
        double change;
        const char *shown;
    } cases[] = {{-0.0004, " +0.0 % "}, {-0.0006, " -0.1 % "}, {0.1234, " +12 % "}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *answer = json_pack("{s:{}, s:[], s:[{s:s, s:f}]}", "figure", "changes",
                                   "points", "run", "r1", "change", cases[i].change);
        struct buf out;

        buf_init(&out, 4096);
        assert_int_equal(trend_write(answer, FORM_TEXT, &out), 0);
        if (!strstr(out.data, cases[i].shown))
            fail_msg("not '%s' in:\n%s", cases[i].shown, out.data);
        buf_release(&out);
        json_decref(answer);
    }
}
