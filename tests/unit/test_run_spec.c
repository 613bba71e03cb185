/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_spec.c - what a run may ask for, and what is said of the rest */
#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

TEST(an_empty_object_asks_for_the_defaults)
{
    struct run_spec *spec = spec_of("{}");

    assert_string_equal(spec->name, "");
    assert_string_equal(spec->backend, "auto");
    assert_int_equal(spec->n_collectives, 1);
    assert_int_equal(spec->collectives[0], COLLECTIVE_ALL_REDUCE);
    assert_int_equal(spec->n_dtypes, 1);
    assert_int_equal(spec->dtypes[0], DTYPE_FLOAT32);
    assert_int_equal(spec->n_redops, 1);
    assert_int_equal(spec->redops[0], REDOP_SUM);
    assert_int_equal(spec->n_sizes, 25); /* 8 B to 128 MiB by doubling */
    assert_true(spec->sizes[0] == 8 && spec->sizes[24] == UINT64_C(128) << 20);
    assert_true(spec->in_place && spec->out_of_place);
    assert_int_equal(spec->iters, 0); /* auto */
    assert_true(spec->block_ms == 2 && spec->samples.rel == 0.02);
    assert_true(spec->samples.max_s == 0.1);
    assert_int_equal(spec->samples.min, 8);
    assert_int_equal(spec->samples.max, 100);
    assert_int_equal(spec->warmup, 5);
    assert_int_equal(spec->agg_iters, 1);
    assert_int_equal(spec->check, 1);
    assert_int_equal(spec->repeats, 1);
    assert_int_equal(spec->timing, TIMING_THROUGHPUT);
    assert_int_equal(spec->nodes.count, 0);
    assert_int_equal(spec->nodes.wait_s, 30);
    assert_int_equal(spec->ranks_per_node, 0);
    assert_int_equal(spec->timeout_s, 600);
    assert_int_equal(spec->stall_s, 30);
    assert_null(spec->nodes.names);
    assert_null(spec->fault);
    run_spec_destroy(spec);
    run_spec_destroy(NULL);
}

static const char full[] =
    "{\"name\":\"n\xc3\xbc\",\"labels\":{\"ticket\":\"NET-12\"},\"priority\":-5,"
    "\"backend\":\"host\",\"collectives\":[\"sendrecv\",\"all_gather\"],"
    "\"sizes\":[8,\"1K\",\"1.5M\"],\"dtypes\":[\"int8\",\"float8e5m2\"],"
    "\"redops\":[\"avg\",\"min\"],\"root\":-1,\"in_place\":true,\"iters\":1,\"warmup\":0,"
    "\"agg_iters\":2,\"check\":0,\"timing\":\"isolated\",\"repeats\":3,"
    "\"nodes\":{\"names\":[\"a\",\"b\"],\"group\":\"slurm-1\",\"labels\":{\"k\":\"v\"},"
    "\"wait_s\":0},\"ranks_per_node\":2,\"env\":{\"NCCL_DEBUG\":\"INFO\"},\"share\":true,"
    "\"fault\":{\"rank\":1},\"timeout_s\":10,\"stall_s\":3,\"join_s\":4}";

TEST(every_field_is_read)
{
    struct run_spec *spec = spec_of(full);

    assert_string_equal(spec->name, "n\xc3\xbc");
    assert_string_equal(json_get_str(spec->labels, "ticket", ""), "NET-12");
    assert_int_equal(spec->priority, -5);
    assert_string_equal(spec->backend, "host");
    assert_int_equal(spec->n_collectives, 2);
    assert_int_equal(spec->collectives[0], COLLECTIVE_SENDRECV);
    assert_int_equal(spec->collectives[1], COLLECTIVE_ALL_GATHER);
    assert_int_equal(spec->n_sizes, 3);
    assert_true(spec->sizes[2] == 1572864);
    assert_int_equal(spec->dtypes[1], DTYPE_FLOAT8E5M2);
    assert_int_equal(spec->redops[0], REDOP_AVG);
    assert_int_equal(spec->root, -1);
    assert_true(spec->in_place && !spec->out_of_place);
    assert_int_equal(spec->iters, 1);
    assert_int_equal(spec->warmup, 0);
    assert_int_equal(spec->agg_iters, 2);
    assert_int_equal(spec->check, 0);
    assert_int_equal(spec->timing, TIMING_ISOLATED);
    assert_int_equal(spec->repeats, 3);
    assert_int_equal(json_array_size(spec->nodes.names), 2);
    assert_string_equal(spec->nodes.group, "slurm-1");
    assert_int_equal(spec->nodes.wait_s, 0);
    assert_int_equal(spec->ranks_per_node, 2);
    assert_string_equal(json_get_str(spec->env, "NCCL_DEBUG", ""), "INFO");
    assert_true(spec->share);
    assert_int_equal(json_get_int(spec->fault, "rank", 0), 1);
    assert_int_equal(spec->timeout_s, 10);
    assert_int_equal(spec->stall_s, 3);
    assert_int_equal(spec->join_s, 4);
    run_spec_destroy(spec);
}

TEST(sizes_expand)
{
    static const struct {
        const char *sizes;
        size_t n;
        uint64_t first, last;
    } cases[] = {
        {"{}", 25, 8, UINT64_C(128) << 20},
        {"{\"min\":\"8\",\"max\":\"128M\",\"factor\":2}", 25, 8, UINT64_C(128) << 20},
        {"{\"min\":\"1K\"}", 18, 1024, UINT64_C(128) << 20},
        {"{\"max\":\"1K\"}", 8, 8, 1024},
        {"{\"min\":8,\"max\":8}", 1, 8, 8},
        {"{\"min\":3,\"max\":100,\"factor\":10}", 2, 3, 30},
        {"{\"min\":1,\"max\":\"1T\"}", 41, 1, UINT64_C(1) << 40},
        {"{\"min\":\"1T\",\"max\":\"1T\",\"factor\":1024}", 1, UINT64_C(1) << 40,
         UINT64_C(1) << 40},
        {"{\"min\":10,\"max\":30,\"step\":10}", 3, 10, 30},
        {"{\"min\":10,\"max\":39,\"step\":\"10\"}", 3, 10, 30},
        {"{\"min\":1,\"max\":4096,\"step\":1}", 4096, 1, 4096},
        {"[16]", 1, 16, 16},
        {"[\"1M\",8,\"1M\"]", 3, 1 << 20, 1 << 20},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        struct run_spec *spec;

        snprintf(text, sizeof(text), "{\"sizes\":%s}", cases[i].sizes);
        spec = spec_of(text);
        assert_int_equal(spec->n_sizes, cases[i].n);
        assert_true(spec->sizes[0] == cases[i].first);
        assert_true(spec->sizes[spec->n_sizes - 1] == cases[i].last);
        run_spec_destroy(spec);
    }
}

struct fault {
    const char *text, *pointer, *names; /* each sentence is whole in one row */
};

static const struct fault faults[] = {
    {"[]", "", "must be a JSON object; {} selects all defaults"},
    {"null", "", "object {}"},
    {"{\"colectives\":[]}", "/colectives", "unknown field 'colectives'; known are name"},
    {"{\"a/b~c\":1}", "/a~1b~0c", "'a/b~c'"},
    {"{\"\":1}", "/", "''"},
    {"{\"name\":1}", "/name", "must be a string, not an integer"},
    {"{\"name\":null}", "/name", "null"},
    {"{\"name\":\"a\\nb\"}", "/name", "must not contain U+000A"},
    {"{\"labels\":[]}", "/labels", "must be an object of strings, not an array"},
    {"{\"labels\":{\"a\":1}}", "/labels/a", "must be a string of at most 200 bytes"},
    {"{\"labels\":{\"\":\"x\"}}", "/labels/", "a label's name must have 1 to 200 bytes"},
    {"{\"labels\":{\"a\":\"\\u0007\"}}", "/labels/a", "U+0007"},
    {"{\"priority\":1001}", "/priority", "must be from -1000 to 1000, not 1001"},
    {"{\"backend\":\"no name\"}", "/backend",
     "must be auto, nccl, host, sim, "
     "or the name of another worker that the nodes offer"},
    {"{\"pattern\":\"bisect\"}", "/pattern", "bisect pairs"},
    {"{\"pattern\":\"ring\"}", "/pattern", "all, pairs, scaling"},
    {"{\"backend\":7}", "/backend", "string"},
    {"{\"collectives\":[]}", "/collectives", "must be an array of at least one name"},
    {"{\"collectives\":\"all_reduce\"}", "/collectives", "must be an array"},
    {"{\"collectives\":[\"allreduce\"]}", "/collectives/0", "all_reduce, "},
    {"{\"collectives\":[\"reduce\",\"reduce\"]}", "/collectives/1", "is listed twice"},
    {"{\"collectives\":[\"reduce\",null]}", "/collectives/1", "must be one of"},
    {"{\"dtypes\":[\"float\"]}", "/dtypes/0", "int8, uint8, int32"},
    {"{\"redops\":[\"mean\"]}", "/redops/0", "sum, prod, min, max, avg, mulsum"},
    {"{\"root\":-2}", "/root", "-1 1048576 -2"},
    {"{\"root\":1.0}", "/root", "-1 1048576"},
    {"{\"in_place\":\"yes\"}", "/in_place", "must be \"both\", true or false"},
    {"{\"in_place\":1}", "/in_place", "\"both\""},
    {"{\"host\":{\"sockets\":0}}", "/host/sockets", "1 8 0"},
    {"{\"host\":{\"sockets\":\"many\"}}", "/host/sockets",
     "must be \"auto\" or an integer from 1 to 8"},
    {"{\"host\":{\"threads\":2}}", "/host/threads", "sockets"},
    {"{\"iters\":0}", "/iters", "1 1000000 0"},
    {"{\"iters\":\"20\"}", "/iters", "\"auto\" 1 1000000"},
    {"{\"block_ms\":0}", "/block_ms", "0.01 10000 0"},
    {"{\"block_ms\":\"2\"}", "/block_ms", "0.01 10000"},
    {"{\"samples\":20}", "/samples", "must be an object, not an integer"},
    {"{\"samples\":{\"min\":101}}", "/samples/min", "must not be above max, 100"},
    {"{\"samples\":{\"rel\":2}}", "/samples/rel", "0.0001 1 2"},
    {"{\"samples\":{\"s\":2}}", "/samples/s", "min, max, rel, max_s"},
    {"{\"iters\":9223372036854775807}", "/iters", "not 9223372036854775807"},
    {"{\"warmup\":-1}", "/warmup", "0 1000000"},
    {"{\"agg_iters\":0}", "/agg_iters", "1 10000"},
    {"{\"check\":true}", "/check", "0 100"},
    {"{\"check\":101}", "/check", "0 100 101"},
    {"{\"timing\":\"fast\"}", "/timing", "throughput, isolated"},
    {"{\"repeats\":1001}", "/repeats", "1 1000"},
    {"{\"ranks_per_node\":0}", "/ranks_per_node", "1 4096 0"},
    {"{\"ranks_per_node\":\"8\"}", "/ranks_per_node", "\"all\" or an integer"},
    {"{\"env\":[]}", "/env", "must be an object of at most 64 strings"},
    {"{\"env\":{\"LD_PRELOAD\":\"x\"}}", "/env/LD_PRELOAD", "LD_PRELOAD is not among"},
    {"{\"env\":{\"NCCL_DEBUG\":1}}", "/env/NCCL_DEBUG",
     "must be a string: \"1\", in quotes"},
    {"{\"env\":{\"NCCL_DEBUG\":true}}", "/env/NCCL_DEBUG", "string boolean"},
    {"{\"matrix\":{\"NCCL_P2P_DISABLE\":[0]}}", "/matrix/NCCL_P2P_DISABLE/0", "\"0\""},
    {"{\"share\":\"no\"}", "/share", "must be true or false"},
    {"{\"fault\":true}", "/fault", "object"},
    {"{\"timeout_s\":0}", "/timeout_s", "1 2592000"},
    {"{\"join_s\":2}", "/join_s", "3 86400 2"},
    {"{\"stall_s\":2}", "/stall_s", "3 86400 2"},
    /* sizes */
    {"{\"sizes\":\"8\"}", "/sizes", "or a list of sizes, not a string"},
    {"{\"sizes\":[]}", "/sizes", "must list at least one size"},
    {"{\"sizes\":[8,0]}", "/sizes/1", "must be a size"},
    {"{\"sizes\":[8,-8]}", "/sizes/1", "size"},
    {"{\"sizes\":[8,8.5]}", "/sizes/1", "size"},
    {"{\"sizes\":[\"0\"]}", "/sizes/0", "must be from 1 byte to 1T"},
    {"{\"sizes\":[\"2T\"]}", "/sizes/0", "1T"},
    {"{\"sizes\":[9223372036854775807]}", "/sizes/0", "1T"},
    {"{\"sizes\":[\"64Q\"]}", "/sizes/0", "'64Q'"},
    {"{\"sizes\":{\"mn\":8}}", "/sizes/mn", "'mn' min, max, factor"},
    {"{\"sizes\":{\"min\":null}}", "/sizes/min", "size"},
    {"{\"sizes\":{\"min\":\"2K\",\"max\":\"1K\"}}", "/sizes/min",
     "not be above max (1024)"},
    {"{\"sizes\":{\"factor\":1}}", "/sizes/factor", "2 1024 1"},
    {"{\"sizes\":{\"factor\":2,\"step\":8}}", "/sizes",
     "either factor or step, not both"},
    {"{\"sizes\":{\"step\":0}}", "/sizes/step", "size"},
    {"{\"sizes\":{\"step\":1}}", "/sizes/step", "must give at most 4096 sizes"},
    /* nodes */
    {"{\"nodes\":4}", "/nodes",
     "such as {\"count\": 4} or {\"names\": [...]}, not an integer"},
    {"{\"nodes\":{\"cnt\":4}}", "/nodes/cnt", "'cnt' count, names"},
    {"{\"nodes\":{\"count\":0}}", "/nodes/count", "1 100000 0"},
    {"{\"nodes\":{\"count\":2,\"min\":1}}", "/nodes",
     "give either count, or min and max"},
    {"{\"nodes\":{\"min\":3,\"max\":2}}", "/nodes/min", "max"},
    {"{\"nodes\":{\"names\":[]}}", "/nodes/names", "an array of 1 to 4096 node names"},
    {"{\"nodes\":{\"names\":[\"a\",\"\"]}}", "/nodes/names/1", "1 to 253 bytes"},
    {"{\"nodes\":{\"names\":[7]}}", "/nodes/names/0", "must be a node's name"},
    {"{\"nodes\":{\"names\":[\"a\",\"b\",\"a\"]}}", "/nodes/names/2", "a twice"},
    {"{\"nodes\":{\"names\":[\"a\"],\"count\":2}}", "/nodes/count", "is 2, but 1 names"},
    {"{\"nodes\":{\"group\":[]}}", "/nodes/group", "string array"},
    {"{\"nodes\":{\"labels\":7}}", "/nodes/labels", "object strings"},
    {"{\"nodes\":{\"wait_s\":-1}}", "/nodes/wait_s", "0 604800"},
};

static void expect_fault(const char *text, const char *pointer, const char *names)
{
    struct problems problems;
    struct run_spec *spec = spec_parse(text, &problems);
    const json_t *first = json_array_get(problems.errors, 0);

    if (spec)
        fail_msg("accepted: %.200s", text);
    if (problems.count != 1 ||
        strcmp(json_get_str(first, "pointer", "?"), pointer) != 0 ||
        !mentions(json_get_str(first, "detail", "?"), names)) {
        char *said = json_text(problems.errors);

        fail_msg("%.200s: %s", text, said);
    }
    problems_release(&problems);
}

TEST(each_fault_is_named_by_pointer_and_names)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        expect_fault(faults[i].text, faults[i].pointer, faults[i].names);
}

/* "before" n times `unit` "after". */
static char *repeat(const char *before, const char *unit, size_t n, const char *after)
{
    struct buf buf;

    buf_init(&buf, 16 << 20);
    assert_int_equal(buf_append_str(&buf, before), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(buf_append_str(&buf, unit), 0);
    assert_int_equal(buf_append_str(&buf, after), 0);
    return buf_detach(&buf, NULL);
}

TEST(lengths_are_limited)
{
    static const struct {
        const char *before, *unit;
        size_t most;
        const char *after, *pointer, *names;
    } cases[] = {
        {"{\"name\":\"", "x", 200, "\"}", "/name", "must be at most 200 bytes, not 201"},
        {"{\"labels\":{\"a\":\"", "x", 200, "\"}}", "/labels/a", "200 bytes"},
        {"{\"env\":{\"NCCL_A\":\"", "x", 4096, "\"}}", "/env/NCCL_A", "4096 bytes"},
        {"{\"nodes\":{\"group\":\"", "x", 253, "\"}}", "/nodes/group", "253 bytes"},
        {"{\"nodes\":{\"names\":[\"", "x", 253, "\"]}}", "/nodes/names/0", "1 253"},
        {"{\"sizes\":[8", ",8", 4095, "]}", "/sizes", "4096"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *most =
            repeat(cases[i].before, cases[i].unit, cases[i].most, cases[i].after);
        char *more =
            repeat(cases[i].before, cases[i].unit, cases[i].most + 1, cases[i].after);

        run_spec_destroy(spec_of(most));
        expect_fault(more, cases[i].pointer, cases[i].names);
        free(most);
        free(more);
    }
}

/* {"KEY": {"PREFIX0":"v","PREFIX1":"v",...}} with n members. */
static char *many_members(const char *key, const char *prefix, int n)
{
    struct buf buf;

    buf_init(&buf, 1 << 20);
    buf_printf(&buf, "{\"%s\":{", key);
    for (int i = 0; i < n; i++)
        buf_printf(&buf, "%s\"%s%d\":\"v\"", i ? "," : "", prefix, i);
    buf_printf(&buf, "}}");
    return buf_detach(&buf, NULL);
}

TEST(numbers_of_members_are_limited)
{
    char *text;

    text = many_members("labels", "k", 32);
    run_spec_destroy(spec_of(text));
    free(text);
    text = many_members("labels", "k", 33);
    expect_fault(text, "/labels", "must have at most 32 labels, not 33");
    free(text);
    text = many_members("env", "NCCL_K", 64);
    run_spec_destroy(spec_of(text));
    free(text);
    text = many_members("env", "NCCL_K", 65);
    expect_fault(text, "/env", "64");
    free(text);
}

TEST(all_faults_are_told_at_once)
{
    struct problems problems;

    assert_null(spec_parse("{\"iters\":0,\"x\":1,\"sizes\":{\"min\":-1,\"max\":[]},"
                           "\"nodes\":{\"count\":-1,\"wait_s\":\"\"},\"name\":{}}",
                           &problems));
    assert_int_equal(problems.count, 7);
    assert_int_equal(json_array_size(problems.errors), 7);
    problems_release(&problems);
}

TEST(at_most_fifty_faults_are_listed)
{
    char *text = many_members("sizes", "k", 1000);
    struct problems problems;

    assert_null(spec_parse(text, &problems));
    assert_int_equal(problems.count, 1000);
    assert_int_equal(json_array_size(problems.errors), PROBLEMS_MAX);
    problems_release(&problems);
    free(text);
}

TEST(a_fault_with_long_foreign_names_is_still_listed)
{
    char *name = repeat("{\"x", "\xe2\x82\xac", 1000, "\":1}");
    char *node =
        repeat("{\"nodes\":{\"names\":[\"a\",\"a\",\"", "\xe2\x82\xac", 500, "\"]}}");
    char *label = repeat("{\"labels\":{\"x", "\xe2\x82\xac", 500, "\":1}}");
    char *texts[] = {name, node, label};

    for (size_t i = 0; i < 3; i++) {
        struct problems problems;

        assert_null(spec_parse(texts[i], &problems));
        assert_true(problems.count > 0);
        assert_int_equal(json_array_size(problems.errors), problems.count);
        problems_release(&problems);
        free(texts[i]);
    }
}

static void parse_gives_its_own_json_back(const char *text)
{
    struct run_spec *first = spec_of(text), *second;
    json_t *shown = run_spec_to_json(first), *again;
    char *effective = json_text(shown);

    second = spec_of(effective);
    again = run_spec_to_json(second);
    if (!json_equal(shown, again))
        fail_msg("%s became something else", effective);
    free(effective);
    json_decref(shown);
    json_decref(again);
    run_spec_destroy(first);
    run_spec_destroy(second);
}

TEST(the_effective_spec_is_a_fixed_point)
{
    parse_gives_its_own_json_back("{}");
    parse_gives_its_own_json_back(full);
    parse_gives_its_own_json_back("{\"in_place\":false,\"nodes\":{\"min\":2,\"max\":9}}");
    parse_gives_its_own_json_back("{\"sizes\":{\"min\":1,\"max\":4096,\"step\":1}}");
    parse_gives_its_own_json_back(
        "{\"backend\":\"nccl\",\"split\":{\"by\":\"mod\",\"value\":2},"
        "\"collectives\":[\"alltoallv\"],\"traffic\":{\"spread\":0.25},"
        "\"devices\":[3,1],\"nccl_lib\":\"/opt/libnccl.so.2\"}");
    parse_gives_its_own_json_back(
        "{\"iters\":\"auto\",\"block_ms\":0.5,\"samples\":{\"min\":5,\"rel\":0.01,"
        "\"max_s\":3}}");
    parse_gives_its_own_json_back(
        "{\"collectives\":[\"alltoallv\"],\"sizes\":[64],\"split\":\"local_rank\","
        "\"traffic\":{\"matrix\":[[0,16],[32,0]]},\"devices\":{\"n\":[0]},"
        "\"matrix\":{\"nccl_lib\":[\"/a/libnccl.so.2\",null]}}");
}

TEST(the_case_file_has_what_a_worker_needs)
{
    static const char *const keys[] = {"collectives", "dtypes",   "redops",   "sizes",
                                       "root",        "iters",    "in_place", "warmup",
                                       "agg_iters",   "check",    "timing",   "stall_s",
                                       "fault",       "block_ms", "samples"};
    struct run_spec *spec = spec_of(full);
    json_t *file = run_spec_case_json(spec);

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!json_object_get(file, keys[i]))
            fail_msg("no %s", keys[i]);
    assert_int_equal(json_array_size(json_object_get(file, "sizes")), 3);
    assert_true(json_is_true(json_object_get(file, "in_place")));
    json_decref(file);
    run_spec_destroy(spec);
    spec = spec_of("{}");
    file = run_spec_case_json(spec);
    assert_string_equal(json_get_str(file, "in_place", ""), "both");
    assert_null(json_object_get(file, "fault"));
    json_decref(file);
    run_spec_destroy(spec);
}

/* Any value in the place of any field is accepted or refused, and never breaks. */
TEST(odd_values_in_every_place_do_no_harm)
{
    static const char *const fields[] = {"name",    "labels",      "priority",
                                         "backend", "collectives", "sizes",
                                         "dtypes",  "redops",      "root",
                                         "iters",   "in_place",    "warmup",
                                         "check",   "agg_iters",   "timing",
                                         "repeats", "nodes",       "ranks_per_node",
                                         "env",     "share",       "fault",
                                         "stall_s", "timeout_s",   "block_ms",
                                         "samples", "background",  "avoid_suspects",
                                         "odd"};
    static const char *const values[] = {
        "null",
        "true",
        "-1",
        "0",
        "1e300",
        "9223372036854775807",
        "-9223372036854775808",
        "\"\"",
        "\"\\u2028\"",
        "[]",
        "{}",
        "[[[]]]",
        "[null]",
        "[{}]",
        "[\"all_reduce\"]",
        "{\"a\":{\"b\":[]}}",
        "{\"min\":1,\"max\":1,\"step\":1,\"factor\":2}",
        "{\"names\":[null,[],\"\"],\"labels\":{\"\":null}}",
        "{\"\":\"\"}",
        "{\"NCCL_X\":null}",
        "[1,\"1\",1.5,true,null,{},[]]"};
    char text[256];

    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            struct problems problems;
            struct run_spec *spec;

            snprintf(text, sizeof(text), "{\"%s\":%s}", fields[f], values[v]);
            spec = spec_parse(text, &problems);
            assert_true((spec != NULL) == (problems.count == 0));
            assert_true(json_array_size(problems.errors) == problems.count);
            run_spec_destroy(spec);
            problems_release(&problems);
        }
    }
}

TEST(ten_thousand_of_anything_is_refused_quickly)
{
    static const char *const befores[] = {
        "{\"collectives\":[\"reduce\"",      "{\"dtypes\":[0", "{\"sizes\":[8",
        "{\"nodes\":{\"names\":[\"reduce\"", "{\"labels\":[0", "[0"};
    static const char *const afters[] = {"]}", "]}", "]}", "]}}", "]}", "]"};

    for (size_t i = 0; i < sizeof(befores) / sizeof(befores[0]); i++) {
        char *text = repeat(befores[i], ",\"reduce\"", 10000, afters[i]);
        struct problems problems;

        assert_null(spec_parse(text, &problems));
        assert_true(problems.count >= 1);
        problems_release(&problems);
        free(text);
    }
}
