/* test_choice_code.c - how NCCL did a row's calls comes out of a number as it went in */
#include "common/base/json_util.h"
#include "server/summary/choice_code.h"
#include "tests/unit/test.h"

static void comes_out_as(const char *in, const char *wanted)
{
    json_t *choice = json_loads(in, 0, NULL);
    uint32_t code = choice_code(choice);
    json_t *out = choice_code_json(code);
    char *text = json_text(out);

    assert_true(code < 1U << CHOICE_CODE_BITS);
    assert_string_equal(text, wanted);
    free(text);
    json_decref(out);
    json_decref(choice);
}

TEST(what_is_known_comes_out_again)
{
    comes_out_as(
        "{\"algo\":\"RING\",\"proto\":\"LL128\",\"channels\":16,\"by\":\"profiler\","
        "\"expected_us\":3.5}",
        "{\"algo\":\"RING\",\"proto\":\"LL128\",\"channels\":16,\"by\":\"profiler\"}");
    comes_out_as("{\"algo\":\"NVLS_TREE\",\"proto\":\"SIMPLE\",\"by\":\"table\"}",
                 "{\"algo\":\"NVLS_TREE\",\"proto\":\"SIMPLE\",\"by\":\"table\"}");
    comes_out_as("{\"algo\":\"SYMMETRIC\",\"proto\":\"RSxLDMC_AGxSTMC\",\"channels\":511,"
                 "\"by\":\"log\",\"ranks_differ\":true,\"unrequested\":true}",
                 "{\"algo\":\"SYMMETRIC\",\"proto\":\"RSxLDMC_AGxSTMC\",\"channels\":511,"
                 "\"by\":\"log\",\"ranks_differ\":true,\"unrequested\":true}");
    comes_out_as("{\"algo\":\"P2P\",\"channels\":4,\"by\":\"model\"}",
                 "{\"algo\":\"P2P\",\"channels\":4,\"by\":\"model\"}");
}

TEST(what_it_has_no_number_for_is_other)
{
    comes_out_as("{\"algo\":\"HYPER\",\"proto\":\"LL256\",\"channels\":512,\"by\":\"x\"}",
                 "{\"algo\":\"other\",\"proto\":\"other\",\"by\":\"other\"}");
    comes_out_as("{\"algo\":\"other\",\"channels\":-1}", "{\"algo\":\"other\"}");
}

/* NCCL that says what it expected alone has not said how. */
TEST(nothing_is_nothing)
{
    assert_int_equal(choice_code(NULL), 0);
    comes_out_as("{\"expected_us\":4.0}", "{}");
    comes_out_as("{\"algo\":\"\",\"proto\":\"LL\"}", "{}");
}
