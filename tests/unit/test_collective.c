/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective.c - names and arithmetic of the collectives: tests/vectors has the
 * values, worked by hand from nccl-tests' rules: count0 = size / element; A(x) = x down
 * to a multiple of 16 bytes */
#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "common/spec/collective_json.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

VECTORS("collectives.json");

static enum collective_kind kind_of(const json_t *item)
{
    int kind = collective_lookup(json_get_str(item, "collective", "?"));

    assert_in_range(kind, 0, COLLECTIVE_COUNT - 1);
    return (enum collective_kind)kind;
}

static void layout_of(const json_t *item, struct collective_layout *layout)
{
    int type = dtype_lookup(json_get_str(item, "dtype", "?"));

    assert_in_range(type, 0, DTYPE_COUNT - 1);
    collective_layout(kind_of(item), (uint64_t)json_get_int(item, "size", 0),
                      (enum dtype)type, (int)json_get_int(item, "ranks", 0), layout);
}

static void wanted(const json_t *item, size_t i, const char *name, size_t got)
{
    if (json_get_int(item, name, -1) != (int64_t)got)
        fail_msg("layout %zu, %s: %s is %zu, not %lld", i,
                 json_get_str(item, "collective", "?"), name, got,
                 (long long)json_get_int(item, name, -1));
}

TEST(lays_out_as_nccl_tests_does)
{
    json_t *cases = vectors_list(*state, "layouts"), *item;
    size_t i;

    json_array_foreach (cases, i, item) {
        struct collective_layout l;

        layout_of(item, &l);
        wanted(item, i, "count", l.count);
        wanted(item, i, "sent", l.send_count);
        wanted(item, i, "received", l.recv_count);
        wanted(item, i, "bytes", l.size_bytes);
        wanted(item, i, "send_offset", l.send_inplace_offset);
        wanted(item, i, "receive_offset", l.recv_inplace_offset);
    }
}

/* For every kind, type, size and n: what any layout must keep to. */
static void check_invariants(enum collective_kind kind, enum dtype type, uint64_t size,
                             int n)
{
    struct collective_layout l;
    size_t most;

    collective_layout(kind, size, type, n, &l);
    most = l.send_count > l.recv_count ? l.send_count : l.recv_count;
    assert_int_equal(l.size_bytes, most * dtype_size(type));
    assert_true(l.size_bytes <= size);
    assert_true(l.send_count >= l.count && l.recv_count >= l.count);
    /* The last rank's part ends inside the one buffer of the in-place variant. */
    assert_true((size_t)(n - 1) * l.send_inplace_offset + l.send_count <= most);
    assert_true((size_t)(n - 1) * l.recv_inplace_offset + l.recv_count <= most);
}

TEST(every_layout_stays_inside_its_size)
{
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        for (int type = 0; type < DTYPE_COUNT; type++) {
            for (int n = 1; n <= 9; n++) {
                for (uint64_t size = 1; size < 5000; size += 13)
                    check_invariants((enum collective_kind)kind, (enum dtype)type, size,
                                     n);
            }
        }
    }
}

TEST(bus_factors_are_nccl_tests)
{
    json_t *cases = vectors_list(*state, "factors"), *item, *point;
    size_t i, k;

    assert_int_equal(json_array_size(cases), COLLECTIVE_COUNT);
    json_array_foreach (cases, i, item) {
        enum collective_kind kind = kind_of(item);

        json_array_foreach (json_object_get(item, "at"), k, point) {
            int n = (int)json_integer_value(json_array_get(point, 0));

            assert_near(collective_bus_factor(kind, n),
                        json_number_value(json_array_get(point, 1)), 1e-12);
        }
    }
}

TEST(algorithm_bandwidth_is_bytes_over_time)
{
    json_t *cases = vectors_list(*state, "bandwidths"), *item;
    size_t i;

    json_array_foreach (cases, i, item) {
        struct collective_layout l;

        layout_of(item, &l);
        assert_near(collective_algbw_gbs(&l, json_get_num(item, "seconds", -1.0)),
                    json_get_num(item, "algbw_gbs", -1.0), 1e-12);
    }
}

TEST(the_server_tells_what_the_table_says)
{
    json_t *told = collective_json(), *list = vectors_list(*state, "served");

    if (!json_equal(told, list))
        fail_msg("served: %s", json_dumps(told, JSON_COMPACT));
    json_decref(told);
}

/* A collective's line in docs/reference/collectives.md, from collective_layout() and the
 * table of facts. */
static void line_of(enum collective_kind kind, char *out, size_t size)
{
    static const struct {
        const char *count, *sent, *received;
    } shapes[] = {
        [SHAPE_FLAT] = {"count0", "count0", "count0"},
        [SHAPE_SPREAD] = {"c", "c", "c n"},
        [SHAPE_NARROW] = {"c", "c n", "c"},
        [SHAPE_SQUARE] = {"c", "c n", "c n"},
    };
    const struct collective_facts *facts = collective_facts(kind);
    const char *most = facts->needs_counts ? "up to " : "";

    snprintf(out, size, "\n| %s | %s | %s%s | %s%s | %s |\n", facts->name,
             shapes[facts->shape].count, most, shapes[facts->shape].sent, most,
             shapes[facts->shape].received, facts->factor->formula);
}

TEST(the_docs_have_a_line_for_each)
{
    char *page = golden_read("reference/collectives.md");

    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        char line[160];

        line_of((enum collective_kind)kind, line, sizeof(line));
        if (!strstr(page, line))
            fail_msg("docs/reference/collectives.md lacks the line%s", line);
    }
    free(page);
}

TEST(names_and_lookups_agree)
{
    static const size_t sizes[DTYPE_COUNT] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

    for (int i = 0; i < COLLECTIVE_COUNT; i++)
        assert_int_equal(collective_lookup(collective_name((enum collective_kind)i)), i);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        assert_int_equal(dtype_lookup(dtype_name((enum dtype)i)), i);
        assert_int_equal(dtype_size((enum dtype)i), sizes[i]);
    }
    for (int i = 0; i < REDOP_COUNT; i++)
        assert_int_equal(redop_lookup(redop_name((enum redop)i)), i);
    assert_int_equal(collective_lookup("allreduce"), -1);
    assert_int_equal(dtype_lookup("float"), -1);
    assert_int_equal(redop_lookup(""), -1);
}
