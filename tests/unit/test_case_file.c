/* SPDX-License-Identifier: Apache-2.0 */
/* test_case_file.c - what a worker accepts as its case */
#include "agent/worker/bench/case_file.h"
#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static const char good[] =
    "{\"run\":\"r1\",\"case\":2,\"attempt\":1,\"backend\":\"host\",\"world_size\":4,"
    "\"collectives\":[\"all_reduce\",\"broadcast\"],\"dtypes\":[\"float32\"]"
    ","
    "\"redops\":[\"sum\",\"max\"],\"sizes\":[8,16],\"root\":-1,\"in_place\":\"both\","
    "\"iters\":20,\"warmup\":5,\"agg_iters\":2,\"check\":1,\"timing\":\"isolated\","
    "\"repeat\":1,\"stall_s\":30,\"seed\":77}";

static struct case_file *parse_with(const char *key, const char *value, bool heed_faults,
                                    struct error *err)
{
    json_t *json = json_parse(good, strlen(good), NULL);

    assert_non_null(json);
    if (key && value)
        json_object_set_new(json, key, json_loads(value, JSON_DECODE_ANY, NULL));
    else if (key)
        json_object_del(json, key);
    struct case_file *file = case_file_parse(json, heed_faults, err);
    json_decref(json);
    return file;
}

TEST(a_whole_case_is_read)
{
    struct case_file *file = parse_with(NULL, NULL, false, NULL);

    assert_non_null(file);
    assert_string_equal(file->run, "r1");
    assert_int_equal(file->number, 2);
    assert_int_equal(file->world_size, 4);
    assert_int_equal(file->plan.n_collectives, 2);
    assert_int_equal(file->plan.collectives[1], COLLECTIVE_BROADCAST);
    assert_int_equal(file->plan.redops[1], REDOP_MAX);
    assert_int_equal(file->plan.sizes[1], 16);
    assert_int_equal(file->plan.root, -1);
    assert_true(file->plan.in_place && file->plan.out_of_place);
    assert_int_equal(file->spec->agg_iters, 2);
    assert_int_equal(file->spec->timing, TIMING_ISOLATED);
    assert_int_equal(file->seed, 77);
    assert_int_equal(file->fault.kind, FAULT_NONE);
    case_file_destroy(file);
}

TEST(the_ranks_nodes_are_read)
{
    struct error err = {0};
    struct case_file *file =
        parse_with("placed", "[[\"a\",1],[\"b\",1],[\"c\",2]]", false, NULL);

    assert_non_null(file);
    assert_string_equal(file->nodes[0], "a");
    assert_string_equal(file->nodes[1], "b");
    assert_string_equal(file->nodes[3], "c");
    case_file_destroy(file);
    assert_null(parse_with("placed", "[[\"a\",1],[\"b\",2]]", false, &err));
    assert_string_equal(err.text, "case: placed lists 3 of 4 ranks");
    assert_null(parse_with("placed", "[[\"a\",1],[\"b\",4]]", false, &err));
    assert_string_equal(err.text, "case: placed[1] must be a node's name and how many of "
                                  "the 4 ranks run there");
    assert_null(parse_with("placed", "[[\"a[1-5]\",1]]", false, &err));
    assert_null(parse_with("placed", "[[\"a\",1],[1]]", false, &err));
}

TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *key, *value, *names;
    } table[] = {
        {"world_size", "0", "world_size"},
        {"world_size", "\"4\"", "world_size"},
        {"collectives", "[\"all_reduce\",\"allreduce\"]", "/collectives/1"},
        {"collectives", "[]", "collectives"},
        {"dtypes", "[7]", "/dtypes/0"},
        {"sizes", "[8,0]", "/sizes/1"},
        {"sizes", "[8,\"8q\"]", "/sizes/1"},
        {"sizes", "[]", "sizes"},
        {"root", "4", "root"},
        {"in_place", "[]", "in_place"},
        {"in_place", "[false,true]", "/in_place \"both\" true false"},
        {"iters", "0", "iters"},
        {"warmup", "-1", "warmup"},
        {"timing", "\"best\"", "timing"},
        {"cycles", "0", "/cycles 1 10000 0"},
        {"blocking", "4", "/blocking"},
        {"unalign", "\"1\"", "/unalign"},
        {"nccl", "{\"graph\":-1}", "/nccl/graph"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct error err = {0};
        assert_null(parse_with(table[i].key, table[i].value, false, &err));
        assert_int_equal(err.code, ERROR_INVALID);
        assert_mentions(err.text, table[i].names);
    }
}

/* Also what is not of the case, but of the run alone, is none of a worker's business. */
TEST(what_is_absent_is_as_in_a_run_spec)
{
    static const char text[] = "{\"case\":0,\"attempt\":1,\"world_size\":2,\"name\":1,"
                               "\"backend\":\"other\",\"nccl_lib\":\"x\"}";
    json_t *json = json_parse(text, strlen(text), NULL);
    struct case_file *file = case_file_parse(json, false, NULL);

    assert_non_null(file);
    assert_int_equal(file->spec->iters, 0);
    assert_int_equal(file->spec->samples.min, 8);
    assert_int_equal(file->spec->stall_s, 30);
    assert_int_equal(file->plan.n_sizes, 25);
    assert_int_equal(file->plan.cycles, 1);
    case_file_destroy(file);
    json_decref(json);
}

TEST(faults_are_heeded_only_when_allowed)
{
    static const char fault[] = "{\"kind\":\"wrong\",\"rank\":2,\"row\":3,\"index\":4}";
    struct error err;

    assert_null(parse_with("fault", fault, false, &err));
    assert_int_equal(err.code, ERROR_INVALID);
    struct case_file *file = parse_with("fault", fault, true, NULL);
    assert_int_equal(file->fault.kind, FAULT_WRONG);
    assert_int_equal(file->fault.rank, 2);
    assert_int_equal(file->fault.row, 3);
    assert_int_equal(file->fault.index, 4);
    case_file_destroy(file);
    assert_null(parse_with("fault", "{\"kind\":\"melt\"}", true, &err));
    assert_non_null(strstr(err.text, "melt"));
}

TEST(a_fault_of_a_rank_that_does_not_exist_is_refused)
{
    static const char *const ranks[] = {"-1", "4", "4294967297"};
    struct error err;

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        char fault[64];

        snprintf(fault, sizeof(fault), "{\"kind\":\"die\",\"rank\":%s}", ranks[i]);
        assert_null(parse_with("fault", fault, true, &err));
        assert_int_equal(err.code, ERROR_INVALID);
        assert_mentions(err.text, "fault's rank does not exist; 0 to 3");
        assert_non_null(strstr(err.text, ranks[i]));
    }
}

TEST(a_missing_file_is_an_error)
{
    struct error err = {0};

    assert_null(case_file_read("/nonexistent/case.json", false, &err));
    assert_int_not_equal(err.code, ERROR_NONE);
}
