/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic.c - who sends how much to whom in alltoallv */
#include "common/spec/traffic.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

static struct traffic traffic_of(const char *text)
{
    json_t *json = json_of(text);
    struct traffic traffic;
    struct error err;

    traffic_init(&traffic);
    assert_int_equal(traffic_parse(json, &traffic, &err), 0);
    json_decref(json);
    return traffic;
}

/* nccl-tests' example: 4 ranks, rank 0 to 0..3: nothing, 1, 2 and 3 parts of 6. */
TEST(far_ranks_get_more)
{
    struct traffic traffic;

    traffic_init(&traffic);
    assert_int_equal(traffic_bytes(&traffic, 0, 0, 4, 6144), 0);
    assert_int_equal(traffic_bytes(&traffic, 0, 1, 4, 6144), 1024);
    assert_int_equal(traffic_bytes(&traffic, 0, 2, 4, 6144), 2048);
    assert_int_equal(traffic_bytes(&traffic, 0, 3, 4, 6144), 3072);
    assert_int_equal(traffic_bytes(&traffic, 3, 0, 4, 6144), 1024);
    assert_int_equal(traffic_bytes(&traffic, 0, 1, 4, 6100), 1008); /* 1016.7 */
    assert_int_equal(traffic_bytes(&traffic, 0, 0, 1, 100), 96);
    traffic.spread = 0;
    assert_int_equal(traffic_bytes(&traffic, 2, 2, 4, 6144), 1536);
    traffic.spread = 0.5;
    assert_int_equal(traffic_bytes(&traffic, 0, 0, 4, 6144), 768);
    assert_int_equal(traffic_bytes(&traffic, 0, 3, 4, 6144), 2304);
}

/* What one rank says it sends is what the other says it receives, and from where. */
static void expect_agreement(const struct traffic *traffic, int n, uint64_t size)
{
    struct traffic_plan *plans[8];
    struct collective_layout layouts[8];

    for (int rank = 0; rank < n; rank++) {
        collective_layout(COLLECTIVE_ALLTOALLV, size, DTYPE_FLOAT32, n, &layouts[rank]);
        plans[rank] =
            traffic_plan_create(traffic, DTYPE_FLOAT32, rank, n, &layouts[rank]);
        assert_non_null(plans[rank]);
    }
    for (int a = 0; a < n; a++) {
        size_t sent = 0, received = 0;

        for (int b = 0; b < n; b++) {
            assert_int_equal(plans[a]->send_count[b], plans[b]->recv_count[a]);
            assert_int_equal(plans[a]->send_at[b], plans[b]->peer_at[a]);
            assert_int_equal(plans[a]->send_at[b], sent);
            assert_int_equal(plans[a]->recv_at[b], received);
            assert_int_equal(plans[a]->send_count[b] * 4 % 16, 0);
            sent += plans[a]->send_count[b];
            received += plans[a]->recv_count[b];
        }
        assert_int_equal(layouts[a].send_count, sent);
        assert_int_equal(layouts[a].recv_count, received);
        assert_true(sent <= plans[a]->most && received <= plans[a]->most);
        assert_int_equal(plans[a]->most, plans[0]->most);
        assert_int_equal(layouts[a].size_bytes, plans[0]->most * 4);
        assert_true(layouts[a].size_bytes <= size);
    }
    for (int rank = 0; rank < n; rank++)
        traffic_plan_destroy(plans[rank]);
}

TEST(ranks_agree_on_who_sends_what)
{
    struct traffic traffic = traffic_of("{\"spread\":0.3}");

    for (int n = 1; n <= 8; n++)
        expect_agreement(&traffic, n, 100000);
    traffic = traffic_of("{\"matrix\":[[0,100,16],[32,5,1000],[0,0,0]]}");
    expect_agreement(&traffic, 3, 2048);
    expect_agreement(&traffic, 2, 2048);
    assert_int_equal(traffic_matrix_most(&traffic), 1024 - 0);
    traffic_release(&traffic);
}

TEST(a_row_without_bytes_is_empty)
{
    struct traffic traffic = traffic_of("{\"matrix\":[[0,0],[0,15]]}");
    struct collective_layout layout;
    struct traffic_plan *plan;

    collective_layout(COLLECTIVE_ALLTOALLV, 4096, DTYPE_INT8, 2, &layout);
    plan = traffic_plan_create(&traffic, DTYPE_INT8, 1, 2, &layout);
    assert_non_null(plan);
    assert_int_equal(layout.count, 0);
    traffic_plan_destroy(plan);
    traffic_release(&traffic);
}

TEST(what_is_no_traffic_is_refused)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        "1",
        "{\"spread\":1.5}",
        "{\"spread\":-1}",
        "{\"spread\":\"1\"}",
        "{\"matrix\":[]}",
        "{\"matrix\":[[1,2]]}",
        "{\"matrix\":[[1,2],[3]]}",
        "{\"matrix\":[[-1]]}",
        "{\"matrix\":[[1.5]]}",
        "{\"matrix\":[1]}",
        "{\"spread\":1,\"matrix\":[[1]]}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *json = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        struct traffic traffic;
        struct error err;

        traffic_init(&traffic);
        if (traffic_parse(json, &traffic, &err) == 0)
            fail_msg("%s is taken", bad[i]);
        assert_null(traffic.matrix);
        json_decref(json);
    }
}
