/* SPDX-License-Identifier: Apache-2.0 */
/* test_bind_plan.c - which CPUs ranks get, on machines that are made up */
#include "agent/bind/plan.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* Two sockets of two cores of two threads, two GPUs in each. hwloc numbers a synthetic
 * machine's threads core by core. */
#define TWO_SOCKETS "package:2 [numa] core:2 pu:2"

static hwloc_topology_t synthetic(const char *text)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, text), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

static hwloc_topology_t from_file(const char *name)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_xml(topology, name), 0);
    assert_int_equal(hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE,
                                                    HWLOC_TYPE_FILTER_KEEP_IMPORTANT),
                     0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

/* What each of the ranks gets, "|" between them, or the reason or the error. */
static const char *plan(hwloc_topology_t topology, const char *allowed,
                        struct bind_request request)
{
    static char text[1024];
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
    struct bind_plan made;
    struct error err;
    size_t n = 0;

    hwloc_bitmap_list_sscanf(cpus, allowed);
    request.topology = topology;
    request.allowed = cpus;
    request.backend = request.backend ? request.backend : "host";
    request.obstacle = request.obstacle ? request.obstacle : "";
    text[0] = '\0';
    if (bind_plan_make(&made, &request, &err))
        n += (size_t)snprintf(text, sizeof(text), "error: %s", err.text);
    else if (made.to == BIND_NONE)
        n += (size_t)snprintf(text, sizeof(text), "none: %s", made.reason);
    for (size_t rank = 0; made.cpus && rank < request.n_ranks; rank++) {
        char *list = bind_plan_cpus(&made, rank);

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", rank ? "|" : "", list);
        free(list);
    }
    bind_plan_release(&made);
    hwloc_bitmap_free(cpus);
    return text;
}

TEST(a_rank_gets_a_core_with_its_threads)
{
    hwloc_topology_t topology = synthetic(TWO_SOCKETS);

    assert_string_equal(plan(topology, "0-7", (struct bind_request){.n_ranks = 4}),
                        "0-1|2-3|4-5|6-7");
    /* Spread over both sockets, in order. */
    assert_string_equal(plan(topology, "0-7", (struct bind_request){.n_ranks = 2}),
                        "0-1|4-5");
    assert_string_equal(plan(topology, "0-7", (struct bind_request){.n_ranks = 3}),
                        "0-1|2-3|4-5");
    hwloc_topology_destroy(topology);
}

TEST(no_cpu_outside_of_what_the_agent_was_given)
{
    hwloc_topology_t topology = synthetic(TWO_SOCKETS);

    assert_string_equal(plan(topology, "3-5", (struct bind_request){.n_ranks = 2}),
                        "3|4-5");
    assert_string_equal(plan(topology, "4-7", (struct bind_request){.n_ranks = 2}),
                        "4-5|6-7");
    /* Numbers that the topology does not have. */
    assert_string_equal(plan(topology, "0,100-200", (struct bind_request){.n_ranks = 1}),
                        "0");
    assert_string_equal(plan(topology, "100", (struct bind_request){.n_ranks = 1}),
                        "none: 1 ranks, but 0 cores");
    hwloc_topology_destroy(topology);
}

TEST(not_where_ranks_exceed_cores)
{
    hwloc_topology_t topology = synthetic(TWO_SOCKETS);
    struct bind_request five = {.n_ranks = 5}, must = {.n_ranks = 5, .mode = BIND_CORE};

    assert_string_equal(plan(topology, "0-7", five), "none: 5 ranks, but 4 cores");
    assert_string_equal(plan(topology, "0-7", must),
                        "error: bind core: 5 ranks, but 4 cores");
    hwloc_topology_destroy(topology);
}

TEST(a_machine_that_tells_no_cores_has_one_a_thread)
{
    hwloc_topology_t topology = synthetic("pu:4");

    assert_string_equal(plan(topology, "0-3", (struct bind_request){.n_ranks = 4}),
                        "0|1|2|3");
    hwloc_topology_destroy(topology);
}

TEST(modes_are_followed_or_refused)
{
    hwloc_topology_t topology = synthetic(TWO_SOCKETS);
    struct bind_request none = {.n_ranks = 2, .mode = BIND_NONE};
    struct bind_request numa = {.n_ranks = 2, .mode = BIND_NUMA};
    struct bind_request crowd = {.n_ranks = 2, .obstacle = "2 agents"};
    struct bind_request must = {.n_ranks = 2, .obstacle = "2 agents", .mode = BIND_NUMA};
    struct bind_request sim = {.n_ranks = 2, .backend = "sim"};

    assert_string_equal(plan(topology, "0-7", none), "none: the run requests no binding");
    assert_string_equal(plan(topology, "0-7", numa), "0-3|4-7");
    assert_string_equal(plan(topology, "0-6", numa), "0-3|4-6");
    assert_string_equal(plan(topology, "0-7", crowd), "none: 2 agents");
    assert_string_equal(plan(topology, "0-7", must), "error: bind numa: 2 agents");
    assert_string_equal(plan(topology, "0-7", sim), "none: a simulation moves no bytes");
    hwloc_topology_destroy(topology);
}

TEST(a_gpu_says_which_memory_domain)
{
    static const char *const all[] = {"0000:81:00.0", "0000:01:00.0", "00000000:82:00.0",
                                      "0000:02:00.0"};
    static const char *const strange[] = {"0000:01:00.0", "0000:99:00.0"};
    static const char *const odd[] = {"", "0000:01:00.0"};
    hwloc_topology_t topology = from_file(TOPOLOGY_FILE);
    struct bind_request nccl = {.n_ranks = 4, .backend = "nccl", .devices = all};
    struct bind_request core = nccl, two = nccl, unknown = nccl;

    core.mode = BIND_CORE;
    two.n_ranks = 2;
    assert_string_equal(plan(topology, "0-7", nccl), "4-7|0-3|4-7|0-3");
    assert_string_equal(plan(topology, "0-7", core), "4-5|0-1|6-7|2-3");
    /* Near them there is room for one each at least. */
    assert_string_equal(plan(topology, "0-5", nccl), "none: 2 ranks, but 1 core near "
                                                     "their GPUs");
    assert_string_equal(plan(topology, "0-5", two), "4-5|0-3");
    assert_string_equal(plan(topology, "0-3", two),
                        "none: the agent may use no CPU near GPU 0000:81:00.0");
    unknown.n_ranks = 2;
    unknown.devices = strange;
    assert_string_equal(plan(topology, "0-7", unknown),
                        "none: GPU 0000:99:00.0 is not among the PCI devices of this "
                        "host");
    unknown.devices = odd;
    assert_mentions(plan(topology, "0-7", unknown), "none: GPU (without a bus id)");
    hwloc_topology_destroy(topology);
}

TEST(says_it_as_json)
{
    hwloc_topology_t topology = synthetic("core:2 pu:1");
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
    struct bind_request request = {.topology = topology,
                                   .allowed = cpus,
                                   .backend = "host",
                                   .n_ranks = 2,
                                   .obstacle = ""};
    struct bind_plan made;
    struct error err;
    char *text;
    json_t *json;

    hwloc_bitmap_set_range(cpus, 0, 1);
    assert_int_equal(bind_plan_make(&made, &request, &err), 0);
    json = bind_plan_json(&made);
    text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "{\"to\":\"core\",\"cpus\":[\"0\",\"1\"]}");
    free(text);
    json_decref(json);
    bind_plan_release(&made);
    hwloc_bitmap_free(cpus);
    hwloc_topology_destroy(topology);
}
