/* SPDX-License-Identifier: Apache-2.0 */
/* test_threshold.c - the checks that a run spec may ask for, and what is said of others
 */
#include "common/base/json_util.h"
#include "common/spec/threshold.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

/* The faults of a spec with such thresholds and the rest of it, as text. */
static char *faults_of(const char *thresholds, const char *rest)
{
    struct problems problems;
    struct run_spec *spec;
    char text[4096], *said;

    snprintf(text, sizeof(text), "{\"thresholds\":%s%s}", thresholds, rest);
    spec = spec_parse(text, &problems);
    assert_int_equal(spec == NULL, problems.count > 0);
    said = json_text(problems.errors);
    run_spec_destroy(spec);
    problems_release(&problems);
    return said;
}

TEST(each_figure_has_its_bounds)
{
    static const char *const good[][2] = {
        {"{}", ""},
        {"{\"a\":{\"figure\":\"busbw_gbs\",\"min\":1}}", ""},
        {"{\"a\":{\"figure\":\"algbw_gbs\",\"min\":1,\"max\":1.5}}", ""},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":9,\"size\":\"64K\"},"
         "\"b\":{\"figure\":\"time_us\",\"max\":9,\"sizes\":{\"min\":8}}}",
         ""},
        {"{\"a\":{\"figure\":\"dip_percent\",\"max\":0,\"sizes\":{\"max\":\"1M\"},"
         "\"in_place\":true}}",
         ""},
        {"{\"a\":{\"figure\":\"busbw_gbs\",\"min\":1,\"collective\":\"broadcast\","
         "\"dtype\":\"float32\"}}",
         ",\"collectives\":[\"broadcast\"]"},
        {"{\"a\":{\"figure\":\"ranks\",\"min\":8,\"max\":8}}",
         ",\"program\":{\"name\":\"x\"}"},
        {"{\"a\":{\"figure\":\"wrong\"}}", ""},
        {"{\"a\":{\"figure\":\"metric\",\"metric\":\"loss\",\"min\":-1,\"use\":\"last\"}"
         "}",
         ",\"program\":{\"name\":\"x\"}"},
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        char *said = faults_of(good[i][0], good[i][1]);

        if (strcmp(said, "[]") != 0)
            fail_msg("%s: %s", good[i][0], said);
        free(said);
    }
}

TEST(what_is_wrong_is_said_with_its_place)
{
    static const struct {
        const char *thresholds, *rest, *pointer, *words;
    } bad[] = {
        {"[]", "", "/thresholds", "an object of at most 32 checks"},
        {"{\"a\":1}", "", "/thresholds/a", "an object with a figure"},
        {"{\"\":{\"figure\":\"wrong\"}}", "", "/thresholds/", "1 to 64 bytes"},
        {"{\"completed\":{\"figure\":\"wrong\"}}", "", "/thresholds/completed",
         "name of a built-in check"},
        {"{\"a\\u202e\":{\"figure\":\"wrong\"}}", "", "/thresholds/a", "U+202E"},
        {"{\"a/b\":{\"max\":1}}", "", "/thresholds/a~1b/figure", "required"},
        {"{\"a\":{\"figure\":\"speed\",\"max\":1}}", "", "/thresholds/a/figure",
         "time_us, algbw_gbs, busbw_gbs, dip_percent"},
        {"{\"a\":{\"figure\":\"wrong\",\"most\":1}}", "", "/thresholds/a/most",
         "figure, min, max"},
        {"{\"a\":{\"figure\":\"busbw_gbs\"}}", "", "/thresholds/a", "min, max or both"},
        {"{\"a\":{\"figure\":\"dip_percent\"}}", "", "/thresholds/a",
         "needs a bound: max"},
        {"{\"a\":{\"figure\":\"dip_percent\",\"min\":1,\"max\":2}}", "",
         "/thresholds/a/min", "does not apply to the figure dip_percent"},
        {"{\"a\":{\"figure\":\"time_us\",\"min\":3,\"max\":2}}", "", "/thresholds/a",
         "min must not be above max"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":-2}}", "", "/thresholds/a",
         "never below 0"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":\"2\"}}", "", "/thresholds/a/max",
         "must be a number, not a string"},
        {"{\"a\":{\"figure\":\"ranks\",\"min\":1,\"size\":8}}", "", "/thresholds/a/size",
         "figure ranks"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"size\":8,\"sizes\":{\"min\":8}}}",
         "", "/thresholds/a", "one of them"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"sizes\":{\"min\":64,\"max\":8}}}",
         "", "/thresholds/a", "sizes: min"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"sizes\":{\"least\":64}}}", "",
         "/thresholds/a/sizes/least", "min, max"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"band\":\"large\"}}", "",
         "/thresholds/a/band", "latency, middle, bandwidth"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"size\":8,\"band\":\"latency\"}}", "",
         "/thresholds/a", "one of them"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"size\":9}}", "", "/thresholds/a",
         "that this run measures"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"sizes\":{\"min\":\"1G\"}}}", "",
         "/thresholds/a", "that this run measures"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"collective\":\"reduce\"}}", "",
         "/thresholds/a/collective", "not measured"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"collective\":\"none\"}}", "",
         "/thresholds/a/collective", "the name of a collective"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"dtype\":\"int8\"}}", "",
         "/thresholds/a/dtype", "not measured"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"redop\":\"max\"}}", "",
         "/thresholds/a/redop", "not measured"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"in_place\":true}}",
         ",\"in_place\":false", "/thresholds/a/in_place", "not measured"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1,\"in_place\":\"both\"}}", "",
         "/thresholds/a/in_place", "true or false"},
        {"{\"a\":{\"figure\":\"time_us\",\"max\":1}}", ",\"program\":{\"name\":\"x\"}",
         "/thresholds/a/figure", "applies to collectives"},
        {"{\"a\":{\"figure\":\"wrong\"}}", ",\"program\":{\"name\":\"x\"}",
         "/thresholds/a/figure", "applies to collectives"},
        {"{\"a\":{\"figure\":\"wrong\"}}", ",\"check\":0", "/thresholds/a/figure",
         "check is 0"},
        {"{\"a\":{\"figure\":\"metric\",\"metric\":\"x\",\"max\":1}}", "",
         "/thresholds/a/figure", "applies to programs"},
        {"{\"a\":{\"figure\":\"metric\",\"max\":1}}", ",\"program\":{\"name\":\"x\"}",
         "/thresholds/a", "the name of its metric"},
        {"{\"a\":{\"figure\":\"metric\",\"metric\":7,\"max\":1}}",
         ",\"program\":{\"name\":\"x\"}", "/thresholds/a/metric", "must be a string"},
        {"{\"a\":{\"figure\":\"metric\",\"metric\":\"x\",\"max\":1,\"use\":\"p99\"}}",
         ",\"program\":{\"name\":\"x\"}", "/thresholds/a/use", "median, mean, min"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *said = faults_of(bad[i].thresholds, bad[i].rest), quoted[200];

        snprintf(quoted, sizeof(quoted), "\"pointer\":\"%s%s", bad[i].pointer,
                 strstr(bad[i].words, "U+") ? "" : "\"");
        if (!strstr(said, quoted) || !strstr(said, bad[i].words))
            fail_msg("%s: %s, not %s %s", bad[i].thresholds, said, bad[i].pointer,
                     bad[i].words);
        free(said);
    }
}

TEST(there_are_at_most_32)
{
    json_t *many = json_object();
    char *text, *said;

    for (int i = 0; i < 33; i++) {
        char name[8];

        snprintf(name, sizeof(name), "%d", i);
        json_object_set_new(many, name, json_pack("{s:s}", "figure", "wrong"));
    }
    text = json_text(many);
    said = faults_of(text, "");
    assert_non_null(strstr(said, "at most 32"));
    free(said);
    free(text);
    json_decref(many);
}
