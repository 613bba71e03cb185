/* SPDX-License-Identifier: Apache-2.0 */
/* test_placement.c - which nodes a waiting run gets, and what it is told when it gets
 * none */
#include "common/base/json_util.h"
#include "server/nodes/placement.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

/* Nodes of the cluster that every case below starts from:
 * n1, n2, n10: host with 2 ranks; n2 is busy; g1, g2: 4 GPUs, group "gpu"; gone: lost. */
static const char *const cluster[][4] = {
    /* name, group, ranks, extra */
    {"n10", "cpu", "2", ""},   {"n2", "cpu", "2", "busy"}, {"n1", "cpu", "2", ""},
    {"g1", "gpu", "2", "gpu"}, {"g2", "gpu", "2", "gpu"},  {"gone", "cpu", "2", "lost"},
};

static const char host_probe[] =
    "{\"available\":true,\"collectives\":[\"all_reduce\",\"broadcast\"],"
    "\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],\"devices\":[{}]}";
static const char nccl_probe[] =
    "{\"available\":true,\"collectives\":[\"all_reduce\",\"broadcast\"],"
    "\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],\"devices\":[{},{},{},{}]}";

/* 60 bytes. */
#define E_10 "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
#define E_30 E_10 E_10 E_10

static void add(struct node_registry *registry, const char *const row[4], size_t i)
{
    json_t *labels = json_pack("{s:s}", "group", row[1]);
    json_t *backends = json_object();
    json_t *inventory = json_pack("{s:o}", "backends", backends);
    char boot[64];
    struct node_registration from = {.name = row[0],
                                     .boot_id = boot,
                                     .group = row[1],
                                     .peer = "127.0.0.1",
                                     .labels = labels,
                                     .inventory = inventory,
                                     .ranks = 2};
    struct clock_time now = {.monotonic_ns = 1};
    struct node *node;
    bool is_new;

    snprintf(boot, sizeof(boot), "00000000-0000-4000-8000-%012zu", i);
    json_object_set_new(backends, "host", json_loads(host_probe, 0, NULL));
    if (strstr(row[3], "sim"))
        json_object_set_new(backends, "sim", json_loads(host_probe, 0, NULL));
    if (strcmp(row[3], "simulated") == 0)
        json_object_set_new(inventory, "simulated", json_true());
    if (strcmp(row[3], "gpu") == 0)
        json_object_set_new(backends, "nccl", json_loads(nccl_probe, 0, NULL));
    node = node_register(registry, &from, now, &is_new);
    assert_non_null(node);
    if (strcmp(row[3], "busy") == 0)
        node_occupy(node, "otherrun0000", 0, 1, false);
    if (strcmp(row[3], "lost") == 0)
        node->state = NODE_LOST;
    json_decref(labels);
    json_decref(inventory);
}

struct expectation {
    const char *spec;
    enum placement_outcome outcome;
    const char *nodes;   /* "name:ranks ..." when READY */
    const char *backend; /* when READY */
    const char *names;   /* in the reason otherwise; each sentence is whole in one row */
};

static const struct expectation expectations[] = {
    {"{}", PLACEMENT_READY, "g1:2 g2:2 n1:2 n10:2", "host", NULL},
    {"{\"nodes\":{\"group\":\"gpu\"}}", PLACEMENT_READY, "g1:4 g2:4", "nccl", NULL},
    {"{\"nodes\":{\"group\":\"gpu\"},\"backend\":\"host\"}", PLACEMENT_READY, "g1:2 g2:2",
     "host", NULL},
    {"{\"nodes\":{\"group\":\"gpu\"},\"ranks_per_node\":3}", PLACEMENT_READY, "g1:3 g2:3",
     "nccl", NULL},
    {"{\"nodes\":{\"count\":1,\"group\":\"cpu\"}}", PLACEMENT_READY, "n1:2", "host",
     NULL},
    {"{\"nodes\":{\"names\":[\"n10\",\"n1\"]}}", PLACEMENT_READY, "n10:2 n1:2", "host",
     NULL},
    {"{\"nodes\":{\"names\":[\"n1\",\"n2\"]}}", PLACEMENT_BUSY, NULL, NULL,
     "1 of 2 nodes are free"},
    {"{\"nodes\":{\"names\":[\"n1\",\"nowhere\"]}}", PLACEMENT_UNKNOWN, NULL, NULL,
     "no node is named 'nowhere'; known nodes: g1, g2, n1, n2, n10"},
    {"{\"nodes\":{\"names\":[\"gone\"]}}", PLACEMENT_UNKNOWN, NULL, NULL, "gone is lost"},
    {"{\"nodes\":{\"count\":9}}", PLACEMENT_UNKNOWN, NULL, NULL, "5 9"},
    {"{\"backend\":\"nccl\",\"ranks_per_node\":9}", PLACEMENT_UNKNOWN, NULL, NULL,
     "; g1 and 1 more: offers 4 nccl ranks, 9 requested"},
    {"{\"backend\":\"sim\"}", PLACEMENT_UNKNOWN, NULL, NULL, "0 1 g1 4 sim:"},
    {"{\"nodes\":{\"group\":\"gg\"}}", PLACEMENT_UNKNOWN, NULL, NULL,
     "0 1 'gg'; 'gg', gpu (2), cpu (3)"},
    {"{\"nodes\":{\"labels\":{\"group\":\"tpu\"}}}", PLACEMENT_UNKNOWN, NULL, NULL,
     "0 of 1 nodes are available; no node has the label group=tpu, existing values of "
     "group: gpu (2), cpu (3)"},
    {"{\"nodes\":{\"group\":\"x\",\"labels\":{\"rack\":\"r7\"}}}", PLACEMENT_UNKNOWN,
     NULL, NULL,
     "no node is in group 'x', existing groups: gpu (2), cpu (3); rack=r7, existing "
     "labels: group (5)"},
    {"{\"nodes\":{\"group\":\"cpu\",\"labels\":{\"group\":\"gpu\"}}}", PLACEMENT_UNKNOWN,
     NULL, NULL, "; no node matches all filters: group 'cpu' group=gpu"},
    {"{\"nodes\":{\"group\":\"gpu\",\"names\":[\"n1\"]}}", PLACEMENT_UNKNOWN, NULL, NULL,
     "'gpu' one of the names"},
    {"{\"nodes\":{\"min\":2,\"max\":3}}", PLACEMENT_READY, "g1:4 g2:4", "nccl", NULL},
    {"{\"backend\":\"nccl\",\"nodes\":{\"names\":[\"n1\"]}}", PLACEMENT_UNKNOWN, NULL,
     NULL, "n1: nccl: has no worker for this backend"},
    {"{\"ranks_per_node\":64,\"nodes\":{\"names\":[\"n1\"]}}", PLACEMENT_UNKNOWN, NULL,
     NULL, "n1: 2 host 64"},
    {"{\"collectives\":[\"alltoall\"],\"nodes\":{\"names\":[\"n1\"]}}",
     PLACEMENT_IMPOSSIBLE, NULL, NULL, "does not support alltoall (collectives)"},
    {"{\"dtypes\":[\"int8\"],\"nodes\":{\"names\":[\"n1\"]}}", PLACEMENT_IMPOSSIBLE, NULL,
     NULL, "int8 (dtypes)"},
    {"{\"redops\":[\"prod\"],\"nodes\":{\"names\":[\"n1\"]}}", PLACEMENT_IMPOSSIBLE, NULL,
     NULL, "prod (redops)"},
    {"{\"collectives\":[\"broadcast\"],\"root\":2,\"nodes\":{\"names\":[\"n1\"]}}",
     PLACEMENT_IMPOSSIBLE, NULL, NULL, "root is 2, but the run has 2 ranks (0 to 1)"},
    {"{\"root\":2,\"nodes\":{\"names\":[\"n1\"]}}", PLACEMENT_READY, "n1:2", "host",
     NULL},
    {"{\"nodes\":{\"labels\":{\"group\":\"gpu\"},\"count\":1}}", PLACEMENT_READY, "g1:4",
     "nccl", NULL},
};

static void check(const struct expectation *e, const struct node_registry *registry)
{
    struct reservation reserved[8] = {{.is_kept = false}};
    struct run_spec *spec = spec_of(e->spec);
    struct placement placement;
    char chosen[256] = "";

    placement_choose(spec, registry, reserved, &placement);
    if (placement.outcome != e->outcome)
        fail_msg("%s: outcome %d, not %d: %s", e->spec, placement.outcome, e->outcome,
                 placement.reason);
    for (size_t i = 0; i < placement.n_nodes && e->nodes; i++) {
        size_t n = strlen(chosen);

        snprintf(chosen + n, sizeof(chosen) - n, "%s%s:%ld", i ? " " : "",
                 placement.nodes[i]->name, placement.ranks[i]);
    }
    if (e->nodes) {
        assert_string_equal(chosen, e->nodes);
        assert_string_equal(placement.backend, e->backend);
    } else if (!mentions(placement.reason, e->names)) {
        fail_msg("%s: '%s' does not mention '%s'", e->spec, placement.reason, e->names);
    }
    placement_release(&placement);
    run_spec_destroy(spec);
}

TEST(each_spec_gets_what_it_should)
{
    struct node_registry registry = {0};

    for (size_t i = 0; i < sizeof(cluster) / sizeof(cluster[0]); i++)
        add(&registry, cluster[i], i);
    for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
        check(&expectations[i], &registry);
    node_registry_release(&registry);
}

TEST(a_filter_lists_some_of_very_many_values)
{
    static const struct expectation e = {
        "{\"nodes\":{\"group\":\"no\"}}", PLACEMENT_UNKNOWN, NULL, NULL,
        "g00 (1), g01 (1), g02 (1), g03 (1), g04 (1), g05 (1), g06 (1), "
        "g07 (1) and more"};
    static const struct expectation none = {
        "{\"nodes\":{\"group\":\"no\",\"labels\":{\"a\":\"b\"}}}", PLACEMENT_UNKNOWN,
        NULL, NULL, "'no', none; a=b, and no node has any label"};
    struct node_registry registry = {0};

    check(&none, &registry);
    for (size_t i = 0; i < 20; i++) {
        char name[8], group[8];
        const char *const row[4] = {name, group, "2", ""};

        snprintf(name, sizeof(name), "n%02zu", i);
        snprintf(group, sizeof(group), "g%02zu", i);
        add(&registry, row, i);
    }
    check(&e, &registry);
    node_registry_release(&registry);
}

TEST(nodes_of_jobs_serve_their_own_runs_only)
{
    static const char *const lent[][4] = {{"l1", "job-1", "2", ""},
                                          {"l2", "job-1", "2", "busy"},
                                          {"l3", "job-2", "2", ""},
                                          {"l4", "job-2", "2", "lost"},
                                          {"n1", "cpu", "2", ""}};
    static const struct expectation expected[] = {
        {"{\"nodes\":{\"count\":2}}", PLACEMENT_UNKNOWN, NULL, NULL,
         "1 of 2 nodes are available; nodes that were launched for one run serve no "
         "other run: job-1 (2), job-2 (1)"},
        {"{\"nodes\":{\"labels\":{\"group\":\"job-2\"}}}", PLACEMENT_UNKNOWN, NULL, NULL,
         ": job-2 (1)"},
        {"{\"nodes\":{\"group\":\"job-2\"}}", PLACEMENT_UNKNOWN, NULL, NULL,
         ": job-2 (1)"},
        {"{\"nodes\":{\"names\":[\"l1\"]}}", PLACEMENT_UNKNOWN, NULL, NULL,
         ": job-1 (1)"},
        {"{\"nodes\":{\"count\":1}}", PLACEMENT_READY, "n1:2", "host", NULL},
        {"{\"nodes\":{\"group\":\"job-2\"},\"launch\":{\"name\":\"x\"}}", PLACEMENT_READY,
         "l3:2", "host", NULL},
    };
    struct node_registry registry = {0};

    for (size_t i = 0; i < sizeof(lent) / sizeof(lent[0]); i++)
        add(&registry, lent[i], i);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        check(&expected[i], &registry);
    node_registry_release(&registry);
}

/* r1 to r3 have a worker for the backend sim, s1 and s2 are played by ringbench-sim. */
TEST(simulated_and_real_nodes_are_never_placed_together)
{
    static const char *const mixed[][4] = {{"r1", "x", "2", "sim"},
                                           {"r2", "x", "2", "sim"},
                                           {"r3", "x", "2", "sim"},
                                           {"s1", "x", "2", "simulated"},
                                           {"s2", "x", "2", "simulated"}};
    static const struct expectation expected[] = {
        {"{\"backend\":\"sim\"}", PLACEMENT_READY, "s1:2 s2:2", "sim", NULL},
        {"{\"backend\":\"sim\",\"nodes\":{\"count\":2}}", PLACEMENT_READY, "s1:2 s2:2",
         "sim", NULL},
        {"{\"backend\":\"sim\",\"nodes\":{\"min\":3}}", PLACEMENT_READY, "r1:2 r2:2 r3:2",
         "sim", NULL},
        {"{\"backend\":\"sim\",\"nodes\":{\"names\":[\"r1\",\"r2\"]}}", PLACEMENT_READY,
         "r1:2 r2:2", "sim", NULL},
        {"{\"backend\":\"sim\",\"nodes\":{\"count\":4}}", PLACEMENT_UNKNOWN, NULL, NULL,
         "3 of 4 nodes are available; s1 and 1 more: simulated (a run cannot combine "
         "simulated and real nodes)"},
        {"{\"backend\":\"sim\",\"nodes\":{\"names\":[\"s1\",\"r1\",\"s2\"]}}",
         PLACEMENT_UNKNOWN, NULL, NULL, "2 of 3 nodes are available; r1: real"},
    };
    struct node_registry registry = {0};

    for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++)
        add(&registry, mixed[i], i);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        check(&expected[i], &registry);
    node_registry_release(&registry);
}

/* Text is cut at 60 bytes, and the whole at 511: of characters of two bytes at each. */
TEST(a_reason_is_cut_between_characters)
{
    char name[64], key[64], spec[1024], group[64];
    const char *const row[4] = {"n0", group, "2", ""};
    struct node_registry registry = {0};

    for (size_t shift = 0; shift < 2; shift++) {
        struct placement placement;
        struct run_spec *parsed;
        json_t *text;

        snprintf(name, sizeof(name), "%.*s%s", (int)shift, "x", E_30);
        snprintf(key, sizeof(key), "k%s", name);
        snprintf(group, sizeof(group), "g%s", name);
        snprintf(spec, sizeof(spec),
                 "{\"nodes\":{\"group\":\"%s\",\"labels\":{\"%s\":\"%s\",\"b%s\":\"%s\","
                 "\"c\":\"%s\"}}}",
                 name, key, name, name, name, name);
        node_registry_release(&registry);
        memset(&registry, 0, sizeof(registry));
        add(&registry, row, shift);
        parsed = spec_of(spec);
        placement_choose(parsed, &registry, NULL, &placement);
        assert_int_equal(strlen(placement.reason) / 2, 255);
        text = json_string(placement.reason);
        if (!text)
            fail_msg("not UTF-8: %s", placement.reason);
        json_decref(text);
        placement_release(&placement);
        run_spec_destroy(parsed);
    }
    node_registry_release(&registry);
}

/* What is missing for one is missing for the other, too. */
TEST(specs_that_ask_for_the_same_nodes_are_alike)
{
    static const struct {
        const char *a, *b;
        bool are_alike;
    } pairs[] = {
        {"{}", "{\"sizes\":[8],\"env\":{\"NCCL_A\":\"1\"},\"name\":\"x\"}", true},
        {"{}", "{\"collectives\":[\"broadcast\"],\"matrix\":{\"NCCL_A\":[\"1\",\"2\"]}}",
         true},
        {"{\"nodes\":{\"names\":[\"n1\"]}}", "{\"nodes\":{\"names\":[\"n1\"]}}", true},
        {"{\"nodes\":{\"names\":[\"n1\"]}}", "{\"nodes\":{\"names\":[\"n2\"]}}", false},
        {"{\"nodes\":{\"group\":\"cpu\"}}", "{\"nodes\":{\"group\":\"gpu\"}}", false},
        {"{\"nodes\":{\"group\":\"cpu\"}}", "{}", false},
        {"{\"nodes\":{\"labels\":{\"a\":\"1\"}}}",
         "{\"nodes\":{\"labels\":{\"a\":\"2\"}}}", false},
        {"{\"nodes\":{\"count\":2}}", "{\"nodes\":{\"count\":3}}", false},
        {"{\"nodes\":{\"min\":2}}", "{\"nodes\":{\"min\":2,\"max\":3}}", false},
        {"{}", "{\"backend\":\"host\"}", false},
        {"{}", "{\"ranks_per_node\":2}", false},
        {"{}", "{\"share\":true}", false},
        {"{}", "{\"pattern\":\"pairs\"}", false},
        {"{\"backend\":\"nccl\"}", "{\"backend\":\"nccl\",\"devices\":[0]}", false},
        {"{\"program\":{\"name\":\"p\"}}", "{\"program\":{\"name\":\"q\"}}", false},
        {"{\"program\":{\"name\":\"p\",\"args\":{\"n\":1}}}",
         "{\"program\":{\"name\":\"p\",\"args\":{\"n\":2}}}", false},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct run_spec *a = spec_of(pairs[i].a), *b = spec_of(pairs[i].b);

        if (placement_is_alike(a, b) != pairs[i].are_alike)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        run_spec_destroy(a);
        run_spec_destroy(b);
    }
}

TEST(reserved_nodes_are_not_taken)
{
    /* g1, g2, gone, n1, n2, n10 */
    struct reservation reserved[8] = {
        [0] = {.is_kept = true}, [3] = {.is_kept = true}, [5] = {.is_kept = true}};
    struct run_spec *spec = spec_of("{}");
    struct node_registry registry = {0};
    struct placement placement;

    for (size_t i = 0; i < sizeof(cluster) / sizeof(cluster[0]); i++)
        add(&registry, cluster[i], i);
    placement_choose(spec, &registry, reserved, &placement);
    assert_int_equal(placement.outcome, PLACEMENT_READY);
    assert_int_equal(placement.n_nodes, 1);
    assert_string_equal(placement.nodes[0]->name, "g2");
    placement_release(&placement);
    run_spec_destroy(spec);
    node_registry_release(&registry);
}
