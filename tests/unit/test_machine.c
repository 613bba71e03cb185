/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c - a run's document says what its nodes were */
#include "common/base/json_util.h"
#include "server/nodes/machine.h"
#include "tests/unit/test.h"

static const char plain[] =
    "{\"kernel\": \"6.1\", \"cpu\": {\"model\": \"EPYC\", \"sockets\": 2, \"cores\": 96},"
    " \"backends\": {\"host\": {\"available\": true}}}";
static const char with_gpus[] =
    "{\"cpu\": {\"model\": \"EPYC\", \"sockets\": 1, \"cores\": 1}, \"backends\": {"
    "\"nccl\": {\"available\": true, \"nccl_version\": \"2.27.3\", \"cuda_driver\": "
    "\"13\","
    " \"libraries\": [{\"path\": \"/opt/a.so\", \"version\": \"2.29.1\"},"
    "  {\"path\": \"/opt/b.so\", \"reason\": \"broken\"}],"
    " \"devices\": [{\"name\": \"H100\"}, {\"name\": \"H100\"}, {\"name\": \"A2\"}]}}}";

static struct node node_of(const char *name, const char *version, const char *inventory)
{
    struct node node = {.name = strdup(name), .version = strdup(version)};

    node.inventory = json_parse(inventory, strlen(inventory), NULL);
    assert_non_null(node.inventory);
    return node;
}

static void release(struct node *node)
{
    free(node->name);
    free(node->version);
    json_decref(node->inventory);
}

static void assert_machine(const json_t *machines, size_t i, const char *expected)
{
    char *text = json_text(json_array_get(machines, i));

    assert_string_equal(text, expected);
    free(text);
}

TEST(nodes_that_are_alike_are_one_machine)
{
    struct node nodes[] = {node_of("a", "1.0", plain), node_of("b", "1.1", plain),
                           node_of("c", "1.0", plain)};
    const struct node *chosen[] = {&nodes[0], &nodes[1], &nodes[2]};
    json_t *machines = machines_json(chosen, 3, NULL);

    assert_int_equal(json_array_size(machines), 2);
    assert_machine(machines, 0,
                   "{\"hardware\":\"EPYC, 2 sockets, 96 cores\",\"versions\":"
                   "{\"ringbench\":\"1.0\",\"kernel\":\"6.1\"},\"nodes\":[\"a\",\"c\"]}");
    assert_machine(machines, 1,
                   "{\"hardware\":\"EPYC, 2 sockets, 96 cores\",\"versions\":"
                   "{\"ringbench\":\"1.1\",\"kernel\":\"6.1\"},\"nodes\":[\"b\"]}");
    json_decref(machines);
    for (int i = 0; i < 3; i++)
        release(&nodes[i]);
}

/* What is said of NCCL is of the library that the run asked for. */
TEST(gpus_and_the_librarys_version_are_named)
{
    static const struct {
        const char *library, *version;
    } asked[] = {{NULL, "2.27.3"}, {"/opt/a.so", "2.29.1"}, {"/opt/b.so", NULL}};
    struct node node = node_of("a", "1.0", with_gpus);
    const struct node *chosen[] = {&node};

    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        json_t *machines = machines_json(chosen, 1, asked[i].library);
        const json_t *machine = json_array_get(machines, 0);
        const char *version =
            json_get_str(json_object_get(machine, "versions"), "nccl", NULL);

        assert_string_equal(json_get_str(machine, "hardware", ""),
                            "EPYC, 1 socket, 1 core; 2 x H100; 1 x A2");
        assert_int_equal(version != NULL, asked[i].version != NULL);
        if (version)
            assert_string_equal(version, asked[i].version);
        json_decref(machines);
    }
    release(&node);
}

TEST(gpus_that_nccl_cannot_use_are_there_all_the_same)
{
    struct node node =
        node_of("a", "1.0",
                "{\"gpus\": [{\"pci\": \"0000:01:00.0\", \"name\": \"A2\"}, {\"name\": "
                "\"A2\"}, {\"pci\": \"0000:41:00.0\"}], \"backends\": {\"nccl\": "
                "{\"available\": false}}}");
    json_t *gpus = machine_gpus_json(&node), *machine = machine_json(&node, NULL);

    assert_string_equal(json_string_value(gpus), "2 x A2; 1 x unknown GPU");
    assert_string_equal(json_get_str(machine, "hardware", ""), "unknown CPU");
    json_decref(gpus);
    json_decref(machine);
    release(&node);
    node = node_of("b", "1.0", plain);
    assert_null(machine_gpus_json(&node));
    release(&node);
}

#define DEVICES                                                                          \
    "\"net\": [{\"name\": \"eno1\", \"kind\": \"ethernet\", \"state\": \"up\", "         \
    "\"mtu\": 1500},"                                                                    \
    " {\"name\": \"veth7\", \"kind\": \"virtual\", \"mtu\": 1500}], \"gpus\": "          \
    "[{\"name\": "                                                                       \
    "\"H100\", \"uuid\": \"GPU-7\", \"pcie\": {\"gts\": 2.5, \"width\": 16}, \"ecc\": "  \
    "true, "                                                                             \
    "\"acs\": [\"0000:00:01.0\"]}, {\"name\": \"H100\", \"uuid\": \"GPU-8\", \"pcie\": " \
    "{\"gts\": 32, \"width\": 16}, \"ecc\": true, \"acs\": [\"0000:00:01.0\"]}], "       \
    "\"limits\": {\"memlock_bytes\": 65536, \"shm_bytes\": 7}, \"modules\": "            \
    "{\"gdrdrv\": "                                                                      \
    "\"2.4\"}, "
#define LAZY "{" DEVICES "\"governor\": \"powersave\"}"

/* A fact that tells no kind of machine apart, as a UUID, is not among them. */
TEST(what_a_figure_may_depend_on_is_the_system)
{
    struct node nodes[] = {node_of("a", "1.0", LAZY), node_of("b", "1.0", LAZY),
                           node_of("c", "1.0", "{" DEVICES "\"governor\": \"x\"}")};
    const struct node *chosen[] = {&nodes[0], &nodes[1], &nodes[2]};
    json_t *machines = machines_json(chosen, 3, NULL);

    assert_int_equal(json_array_size(machines), 2);
    assert_machine(
        machines, 0,
        "{\"hardware\":\"unknown CPU\",\"versions\":{\"ringbench\":\"1.0\"},"
        "\"system\":{\"governor\":\"powersave\",\"gpus\":\"2 x H100, PCIe x16, "
        "ECC on\",\"net\":\"1 x ethernet up, MTU 1500\",\"acs_bridges\":1,"
        "\"limits.memlock_bytes\":65536,\"modules.gdrdrv\":\"2.4\"},"
        "\"nodes\":[\"a\",\"b\"]}");
    json_decref(machines);
    for (int i = 0; i < 3; i++)
        release(&nodes[i]);
}

/* Each is another kind: a run's document stays small, and all nodes are in it. */
TEST(nodes_of_many_kinds_are_told_briefly)
{
    struct node nodes[40];
    const struct node *chosen[40];
    json_t *machines;
    char text[64];

    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "{\"governor\": \"number %d\"}", i);
        nodes[i] = node_of("a", "1.0", text);
        chosen[i] = &nodes[i];
    }
    machines = machines_json(chosen, 40, NULL);
    assert_int_equal(json_array_size(machines), 33);
    assert_int_equal(
        json_array_size(json_object_get(json_array_get(machines, 32), "nodes")), 8);
    assert_null(json_object_get(json_array_get(machines, 32), "system"));
    json_decref(machines);
    for (int i = 0; i < 40; i++)
        release(&nodes[i]);
}
