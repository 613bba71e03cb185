/* SPDX-License-Identifier: Apache-2.0 */
/* test_carried.c - whether network ports carried what ranks move between nodes */
#include "server/analysis/carried.h"

#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define MIB (1 << 20)

static json_t *json_of(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

    assert_non_null(json);
    return json;
}

/* A node's event, whose one port sent and received so much. */
static void add_node(struct carried *carried, int attempt, long sent, long received)
{
    json_t *event =
        json_pack("{s:i, s:[{s:I, s:I}]}", "attempt", attempt, "ports", "sent_bytes",
                  (json_int_t)sent, "received_bytes", (json_int_t)received);

    carried_add_node(carried, event);
    json_decref(event);
}

TEST(only_valid_ports_are_kept)
{
    json_t *told = json_of(
        "[{\"kind\":\"net\",\"name\":\"eth0\",\"sent_bytes\":1,\"received_bytes\":2,"
        "\"more\":3},{\"kind\":\"moon\",\"name\":\"x\",\"sent_bytes\":1,"
        "\"received_bytes\":1},{\"kind\":\"roce\",\"name\":\"mlx5_0\",\"sent_bytes\":-1,"
        "\"received_bytes\":1},{\"kind\":\"efa\",\"sent_bytes\":1,\"received_bytes\":1},"
        "7]");
    json_t *none = json_of("\"eth0\""), *ports = carried_ports(told);
    char *text = json_dumps(ports, JSON_COMPACT);

    assert_string_equal(text, "[{\"kind\":\"net\",\"name\":\"eth0\",\"sent_bytes\":1,"
                              "\"received_bytes\":2}]");
    assert_null(carried_ports(none));
    assert_null(carried_ports(NULL));
    free(text);
    json_decref(ports);
    json_decref(told);
    json_decref(none);
}

TEST(ports_that_carry_less_than_a_call_carry_little)
{
    static const struct {
        long sent; /* by each of two nodes, which receive as much */
        int64_t row_size;
        bool is_little;
    } table[] = {{0, MIB, true},
                 {25 * 1024, MIB, true},
                 {27 * 1024, MIB, false},
                 {25 * 1024, MIB - 1, false},
                 {MIB, 64 * MIB, true},
                 {2 * MIB, 64 * MIB, false},
                 {0, 0, false}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct carried carried = {0};

        add_node(&carried, 1, table[i].sent, table[i].sent);
        carried_add_row(&carried, 1, 8);
        carried_add_row(&carried, 1, table[i].row_size);
        carried_add_row(&carried, 1, 16);
        assert_false(carried_is_little(&carried, 2)); /* one has not told yet */
        add_node(&carried, 1, table[i].sent, table[i].sent);
        assert_int_equal(carried_is_little(&carried, 2), table[i].is_little);
    }
}

/* A node that shows no ports may have carried all of it. */
TEST(unknown_ports_are_not_held_against_a_case)
{
    struct carried carried = {0};
    json_t *event = json_of("{\"attempt\":1,\"load_before\":1.0}");

    carried_add_row(&carried, 1, MIB);
    add_node(&carried, 1, 0, 0);
    carried_add_node(&carried, event);
    assert_int_equal(carried.nodes, 1);
    assert_false(carried_is_little(&carried, 2));
    json_decref(event);
}

TEST(the_last_attempt_counts)
{
    struct carried carried = {0};

    add_node(&carried, 1, 64 * MIB, 64 * MIB);
    add_node(&carried, 2, 3, 4);
    assert_int_equal(carried.nodes, 1);
    assert_int_equal(carried.bytes, 7);
}

TEST(the_verdict_names_the_cases_without)
{
    struct carried_case cases[] = {
        {0, 3.0 * MIB, MIB, false}, {4, 0, 64 * MIB, true}, {5, 2048, 64 * MIB, true}};
    json_t *verdict = carried_verdict(cases, 3, " (emulated)");
    const json_t *evidence = json_object_get(verdict, "evidence");
    const json_t *without = json_object_get(evidence, "without");

    assert_string_equal(json_get_str(verdict, "answer", ""), "another_way");
    assert_mentions(json_get_str(verdict, "sentence", ""),
                    "case 4 and 1 more 0 B 64M (emulated)");
    assert_int_equal(json_get_int(evidence, "cases", 0), 3);
    assert_int_equal(json_array_size(without), 2);
    assert_int_equal(json_integer_value(json_array_get(without, 1)), 5);
    json_decref(verdict);

    verdict = carried_verdict(cases, 1, NULL);
    assert_string_equal(json_get_str(verdict, "answer", ""), "by_network");
    assert_mentions(json_get_str(verdict, "sentence", ""), "3.0 MiB");
    json_decref(verdict);
    assert_null(carried_verdict(cases, 0, NULL));
}
