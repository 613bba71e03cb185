/* test_machine.c - a run's document says what its nodes were */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/json_util.h"
#include "server/nodes/machine.h"

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

static void nodes_that_are_alike_are_one_machine(void **state)
{
    struct node nodes[] = {node_of("a", "1.0", plain), node_of("b", "1.1", plain),
                           node_of("c", "1.0", plain)};
    const struct node *chosen[] = {&nodes[0], &nodes[1], &nodes[2]};
    json_t *machines = machines_json(chosen, 3, NULL);

    (void)state;
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
static void gpus_and_the_librarys_version_are_named(void **state)
{
    static const struct {
        const char *library, *version;
    } asked[] = {{NULL, "2.27.3"}, {"/opt/a.so", "2.29.1"}, {"/opt/b.so", NULL}};
    struct node node = node_of("a", "1.0", with_gpus);
    const struct node *chosen[] = {&node};

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_are_alike_are_one_machine),
        cmocka_unit_test(gpus_and_the_librarys_version_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
