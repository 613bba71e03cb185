/* SPDX-License-Identifier: Apache-2.0 */
/* test_node.c - registration, commands and occupation of nodes */
#include "common/base/json_util.h"
#include "server/nodes/node.h"
#include "server/runs/node_claim.h"
#include "tests/unit/test.h"

#define BOOT_1 "11111111-1111-4111-8111-111111111111"
#define BOOT_2 "22222222-2222-4222-8222-222222222222"

static const struct clock_time now = {.wall_ms = 1000, .monotonic_ns = 1000000000};

static struct node *try_register(struct node_registry *registry, const char *name,
                                 const char *boot, bool *is_new)
{
    json_t *empty = json_object();
    struct node_registration from = {.name = name,
                                     .boot_id = boot,
                                     .peer = "127.0.0.1",
                                     .server_host = "127.0.0.1",
                                     .labels = empty,
                                     .inventory = empty,
                                     .ranks = 2};
    struct node *node = node_register(registry, &from, now, is_new);

    json_decref(empty);
    return node;
}

TEST(another_boot_takes_the_name_over)
{
    struct node_registry registry = {0};
    struct node *node;
    bool is_new = false;

    node = try_register(&registry, "n1", BOOT_1, &is_new);
    assert_non_null(node);
    assert_true(is_new);
    node->acked = 7;
    node_occupy(node, "run000000001", 0, 1, false);
    assert_ptr_equal(try_register(&registry, "n1", BOOT_2, &is_new), node);
    assert_true(is_new);
    assert_int_equal(node->acked, 0);
    assert_true(node_is_free(node, false));
    assert_int_equal(registry.count, 1);
    node_registry_release(&registry);
}

TEST(the_same_boot_resumes_under_a_new_agent_id)
{
    struct node_registry registry = {0};
    char agent[NODE_AGENT_LENGTH + 1];
    struct node *node;
    bool is_new = false;

    node = try_register(&registry, "n1", BOOT_1, &is_new);
    memcpy(agent, node->agent, sizeof(agent));
    node->acked = 7;
    assert_ptr_equal(try_register(&registry, "n1", BOOT_1, &is_new), node);
    assert_false(is_new);
    assert_int_equal(node->acked, 7);
    assert_null(node_find_agent(&registry, agent));
    assert_ptr_equal(node_find_agent(&registry, node->agent), node);
    node_registry_release(&registry);
}

TEST(agents_are_found_while_nodes_come_and_go)
{
    struct node_registry registry = {0};
    char name[16], gone[NODE_AGENT_LENGTH + 1];
    bool is_new;

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        assert_non_null(try_register(&registry, name, BOOT_1, &is_new));
    }
    for (int i = 0; i < 300; i += 3) {
        struct node *node;

        snprintf(name, sizeof(name), "n%d", i);
        node = node_find(&registry, name);
        memcpy(gone, node->agent, sizeof(gone));
        if (i % 2)
            node_remove(&registry, node);
        else
            assert_non_null(try_register(&registry, name, BOOT_1, &is_new));
        assert_null(node_find_agent(&registry, gone));
    }
    assert_int_equal(registry.count, 250);
    for (size_t i = 0; i < registry.count; i++)
        assert_ptr_equal(node_find_agent(&registry, registry.nodes[i]->agent),
                         registry.nodes[i]);
    registry.nodes[7]->state = NODE_LOST;
    assert_null(node_find_agent(&registry, registry.nodes[7]->agent));
    node_registry_release(&registry);
}

/* After a restart of the server its agents still use the ids that they had: were these
 * given out again, one node's events would be taken for another's. */
TEST(an_id_of_another_registry_names_nobody_here)
{
    struct node_registry before = {0}, after = {0};
    bool is_new;
    const struct node *old;

    old = try_register(&before, "n1", BOOT_1, &is_new);
    assert_non_null(try_register(&after, "n2", BOOT_2, &is_new));
    assert_null(node_find_agent(&after, old->agent));
    node_registry_release(&before);
    node_registry_release(&after);
}

TEST(nodes_are_found_by_name_in_any_order_of_registration)
{
    static const char *const names[] = {"n10", "m", "n9", "n010", "z", "n1", "N1"};
    struct node_registry registry = {0};
    bool is_new;

    assert_null(node_find(&registry, "n1"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(try_register(&registry, names[i], BOOT_1, &is_new));
        for (size_t k = 0; k <= i; k++) {
            const struct node *node = node_find(&registry, names[k]);

            assert_non_null(node);
            assert_string_equal(node->name, names[k]);
            assert_ptr_equal(registry.nodes[node_index(&registry, names[k])], node);
        }
    }
    assert_null(node_find(&registry, "n"));
    assert_null(node_find(&registry, "zz"));
    assert_int_equal(node_index(&registry, "n2"), registry.count);
    node_registry_release(&registry);
}

struct polled {
    int calls;
    json_t *commands;
};

static void on_commands(void *arg, json_t *commands)
{
    struct polled *polled = arg;

    polled->calls++;
    json_decref(polled->commands);
    polled->commands = commands;
}

TEST(commands_come_until_they_are_acknowledged)
{
    struct node_registry registry = {0};
    struct polled polled = {0};
    struct node *node;
    bool is_new;

    node = try_register(&registry, "n1", BOOT_1, &is_new);
    node_poll(node, 0, 0, on_commands, &polled);
    assert_int_equal(polled.calls, 0);
    node_command(node, json_pack("{s:s}", "type", "stop"));
    assert_int_equal(polled.calls, 1);
    assert_int_equal(json_array_size(polled.commands), 1);
    /* Not acknowledged: the answer may have been lost on the way. */
    node_poll(node, 0, 0, on_commands, &polled);
    assert_int_equal(polled.calls, 2);
    node_poll(node, 1, 0, on_commands, &polled);
    assert_int_equal(polled.calls, 2);
    node_command(node, json_pack("{s:s}", "type", "leave"));
    assert_int_equal(polled.calls, 3);
    assert_int_equal(json_get_int(json_array_get(polled.commands, 0), "seq", 0), 2);
    json_decref(polled.commands);
    node_registry_release(&registry);
}

TEST(a_newer_poll_ends_the_older)
{
    struct node_registry registry = {0};
    struct polled first = {0}, second = {0};
    struct node *node;
    bool is_new;

    node = try_register(&registry, "n1", BOOT_1, &is_new);
    node_poll(node, 0, 0, on_commands, &first);
    node_poll(node, 0, 0, on_commands, &second);
    assert_int_equal(first.calls, 1);
    assert_null(first.commands);
    assert_int_equal(second.calls, 0);
    node_poll_end(node);
    assert_int_equal(second.calls, 1);
    node_registry_release(&registry);
}

TEST(only_sharing_runs_share)
{
    struct node_registry registry = {0};
    struct node *node;
    bool is_new;

    node = try_register(&registry, "n1", BOOT_1, &is_new);
    assert_true(node_is_free(node, false));
    node_occupy(node, "run000000001", 0, 1, true);
    assert_false(node_is_free(node, false));
    assert_true(node_is_free(node, true));
    node_occupy(node, "run000000002", 0, 1, false);
    assert_false(node_is_free(node, true));
    node_vacate(node, "run000000002", 0, 2); /* another attempt */
    assert_false(node_is_free(node, true));
    node_vacate(node, "run000000002", 0, 1);
    node_vacate(node, "run000000001", 0, 1);
    assert_true(node_is_free(node, false));
    node_registry_release(&registry);
}

/* A node that left makes room before one that was lost, and the longest absent first. */
TEST(room_is_made_by_the_node_that_left_longest_ago)
{
    static const struct {
        const char *name;
        int state;
        int64_t last_seen_ns;
    } known[] = {
        {"alive", NODE_ALIVE, 1},     {"lost-early", NODE_LOST, 2},
        {"left-late", NODE_LEFT, 5},  {"left-early", NODE_LEFT, 3},
        {"left-later", NODE_LEFT, 6}, {"lost-late", NODE_LOST, 7},
    };
    static const char *const order[] = {"left-early", "left-late", "left-later",
                                        "lost-early", "lost-late"};
    struct node_registry registry = {0};
    struct node_registration newcomer = {.name = "new"};
    struct node *gone;
    struct error err = {0};
    bool is_new;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct node *node = try_register(&registry, known[i].name, BOOT_1, &is_new);

        node->state = known[i].state;
        node->last_seen_ns = known[i].last_seen_ns;
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        assert_int_equal(
            node_claim_room(&registry, (long)registry.count, &newcomer, &gone, &err), 1);
        assert_string_equal(gone->name, order[i]);
        node_remove(&registry, gone);
    }
    assert_int_equal(
        node_claim_room(&registry, (long)registry.count, &newcomer, &gone, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    node_registry_release(&registry);
}
