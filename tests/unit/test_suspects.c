/* test_suspects.c - which nodes a verdict names */
#include "server/analysis/suspects.h"
#include "tests/unit/test.h"

TEST(only_whom_a_verdict_blames_is_named)
{
    static const char *const cases[][2] = {
        {"{'kind':'culprit','answer':'slow_link','sentence':'x','evidence':{'suspects':["
         "{'state':'cleared','nodes':['c']},{'state':'guilty','nodes':['a','b']}]}}",
         "[{'kind':'culprit','answer':'slow_link','sentence':'x','nodes':['a','b']}]"},
        {"{'kind':'culprit','answer':'none','sentence':'x','evidence':{'suspects':[]}}",
         "[{'kind':'culprit','answer':'none','sentence':'x','nodes':[]}]"},
        {"{'kind':'culprit','answer':'not_enough_data','sentence':'x','evidence':{"
         "'suspects':[{'state':'open','nodes':['a']}]}}",
         "[]"},
        {"{'kind':'lateness','answer':'late_rank','sentence':'x','evidence':{'delays':["
         "{'node':'a','late':true},{'node':'a','late':true},{'node':'b','late':false}]}}",
         "[{'kind':'lateness','answer':'late_rank','sentence':'x','nodes':['a']}]"},
        {"{'kind':'lateness','answer':'none','sentence':'x','evidence':{'delays':[]}}",
         "[]"},
        {"{'kind':'gate','answer':'fail','sentence':'x','evidence':{}}", "[]"},
        {"null", "[]"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *both[2], *suspects = json_array();

        for (int k = 0; k < 2; k++) {
            char text[400], *at = text;

            for (const char *c = cases[i][k]; *c; c++)
                *at++ = *c == '\'' ? '"' : *c;
            *at = '\0';
            both[k] = json_loads(text, JSON_DECODE_ANY, NULL);
            assert_non_null(both[k]);
        }
        suspects_add(suspects, both[0]);
        assert_true(json_equal(suspects, both[1]));
        json_decref(suspects);
        json_decref(both[0]);
        json_decref(both[1]);
    }
    suspects_add(NULL, NULL);
}
