/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight.c - a node that is well has no finding, a sick one its own */
#include "common/base/json_util.h"
#include "server/analysis/preflight_check.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* A node of 2023: two RoCE ports, each with an interface of its own. */
#define PORT(name, state, netdev, index, lanes)                                          \
    "{\"name\":\"" name "\",\"port\":1,\"state\":\"" state                               \
    "\",\"link_layer\":\"ethernet\","                                                    \
    "\"netdev\":\"" netdev "\",\"pcie\":{\"gts\":32,\"gts_max\":32,\"width\":" lanes     \
    ",\"width_max\":16},\"gids\":[{\"index\":0,\"type\":\"IB/RoCE "                      \
    "v1\",\"address\":\"fe80::1\"},"                                                     \
    "{\"index\":" index ",\"type\":\"RoCE v2\",\"address\":\"::ffff:10.0.0.1\"}]}"
#define NET(name, kind, mtu)                                                             \
    "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"state\":\"up\",\"mtu\":" mtu "}"
#define NODE(rdma, net, addresses, nccl)                                                 \
    "{\"rdma\":[" rdma "],\"net\":[" net "],\"addresses\":[" addresses                   \
    "],\"backends\":{\"nccl\":{\"available\":true," nccl "}}}"
#define ADDRESS(name) "{\"interface\":\"" name "\",\"address\":\"10.0.0.1\"}"

#define PORTS PORT("mlx5_0", "active", "ens1", "3", "16")
#define NETS NET("ens1", "ethernet", "9000") "," NET("docker0", "bridge", "1500")
#define ADDRESSES ADDRESS("ens1") "," ADDRESS("docker0") "," ADDRESS("lo")
#define VERSIONS                                                                         \
    "\"nccl_version\":\"2.27.3\",\"cuda_driver\":\"13.0\",\"cuda_runtime\":\"12.8\""
#define WELL NODE(PORTS, NETS, ADDRESSES, VERSIONS)
#define OLD                                                                              \
    "{\"addresses\":[" ADDRESS("eth0") "],\"backends\":{\"host\":{\"available\":true}}}"

static json_t *judge_as(const char *const *inventories, size_t n,
                        const struct preflight_use *use)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    struct preflight_node nodes[7] = {{.name = NULL}};
    json_t *verdict;

    for (size_t i = 0; i < n; i++) {
        json_t *inventory = json_loads(inventories[i], 0, NULL);

        assert_non_null(inventory);
        nodes[i] = (struct preflight_node){.name = names[i],
                                           .version = "1.0",
                                           .inventory = inventory,
                                           .has_clock = true};
    }
    verdict = preflight_judge(nodes, n, use, true);
    assert_non_null(verdict);
    for (size_t i = 0; i < n; i++)
        json_decref((json_t *)(uintptr_t)nodes[i].inventory);
    return verdict;
}

static json_t *judge(const char *const *inventories, size_t n)
{
    const struct preflight_use use = {.backend = "nccl"};

    return judge_as(inventories, n, &use);
}

static const json_t *checks_of(const json_t *verdict)
{
    return json_object_get(json_object_get(verdict, "evidence"), "checks");
}

static const char *answer_of(const json_t *verdict, const char *check)
{
    const json_t *checks = checks_of(verdict);

    for (size_t i = 0; i < json_array_size(checks); i++)
        if (strcmp(json_get_str(json_array_get(checks, i), "check", ""), check) == 0)
            return json_get_str(json_array_get(checks, i), "answer", "");
    return "none such";
}

/* Exactly one finding: of this check, with these names. Each sentence and each command is
 * whole in one place. */
static void assert_found(json_t *verdict, const char *check, const char *names,
                         const char *command)
{
    const json_t *first = json_array_get(checks_of(verdict), 0);

    assert_string_equal(json_get_str(verdict, "answer", ""), "finding");
    assert_string_equal(json_get_str(first, "check", ""), check);
    assert_mentions(json_get_str(first, "sentence", ""), names);
    if (command)
        assert_mentions(json_get_str(first, "command", ""), command);
    else
        assert_null(json_object_get(first, "command"));
    assert_string_not_equal(
        json_get_str(json_array_get(checks_of(verdict), 1), "answer", ""), "finding");
    assert_true(
        json_equal(json_object_get(verdict, "nodes"), json_object_get(first, "nodes")));
    json_decref(verdict);
}

TEST(a_node_that_is_well_has_no_finding)
{
    const char *nodes[] = {WELL, WELL};
    json_t *verdict = judge(nodes, 2);

    assert_string_equal(json_get_str(verdict, "answer", ""), "ok");
    assert_string_equal(answer_of(verdict, "rdma_port"), "ok");
    assert_string_equal(answer_of(verdict, "mtu"), "ok");
    json_decref(verdict);
}

#define DOWN NODE(PORT("mlx5_0", "down", "ens1", "3", "8"), NETS, ADDRESSES, VERSIONS)
/* As many as the server is made for. */
TEST(a_thousand_nodes_are_one_finding)
{
    enum { N = 1024 };
    const struct preflight_use use = {.backend = "nccl"};
    struct preflight_node *nodes = calloc(N, sizeof(*nodes));
    json_t *inventory = json_loads(DOWN, 0, NULL), *verdict;
    const json_t *found;

    assert_non_null(nodes);
    for (size_t i = 0; i < N; i++)
        nodes[i] = (struct preflight_node){.name = "n", .inventory = inventory};
    verdict = preflight_judge(nodes, N, &use, false);
    found = json_array_get(checks_of(verdict), 0);
    assert_mentions(json_get_str(found, "sentence", ""), "n 1023 mlx5_0 8 16");
    assert_int_equal(json_get_int(found, "n_nodes", 0), N);
    json_decref(verdict);
    json_decref(inventory);
    free(nodes);
}

TEST(what_an_agent_does_not_say_is_not_evaluated)
{
    const char *nodes[] = {OLD};
    json_t *verdict = judge(nodes, 1);

    assert_string_equal(answer_of(verdict, "rdma_port"), "not_evaluated");
    assert_string_equal(answer_of(verdict, "versions"), "not_evaluated");
    assert_string_equal(answer_of(verdict, "interface"), "ok");
    json_decref(verdict);
}

TEST(each_sickness_has_its_own_finding_and_command)
{
    static const struct {
        const char *node, *check, *names, *command;
    } sick[] = {
        {NODE(PORTS "," PORT("mlx5_1", "active", "ens2", "3",
                             "16") "," PORT("mlx5_2", "down", "ens3", "3", "16"),
              NETS, ADDRESSES, VERSIONS),
         "rdma_port",
         "the state of ethernet ports is down (mlx5_2), but active on most nodes",
         "mlxlink -d mlx5_2 --port_state UP"},
        {NODE("{\"name\":\"mlx5_0\",\"state\":\"active\",\"link_layer\":\"ethernet\","
              "\"netdev\":\"ens1\",\"gids\":[]}",
              NETS, ADDRESSES, VERSIONS),
         "rdma_gid",
         "mlx5_0 has no RoCE v2 GID for an IP address: its interface ens1 has none",
         "ip address add ADDRESS/PREFIX dev ens1"},
        {NODE(PORTS "," PORT("mlx5_1", "active", "ens2", "3", "8"), NETS, ADDRESSES,
              VERSIONS),
         "pcie", "the PCIe link of mlx5_1 has 8 of 16 lanes",
         "lspci -vv -s mlx5_1; reseat the device, or "
         "check the settings of the slot in the BIOS"},
        {NODE(PORTS, NETS, ADDRESSES,
              "\"cuda_driver\":\"12.4\",\"cuda_runtime\":\"13.0\""),
         "cuda", "the CUDA runtime is 13.0, the driver supports 12.4",
         "install a driver for CUDA 13.0 or newer, or a libcudart and libnccl for an "
         "older "
         "CUDA"},
        {NODE(
             PORTS, NETS, ADDRESSES,
             "\"cuda_driver\":\"12.4\",\"cuda_runtime\":\"12.4\",\"nccl_cuda\":\"13.0\""),
         "cuda", "NCCL is built for CUDA 13.0, the driver supports 12.4", "CUDA 13.0"},
    };

    for (size_t i = 0; i < sizeof(sick) / sizeof(sick[0]); i++)
        assert_found(judge(&sick[i].node, 1), sick[i].check, sick[i].names,
                     sick[i].command);
}

TEST(gpus_that_the_agent_cannot_use_are_found)
{
    static const struct {
        const char *usable, *answer;
    } cases[] = {
        {"", "not_evaluated"},
        {",\"gpus_usable\":{\"usable\":2,\"on_bus\":2,\"why\":\"\"}", "ok"},
        {",\"gpus_usable\":{\"usable\":0,\"on_bus\":2,\"why\":\"no GPU\"}", "finding"},
        {",\"gpus_usable\":{\"usable\":1,\"on_bus\":2,"
         "\"why\":\"CUDA_VISIBLE_DEVICES=0\"}",
         "finding"},
    };
    static const char *const backends[] = {"nccl", "host"};
    char text[400];
    const char *node = text;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t k = 0; k < 2; k++) {
            const struct preflight_use use = {.backend = backends[k]};
            json_t *verdict;
            snprintf(
                text, sizeof(text),
                "{\"gpus\":[{\"pci\":\"0000:18:00.0\"},{\"pci\":\"0000:2a:00.0\"}]%s}",
                cases[i].usable);
            verdict = judge_as(&node, 1, &use);
            assert_string_equal(answer_of(verdict, "gpus"), cases[i].answer);
            json_decref(verdict);
        }
    assert_found(judge(&node, 1), "gpus",
                 "the agent can use 1 of the 2 GPUs on the bus (CUDA_VISIBLE_DEVICES=0)",
                 "give the agent all GPUs of the node: unset CUDA_VISIBLE_DEVICES; "
                 "srun --gpus-per-node=N --gpu-bind=none in a Slurm job; docker run "
                 "--gpus all");
}

TEST(what_nvml_says_of_gpus_is_looked_at)
{
    static const char form[] =
        "{\"gpus\":[{\"name\":\"NVIDIA "
        "H100\",\"pci\":\"0000:18:00.0\",\"nvlink\":{\"active\":18},"
        "\"fabric\":\"completed\",\"now\":{\"slowed_by\":[\"power cap\"]}},{\"name\":"
        "\"NVIDIA "
        "H100\",\"pci\":\"0000:2a:00.0\",\"nvlink\":{\"active\":%d},\"fabric\":\"%s\","
        "\"now\":{\"slowed_by\":[%s]}}]}";
    static const struct {
        int links;
        const char *fabric, *slowed, *check, *names, *command;
    } cases[] = {
        {17, "completed", "", "nvlink",
         "17 NVLinks of GPU 0000:2a:00.0 are active, but 18 on other GPUs of the model",
         "nvidia-smi nvlink -s -i 0000:2a:00.0; nvidia-smi nvlink -e -i 0000:2a:00.0: "
         "these show the inactive link and its errors"},
        {18, "completed", "\"heat\"", "slowed",
         "GPU 0000:2a:00.0 was slowed by heat when the agent started",
         "nvidia-smi -q -d PERFORMANCE,TEMPERATURE -i 0000:2a:00.0; check the cooling "
         "and power of the GPU"},
        {18, "in progress", "", "fabric", "the fabric of GPU 0000:2a:00.0 is in progress",
         "systemctl restart nvidia-fabricmanager"},
    };
    char text[1000];
    const char *node = text;
    json_t *verdict;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(text, sizeof(text), form, cases[i].links, cases[i].fabric,
                 cases[i].slowed);
        assert_found(judge(&node, 1), cases[i].check, cases[i].names, cases[i].command);
    }
    snprintf(text, sizeof(text), form, 18, "completed", "");
    verdict = judge(&node, 1);
    assert_string_equal(json_get_str(verdict, "answer", ""), "ok");
    json_decref(verdict);
}

#define WITH_CPU(model, gpus)                                                            \
    "{\"cpu\":{\"model\":\"" model "\",\"threads\":224},\"gpus\":[" gpus "]}"

TEST(a_node_with_fewer_gpus_than_its_siblings_is_found)
{
    static const char *const nodes[] = {
        WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{}"),
        WITH_CPU("Xeon", ""),      WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{},{}"),
        WITH_CPU("EPYC", "{}"),
    };
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    json_t *verdict = judge(nodes, 7), *checks, *found[2];
    size_t n = 0;

    checks = json_incref((json_t *)(uintptr_t)checks_of(verdict));
    for (size_t i = 0; i < json_array_size(checks); i++)
        if (strcmp(json_get_str(json_array_get(checks, i), "check", ""), "gpu_count") ==
            0)
            found[n++ % 2] = json_array_get(checks, i);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *who = json_object_get(found[i], "nodes");

        assert_int_equal(json_array_size(who), 1);
        assert_string_equal(json_string_value(json_array_get(who, 0)), names[2 + i]);
    }
    json_decref(checks);
    json_decref(verdict);
}

/* The same of one node: it is compared with the others, and nothing is said of them. */
TEST(of_one_node_its_own_findings_are_told)
{
    static const char *const nodes[] = {
        WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{}"),
        WITH_CPU("Xeon", ""),      WITH_CPU("Xeon", "{},{}"), WITH_CPU("Xeon", "{},{}")};
    struct preflight_use use = {.of = "c"};
    json_t *verdict = judge_as(nodes, 6, &use);

    assert_string_equal(answer_of(verdict, "gpu_count"), "finding");
    assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 1);
    json_decref(verdict);
    use.of = "a";
    verdict = judge_as(nodes, 6, &use);
    assert_string_equal(answer_of(verdict, "versions"), "not_evaluated");
    assert_string_equal(answer_of(verdict, "gpu_count"), "ok");
    assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 0);
    json_decref(verdict);
}

TEST(gpus_of_other_models_have_other_links)
{
    const char *node = "{\"gpus\":[{\"name\":\"H100\",\"nvlink\":{\"active\":18}},"
                       "{\"name\":\"A100\",\"nvlink\":{\"active\":12}},"
                       "{\"name\":\"H100\"}]}";
    json_t *verdict = judge(&node, 1);

    assert_string_equal(answer_of(verdict, "nvlink"), "ok");
    json_decref(verdict);
}

/* A finding with these names; none if they are NULL. */
static void assert_interface(json_t *verdict, const char *names)
{
    if (names) {
        assert_found(verdict, "interface", names,
                     "\"env\": {\"NCCL_SOCKET_IFNAME\": \"=ens1\"} in the run");
        return;
    }
    assert_string_equal(answer_of(verdict, "interface"), "ok");
    json_decref(verdict);
}

TEST(the_interface_is_the_one_that_nccl_takes)
{
    static const struct {
        const char *asked, *names;
    } cases[] = {
        {"docker", "NCCL uses docker0 for its sockets, but this interface does not lead "
                   "to other nodes"},
        {"=lo", "NCCL lo"},
        {"^ens", "NCCL docker0"},
        {"=ens", "NCCL_SOCKET_IFNAME==ens names no interface with an address"},
        {"ens", NULL},
        {"=eth9,ens1", NULL},
        {"^lo,docker", NULL},
    };
    const char *node = WELL;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *env = json_pack("{s:s}", "NCCL_SOCKET_IFNAME", cases[i].asked);
        const struct preflight_use use = {.backend = "nccl", .env = env};
        json_t *verdict = judge_as(&node, 1, &use);

        json_decref(env);
        assert_interface(verdict, cases[i].names);
    }
}

/* The run's, the agent's, the node's files': the first that has it. */
TEST(the_setting_is_the_one_that_nccl_finds)
{
    static const struct {
        const char *run, *agent, *file, *names;
    } cases[] = {
        {NULL, "\"=ens\"", "=ens1", "NCCL_SOCKET_IFNAME==ens agent's environment"},
        {"\"ens\"", "\"=ens\"", "lo", NULL},
        {NULL, "\"ens\"", "lo", NULL},
        {"null", "\"ens\"", "lo", "NCCL lo"},
        {NULL, NULL, "=ens", "NCCL_SOCKET_IFNAME==ens nccl.conf"},
        {NULL, NULL, "ens1:5000", NULL},
        {"\"ens1\", \"NCCL_SOCKET_FAMILY\": \"AF_INET6\"", NULL, "ens",
         "NCCL_SOCKET_IFNAME=ens1"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct preflight_node node = {.name = "a"};
        json_t *inventory = json_loads(WELL, 0, NULL);
        char text[200];
        struct preflight_use use = {.backend = "nccl"};
        json_t *env, *verdict;

        snprintf(text, sizeof(text), cases[i].run ? "{\"NCCL_SOCKET_IFNAME\": %s}" : "{}",
                 cases[i].run);
        use.env = env = json_loads(text, 0, NULL);
        assert_non_null(env);
        if (cases[i].agent) {
            snprintf(text, sizeof(text), "{\"NCCL_SOCKET_IFNAME\": %s}", cases[i].agent);
            json_object_set_new(inventory, "nccl_env", json_loads(text, 0, NULL));
        }
        snprintf(text, sizeof(text), "NCCL_SOCKET_IFNAME=%s", cases[i].file);
        json_object_set_new(inventory, "nccl_conf", json_pack("[s]", text));
        node.inventory = inventory;
        verdict = preflight_judge(&node, 1, &use, true);
        json_decref(env);
        json_decref(inventory);
        assert_interface(verdict, cases[i].names);
    }
}

/* Bridges and tunnels with the node's address, or with nobody knows what behind them. */
TEST(what_may_lead_to_others_is_not_accused)
{
    static const struct {
        const char *addresses, *address, *answer;
    } cases[] = {
        {"br0", NULL, "ok"},      {"flannel.1", NULL, "ok"},
        {"team0", NULL, "ok"},    {"br-ex", NULL, "ok"},
        {"lo", NULL, "finding"},  {"docker0", NULL, "finding"},
        {"lo", "10.0.0.1", "ok"}, {"br-0123456789ab", NULL, "finding"},
    };
    const struct preflight_use use = {.backend = "nccl"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct preflight_node node = {.name = "a", .address = cases[i].address};
        json_t *inventory =
            json_pack("{s:[{s:s, s:s}, {s:s, s:s}], s:[{s:s, s:s}], s:[]}", "addresses",
                      "interface", cases[i].addresses, "address", "10.0.0.1", "interface",
                      "eth1", "address", "10.0.1.1", "net", "name", cases[i].addresses,
                      "kind", "bridge", "nccl_conf");
        char conf[64];
        json_t *verdict;

        snprintf(conf, sizeof(conf), "NCCL_SOCKET_IFNAME==%s", cases[i].addresses);
        json_array_append_new(json_object_get(inventory, "nccl_conf"), json_string(conf));
        node.inventory = inventory;
        verdict = preflight_judge(&node, 1, &use, true);
        assert_string_equal(answer_of(verdict, "interface"), cases[i].answer);
        json_decref(verdict);
        json_decref(inventory);
    }
}

/* libvirt's bridge comes first. */
#define VIRBR(version)                                                                   \
    NODE(PORTS, NETS, ADDRESS("virbr0") "," ADDRESS("eth0"),                             \
         "\"nccl_version\":\"" version "\"")

TEST(nccl_looks_past_virbr_since_2_28)
{
    static const struct {
        const char *node, *answer;
    } cases[] = {
        {VIRBR("2.27.7"), "finding"}, {VIRBR("2.28.3"), "ok"}, {VIRBR(""), "ok"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *verdict = judge(&cases[i].node, 1);

        assert_string_equal(answer_of(verdict, "interface"), cases[i].answer);
        json_decref(verdict);
    }
}

TEST(what_a_node_has_unlike_the_others_is_named)
{
    static const struct {
        const char *node, *check, *names, *command;
    } odd[] = {
        {NODE(PORTS, NET("ens1", "ethernet", "1500"), ADDRESSES, VERSIONS), "mtu",
         "c: the MTU of ethernet ports is 1500 (ens1), but 9000 on most nodes",
         "ip link set dev ens1 mtu 9000"},
        {NODE(PORT("mlx5_0", "active", "ens1", "5", "16"), NETS, ADDRESSES, VERSIONS),
         "gid_index",
         "c: the index of the RoCE v2 GID is 5 (mlx5_0), but 3 on most nodes",
         "show_gids; add the addresses to the interface of mlx5_0 "
         "in the same order as on other nodes"},
        {NODE(PORT("mlx5_0", "down", "ens1", "3", "16"), NETS, ADDRESSES, VERSIONS),
         "rdma_port",
         "c: the state of ethernet port 1 of mlx5_0 is down, but active on most nodes",
         "mlxlink -d mlx5_0 --port_state UP"},
        {NODE(PORTS, NETS, ADDRESSES, "\"nccl_version\":\"2.26.2\""), "nccl_versions",
         "c: NCCL is 2.26.2, but 2.27.3 on most nodes",
         "install the version that most nodes have, or "
         "select one library for all nodes with nccl_lib"},
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const char *nodes[] = {WELL, WELL, odd[i].node};

        assert_found(judge(nodes, 3), odd[i].check, odd[i].names, odd[i].command);
    }
}

/* Half of them have each: nobody is accused, and no command makes it worse. */
TEST(of_two_that_differ_neither_is_accused)
{
    static const struct {
        const char *node, *check, *names;
    } cases[] = {
        {NODE(PORTS, NETS, ADDRESSES, "\"nccl_version\":\"2.26.2\""), "nccl_versions",
         "NCCL differs: 2.27.3 on a, 2.26.2 on b"},
        {NODE(PORTS, NET("ens1", "ethernet", "1500"), ADDRESSES, VERSIONS), "mtu",
         "the MTU of ethernet ports differs: 9000 on a (ens1), 1500 on b (ens1)"},
        {NODE(PORT("mlx5_0", "active", "ens1", "5", "16"), NETS, ADDRESSES, VERSIONS),
         "gid_index", "RoCE v2 GID 3 a (mlx5_0), 5 b (mlx5_0)"},
        {NODE(PORT("mlx5_0", "down", "ens1", "3", "16"), NETS, ADDRESSES, VERSIONS),
         "rdma_port", "ethernet port 1 mlx5_0 active a, down b"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *nodes[] = {WELL, cases[i].node};
        json_t *verdict = judge(nodes, 2);
        const json_t *first = json_array_get(checks_of(verdict), 0);

        assert_null(json_object_get(first, "command"));
        assert_int_equal(json_array_size(json_object_get(first, "nodes")), 2);
        assert_found(verdict, cases[i].check, cases[i].names, NULL);
    }
}

/* A rail that is down everywhere, which no node has otherwise. */
TEST(a_port_that_is_down_on_all_nodes_is_found)
{
    static const char sick[] =
        NODE(PORTS "," PORT("mlx5_1", "active", "ens2", "3",
                            "16") "," PORT("mlx5_2", "down", "ens3", "3", "16"),
             NETS, ADDRESSES, VERSIONS);
    const char *nodes[] = {sick, sick};

    assert_found(judge(nodes, 2), "rdma_port", "a 1 down (mlx5_2), active",
                 "mlxlink -d mlx5_2 --port_state UP");
}

/* A run may do without it. */
TEST(a_port_that_the_run_leaves_out_may_be_down)
{
    static const char *const wishes[] = {"mlx5_0,mlx5_1", "=mlx5_0", "^mlx5_2",
                                         "mlx5_0:1,mlx5_1:1"};
    json_t *well = json_loads(NODE(PORTS, NETS, ADDRESSES, VERSIONS), 0, NULL),
           *sick = json_loads(
               NODE(PORTS "," PORT("mlx5_1", "active", "ens2", "3",
                                   "16") "," PORT("mlx5_2", "down", "ens3", "3", "16"),
                    NETS, ADDRESSES, VERSIONS),
               0, NULL);
    struct preflight_node nodes[] = {{.name = "a", .inventory = well},
                                     {.name = "b", .inventory = sick}};

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        json_t *env = json_pack("{s:s}", "NCCL_IB_HCA", wishes[i]), *verdict;

        verdict = preflight_judge(
            nodes, 2, &(struct preflight_use){.backend = "nccl", .env = env}, true);
        assert_string_not_equal(answer_of(verdict, "rdma_port"), "finding");
        json_decref(verdict);
        json_decref(env);
    }
    json_decref(well);
    json_decref(sick);
}

/* Two ports of a device of which a run names one; its agents say that both are seen. */
TEST(a_run_may_name_one_port_of_a_device)
{
#define SECOND(state)                                                                    \
    "{\"name\":\"mlx5_0\",\"port\":2,\"state\":\"" state                                 \
    "\",\"link_layer\":\"ethernet\",\"netdev\":\"ens1\"}"
    static const struct {
        const char *hca, *answer;
    } wishes[] = {{"mlx5_0:1", "ok"},      {"=mlx5_0:1", "ok"},
                  {"^mlx5_0:2", "ok"},     {"mlx5_0:2", "finding"},
                  {"mlx5_0", "finding"},   {"^=mlx5_0:1", "finding"},
                  {"^mlx5_1:2", "finding"}};
    const char *nodes[] = {
        NODE(PORTS "," SECOND("active"), NETS, ADDRESSES, VERSIONS),
        NODE(PORTS "," SECOND("active"), NETS, ADDRESSES, VERSIONS),
        NODE(PORTS "," SECOND("down"), NETS, ADDRESSES, VERSIONS),
    };

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        json_t *env = json_pack("{s:s}", "NCCL_IB_HCA", wishes[i].hca);
        json_t *verdict =
            judge_as(nodes, 3, &(struct preflight_use){.backend = "nccl", .env = env});

        if (strcmp(answer_of(verdict, "rdma_port"), wishes[i].answer) != 0)
            fail_msg("NCCL_IB_HCA=%s: %s", wishes[i].hca,
                     answer_of(verdict, "rdma_port"));
        json_decref(verdict);
        json_decref(env);
    }
}

/* A storage card that nobody has cabled, on one node or on all. */
TEST(ports_that_nobody_uses_are_not_found)
{
    const char *node = NODE(PORTS "," PORT("bf0", "down", "ens2", "3", "16") "," PORT(
                                "bf1", "down", "ens3", "3", "16"),
                            NETS, ADDRESSES, VERSIONS);
    const char *nodes[] = {node, node, WELL};

    for (size_t n = 1; n <= 3; n++) {
        json_t *verdict = judge(nodes, n);

        assert_string_equal(json_get_str(verdict, "answer", ""), "ok");
        json_decref(verdict);
    }
}

TEST(nodes_that_are_sick_alike_are_one_finding)
{
    const char *sick =
        NODE(PORT("mlx5_0", "active", "ens1", "3", "8"), NETS, ADDRESSES, VERSIONS);
    const char *nodes[] = {WELL, sick, sick};
    json_t *verdict = judge(nodes, 3);
    const json_t *first = json_array_get(checks_of(verdict), 0);

    assert_mentions(json_get_str(verdict, "sentence", ""), "1 pcie: b 1 mlx5_0 8 16");
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), 2);
    json_decref(verdict);
}

/* Each clock is off by something else. */
TEST(no_node_of_many_vanishes)
{
    enum { MANY = 50 };
    static char names[MANY][8];
    const struct preflight_use use = {.backend = "host"};
    struct preflight_node nodes[MANY] = {{.name = NULL}};
    size_t n = 0, last;
    json_t *verdict;

    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        nodes[i].name = names[i];
        nodes[i].has_clock = true;
        nodes[i].ahead_s = 10 + i;
    }
    verdict = preflight_judge(nodes, MANY, &use, false);
    last = json_array_size(checks_of(verdict)) - 1;
    for (size_t i = 0; i <= last; i++)
        n += (size_t)json_get_int(json_array_get(checks_of(verdict), i), "n_nodes", 0);
    assert_int_equal(n, MANY);
    assert_string_equal(
        json_get_str(json_array_get(checks_of(verdict), last), "sentence", ""),
        "n32 and 17 more: the same check found other problems");
    json_decref(verdict);
}

/* A run's document names some of them, who asks for all is told all. */
TEST(of_many_nodes_a_run_names_some)
{
    enum { MANY = 50 };
    const struct preflight_use use = {.backend = "host"};
    struct preflight_node nodes[MANY];
    static char names[MANY][8];

    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        nodes[i] =
            (struct preflight_node){.name = names[i], .has_clock = true, .ahead_s = 10};
    }
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        json_t *verdict = preflight_judge(nodes, MANY, &use, is_whole);
        const json_t *first = json_array_get(checks_of(verdict), 0);

        assert_int_equal(json_array_size(json_object_get(first, "nodes")),
                         is_whole ? MANY : 32);
        assert_int_equal(json_get_int(first, "n_nodes", 0), is_whole ? 0 : MANY);
        assert_mentions(json_get_str(first, "sentence", ""), "n0 49 10.0 s ahead");
        json_decref(verdict);
    }
}

/* A laptop has neither RDMA nor a driver, and its docker is nobody's business. */
TEST(the_host_backend_asks_only_what_concerns_it)
{
    const char *node = NODE(PORT("mlx5_0", "active", "ens1", "3", "8"), NETS,
                            ADDRESS("docker0"), VERSIONS);
    const struct preflight_use use = {.backend = "host"};
    json_t *verdict = judge_as(&node, 1, &use);

    assert_string_equal(json_get_str(verdict, "answer", ""), "ok");
    assert_string_equal(answer_of(verdict, "pcie"), "none such");
    json_decref(verdict);
}

TEST(a_clock_that_is_far_off_is_found)
{
    struct preflight_node node = {.name = "a", .has_clock = true, .ahead_s = -12.34};
    const struct preflight_use use = {.backend = "host"};
    json_t *inventory = json_object();

    node.inventory = inventory;
    assert_found(preflight_judge(&node, 1, &use, true), "clock",
                 "the node's clock is 12.3 s behind the server's", "chronyc makestep");
    json_decref(inventory);
}

/* A line for each: | `check` | severity | ... */
TEST(the_page_lists_the_checks)
{
    char line[64], page[32768] = "";
    FILE *file = fopen(SOURCE_DIR "/docs/reference/preflight.md", "r");

    assert_non_null(file);
    assert_in_range(fread(page, 1, sizeof(page) - 1, file), 1, sizeof(page) - 2);
    fclose(file);
    for (size_t i = 0; i < preflight_n_checks; i++) {
        snprintf(line, sizeof(line), "\n| `%s` | %s |", preflight_checks[i].id,
                 preflight_checks[i].severity);
        if (!strstr(page, line))
            fail_msg("docs/reference/preflight.md lacks the line%s", line);
    }
}
