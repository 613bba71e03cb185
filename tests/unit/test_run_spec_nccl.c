/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_spec_nccl.c - what a run may ask of the NCCL backend alone */
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

TEST(options_reach_the_workers)
{
    static const char text[] =
        "{\"nccl\":{\"registration\":\"symmetric\",\"cta_policy\":\"zero\"}}";
    struct problems problems;
    struct run_spec *spec = spec_parse(text, &problems);

    assert_non_null(spec);
    json_t *file = run_spec_case_json(spec), *effective = run_spec_to_json(spec);
    assert_string_equal(json_get_str(json_object_get(file, "nccl"), "registration", ""),
                        "symmetric");
    assert_true(
        json_equal(json_object_get(file, "nccl"), json_object_get(effective, "nccl")));
    json_decref(file);
    json_decref(effective);
    run_spec_destroy(spec);
    problems_release(&problems);
}

TEST(what_shapes_the_timed_loop_reaches_the_workers)
{
    static const char text[] =
        "{\"cycles\":3,\"blocking\":2,\"unalign\":5,\"per_iter\":true,"
        "\"nccl\":{\"graph\":0}}";
    struct problems problems;
    struct run_spec *spec = spec_parse(text, &problems);

    assert_non_null(spec);
    json_t *both[] = {run_spec_case_json(spec), run_spec_to_json(spec)};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(json_get_int(both[i], "cycles", 0), 3);
        assert_int_equal(json_get_int(both[i], "blocking", 0), 2);
        assert_int_equal(json_get_int(both[i], "unalign", 0), 5);
        assert_true(json_get_bool(both[i], "per_iter", false));
        json_decref(both[i]);
    }
    run_spec_destroy(spec);
    problems_release(&problems);
}

TEST(without_options_nothing_is_said)
{
    struct problems problems;
    struct run_spec *spec = spec_parse("{}", &problems);
    json_t *file = run_spec_case_json(spec);

    assert_null(json_object_get(file, "nccl"));
    json_decref(file);
    run_spec_destroy(spec);
    problems_release(&problems);
}

TEST(wrong_options_are_named)
{
    static const struct {
        const char *text, *pointer, *names; /* each sentence is whole in one row */
    } cases[] = {
        {"{\"nccl\":[]}", "/nccl", "object array"},
        {"{\"nccl\":{\"graphs\":1}}", "/nccl/graphs",
         "'graphs' registration, cta_policy, stream, graph"},
        {"{\"nccl\":{\"graph\":\"1\"}}", "/nccl/graph", "0 1000000 string"},
        {"{\"nccl\":{\"graph\":-1}}", "/nccl/graph", "0 1000000 -1"},
        {"{\"nccl\":{\"graph\":2},\"timing\":\"isolated\"}", "/nccl/graph",
         "applies only to timing throughput: a graph's calls are not timed one by one"},
        {"{\"nccl\":{\"graph\":2},\"blocking\":2}", "/nccl/graph",
         "cannot be combined with blocking: no call can be awaited during capture"},
        {"{\"nccl\":{\"graph\":2,\"stream\":\"null\"}}", "/nccl/graph",
         "cannot be combined with stream null, which CUDA cannot capture"},
        {"{\"blocking\":1,\"timing\":\"isolated\"}", "/blocking",
         "applies only to timing throughput: isolated waits and has a barrier already"},
        {"{\"per_iter\":1}", "/per_iter", "true false"},
        {"{\"per_iter\":true,\"timing\":\"isolated\"}", "/per_iter",
         "applies only to timing throughput: isolated times each iteration anyway"},
        {"{\"per_iter\":true,\"nccl\":{\"graph\":1}}", "/per_iter",
         "cannot be combined with nccl.graph, whose calls are not timed one by one"},
        {"{\"per_iter\":true,\"iters\":50001}", "/per_iter",
         "allows at most 50000 iterations per row, not 50001 (iters, or 20 times "
         "samples.max)"},
        {"{\"per_iter\":true,\"samples\":{\"max\":10000}}", "/per_iter",
         "50000 200000 20 samples.max"},
        {"{\"blocking\":4}", "/blocking", "0 3 4"},
        {"{\"cycles\":0}", "/cycles", "1 10000 0"},
        {"{\"unalign\":-1}", "/unalign", "0 4096 -1"},
        {"{\"nccl\":{\"registration\":1}}", "/nccl/registration",
         "none, local, symmetric"},
        {"{\"nccl\":{\"stream\":\"fast\"}}", "/nccl/stream", "own, null"},
        {"{\"nccl\":{\"cta_policy\":\"\"}}", "/nccl/cta_policy",
         "default, efficiency, zero"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct problems problems;
        assert_null(spec_parse(cases[i].text, &problems));
        assert_int_equal(problems.count, 1);
        const json_t *first = json_array_get(problems.errors, 0);
        assert_string_equal(json_get_str(first, "pointer", ""), cases[i].pointer);
        assert_mentions(json_get_str(first, "detail", ""), cases[i].names);
        problems_release(&problems);
    }
}

/* A backend would ignore what belongs to another. */
TEST(fields_of_another_backend_are_refused)
{
    static const struct {
        const char *fields, *pointer, *of;
    } owned[] = {
        {"\"nccl\":{\"graph\":2}", "/nccl", "nccl"},
        {"\"host\":{\"transport\":\"tcp\"}", "/host", "host"},
        {"\"devices\":[0]", "/devices", "nccl"},
        {"\"nccl_lib\":\"/opt/libnccl.so.2\"", "/nccl_lib", "nccl"},
        {"\"matrix\":{\"nccl_lib\":[\"/a/libnccl.so.2\",null]}", "/matrix/nccl_lib",
         "nccl"},
        {"\"files\":{\"NCCL_TOPO_FILE\":\"<system/>\"}", "/files", "nccl"},
        {"\"topology\":\"dump\"", "/topology", "nccl"},
        {"\"nccl\":{},\"host\":{},\"topology\":\"off\"", NULL, ""},
    };
    static const char *const backends[] = {"auto", "nccl", "host", "sim"};

    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        for (size_t k = 0; k < sizeof(backends) / sizeof(backends[0]); k++) {
            bool is_refused =
                owned[i].pointer && k > 0 && strcmp(backends[k], owned[i].of) != 0;
            struct problems problems;
            char text[200];

            snprintf(text, sizeof(text), "{\"backend\":\"%s\",%s}", backends[k],
                     owned[i].fields);
            struct run_spec *spec = spec_parse(text, &problems);
            if (is_refused != !spec)
                fail_msg("%s: refused is %d", text, !spec);
            if (is_refused) {
                const json_t *error = json_array_get(problems.errors, 0);
                assert_int_equal(problems.count, 1);
                assert_string_equal(json_get_str(error, "pointer", ""), owned[i].pointer);
            }
            run_spec_destroy(spec);
            problems_release(&problems);
        }
    }
}
