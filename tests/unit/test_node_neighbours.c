/* SPDX-License-Identifier: Apache-2.0 */
/* test_node_neighbours.c - agents that share a machine */
#include "server/nodes/neighbours.h"
#include "tests/unit/test.h"

#define MANY 200

static const struct clock_time now = {.wall_ms = 1000, .monotonic_ns = 1000000000};

/* machine and cpus NULL: an agent that does not say. */
static struct node *add(struct node_registry *registry, const char *name,
                        const char *machine, const char *cpus)
{
    json_t *labels = json_object(),
           *inventory = json_pack("{s:s*, s:s*}", "machine", machine, "cpus", cpus);
    struct node_registration from = {.name = name,
                                     .boot_id = "11111111-1111-4111-8111-111111111111",
                                     .peer = "127.0.0.1",
                                     .server_host = "127.0.0.1",
                                     .labels = labels,
                                     .inventory = inventory,
                                     .ranks = 2};
    bool is_new;
    struct node *node = node_register(registry, &from, now, &is_new);

    assert_non_null(node);
    json_decref(labels);
    json_decref(inventory);
    return node;
}

TEST(counts_those_that_may_use_the_same_cpus)
{
    struct node_registry registry = {0};
    struct node *nodes[5];
    int counts[5];

    nodes[0] = add(&registry, "a", "m1", "0-3");
    nodes[1] = add(&registry, "b", "m1", "2,8");
    nodes[2] = add(&registry, "c", "m2", "0-3");
    nodes[3] = NULL;
    nodes[4] = add(&registry, "e", NULL, NULL);
    add(&registry, "other", "m1", "8-9"); /* of no run */
    add(&registry, "silent", "m2", NULL); /* may use any */
    add(&registry, "lost", "m1", "0-9")->state = NODE_LOST;
    neighbours_count(&registry, nodes, 5, counts);
    assert_int_equal(counts[0], 2); /* a and b */
    assert_int_equal(counts[1], 3); /* b, a and other */
    assert_int_equal(counts[2], 2); /* c and silent */
    assert_int_equal(counts[3], 1);
    assert_int_equal(counts[4], 1);
    node_registry_release(&registry);
}

TEST(a_crowd_shares_without_a_closer_look)
{
    struct node_registry registry = {0};
    struct node *nodes[MANY];
    int counts[MANY];

    for (int i = 0; i < MANY; i++) {
        char name[16], cpus[16];

        snprintf(name, sizeof(name), "n%d", i);
        snprintf(cpus, sizeof(cpus), "%d", i);
        nodes[i] = add(&registry, name, "m", cpus);
    }
    neighbours_count(&registry, nodes, MANY, counts);
    assert_int_equal(counts[0], MANY);
    assert_int_equal(counts[MANY - 1], MANY);
    node_registry_release(&registry);
}
