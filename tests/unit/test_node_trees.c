/* SPDX-License-Identifier: Apache-2.0 */
/* test_node_trees.c - machines of tests/data/nodes, and what tells a sick one */
#include "agent/inventory/inventory.h"
#include "agent/inventory/pci.h"
#include "common/base/json_util.h"
#include "tests/unit/node_tree.h"
#include "tests/unit/test.h"

EACH_FIXTURE(set_up, tear_down);

static json_t *inventory_of(const char *name)
{
    char file[128];

    snprintf(file, sizeof(file), "%s.tree", name);
    put_tree(file);
    return inventory_read(root);
}

/* What stands at a path as "rdma/3/state", as text. */
static const char *at(const json_t *value, const char *path)
{
    static char text[512];
    char copy[128], *rest, *part;
    char *dumped;

    snprintf(copy, sizeof(copy), "%s", path);
    for (part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
        value = json_is_array(value)
                    ? json_array_get(value, (size_t)strtol(part, NULL, 10))
                    : json_object_get(value, part);
    dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(text, sizeof(text), "%s", dumped ? dumped : "nothing");
    free(dumped);
    return text;
}

struct fact {
    const char *tree, *path, *healthy, *sick_tree, *sick;
};

static const struct fact facts[] = {
    {"dgx", "rdma/3/state", "\"active\"", "dgx_port_down", "\"down\""},
    {"dgx", "gpus/0/acs", "[]", "dgx_acs", "[\"0000:17:02.0\"]"},
    {"dgx", "rdma/0/acs", "[]", "dgx_acs", "[\"0000:17:00.0\"]"},
    {"dgx", "modules/nvidia_peermem", "\"550.90.07\"", "dgx_no_peermem", "nothing"},
    {"dgx", "rdma/1/pcie", "{\"gts\":32,\"gts_max\":32,\"width\":16,\"width_max\":16}",
     "dgx_slow_pcie", "{\"gts\":32,\"gts_max\":32,\"width\":8,\"width_max\":16}"},
    {"dgx", "limits/memlock_bytes", "\"unlimited\"", "dgx_memlock", "65536"},
    {"dgx", "governor", "\"performance\"", "dgx_governor", "\"powersave\""},
    {"roce", "rdma/1/gids/3",
     "{\"index\":3,\"address\":\"192.168.102.11\",\"type\":\"RoCE v2\"}", "roce_no_gids",
     "nothing"},
    {"roce", "rdma/2/physfn", "nothing", "roce_sriov", "\"0000:02:00.0\""},
    {"roce", "net/2/mtu", "9000", "roce_mtu", "1500"},
    {"two_gpus", "numa_balancing", "0", "two_gpus_numa_balancing", "1"},
    {"two_gpus", "iommu", "\"off\"", "two_gpus_iommu", "\"DMA-FQ\""},
    {"cloud_vm", "limits/shm_bytes", "33689600000", "cloud_vm_shm", "67108864"},
    {"laptop", "limits/cgroup_cpus", "nothing", "laptop_cgroup", "1.5"},
    {"laptop", "limits/cgroup_memory_bytes", "nothing", "laptop_cgroup", "2147483648"},
};

TEST(each_fault_shows_in_one_place)
{
    json_t *healthy = NULL, *sick;

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct fact *fact = &facts[i];

        if (i == 0 || strcmp(fact->tree, facts[i - 1].tree) != 0) {
            json_decref(healthy);
            healthy = inventory_of(fact->tree);
        }
        assert_string_equal(at(healthy, fact->path), fact->healthy);
        sick = inventory_of(fact->sick_tree);
        assert_string_equal(at(sick, fact->path), fact->sick);
        json_decref(sick);
        tear_down(state);
        set_up(state);
    }
    json_decref(healthy);
}

TEST(a_large_machine_is_told_in_full)
{
    json_t *all = inventory_of("dgx");

    assert_int_equal(json_array_size(json_object_get(all, "gpus")), 8);
    assert_int_equal(json_array_size(json_object_get(all, "rdma")), 10);
    assert_string_equal(at(all, "gpus/7/pci"), "\"0000:dd:00.0\"");
    assert_string_equal(at(all, "gpus/7/numa"), "1");
    assert_string_equal(at(all, "rdma/9/name"), "\"mlx5_9\"");
    assert_string_equal(at(all, "rdma/9/netdev"), "\"ens9\"");
    assert_string_equal(at(all, "rdma/9/gids/3/type"), "\"RoCE v2\"");
    assert_string_equal(at(all, "rdma/0/netdev"), "\"ib0\"");
    assert_string_equal(at(all, "rdma/0/rate_gbps"), "400");
    assert_string_equal(at(all, "rdma/0/link_layer"), "\"infiniband\"");
    assert_string_equal(at(all, "rdma/0/gids/0/type"), "\"InfiniBand\"");
    assert_string_equal(at(all, "net/0/kind"), "\"bridge\"");
    assert_string_equal(at(all, "net/0/driver"), "nothing");
    json_decref(all);
}

TEST(errors_of_a_port_are_those_that_it_had)
{
    json_t *all = inventory_of("roce");

    assert_string_equal(at(all, "rdma/0/errors"), "{\"link_downed\":2}");
    assert_string_equal(at(all, "rdma/1/errors"), "nothing");
    json_decref(all);
}

/* 8 GPUs, 10 HCAs with all their GIDs, 500 interfaces: a server takes 128 KiB. */
TEST(a_crowded_machine_has_room)
{
    json_t *all;
    char path[128], *text;

    put_tree("dgx.tree");
    for (int i = 0; i < 500; i++) {
        snprintf(path, sizeof(path), "/sys/class/net/veth0123456789%d/type", i);
        put(path, "1");
    }
    for (int device = 0; device < 10; device++)
        for (int gid = 4; gid < 256; gid++) {
            snprintf(path, sizeof(path), "/sys/class/infiniband/mlx5_%d/ports/1/gids/%d",
                     device, gid);
            put(path, "2001:0db8:1234:5678:9abc:def0:1234:5678");
        }
    all = inventory_read(root);
    text = json_dumps(all, JSON_COMPACT);
    assert_true(strlen(text) < (size_t)48 * 1024);
    assert_string_equal(at(all, "left_out/net"), "468");
    assert_string_equal(at(all, "rdma/9/gids_left_out"), "240");
    assert_int_equal(json_array_size(json_object_get(all, "rdma")), 10);
    free(text);
    json_decref(all);
}

TEST(what_all_but_root_see_of_a_bridge_says_nothing)
{
    uint8_t config[4096] = {0};

    assert_int_equal(pci_redirects(config, 64), -1);
    assert_int_equal(pci_redirects(config, 256), 0);
    config[0x100] = 0x0b; /* vendor's own, and the next one at 0x140 */
    config[0x103] = 0x14;
    config[0x140] = 0x0d;
    config[0x146] = 0x1d;
    assert_int_equal(pci_redirects(config, sizeof(config)), 1);
    assert_int_equal(pci_redirects(config, 0x147), 0);
    config[0x146] = 0x01; /* checks who sends, and redirects nothing */
    assert_int_equal(pci_redirects(config, sizeof(config)), 0);
}

TEST(the_machines_nccl_conf_is_told_without_comments)
{
    json_t *all;

    put("/etc/nccl.conf", "# ours\nNCCL_IB_HCA=mlx5\n\nNCCL_DEBUG=WARN\n");
    all = json_object();
    inventory_add_nccl(all, root, NULL);
    assert_string_equal(at(all, "nccl_conf"),
                        "[\"NCCL_IB_HCA=mlx5\",\"NCCL_DEBUG=WARN\"]");
    assert_string_equal(at(all, "nccl_env"), "nothing");
    json_decref(all);
}

/* NCCL looks for a name in this order: environment, the user's file, the machine's. */
TEST(what_the_agents_environment_tells_nccl_is_told)
{
    char home[] = "HOME=/home/u", wish[] = "NCCL_SOCKET_IFNAME=ib0",
         code[] = "NCCL_NET_PLUGIN=mine", no_name[] = "NCCL=1",
         file[] = "NCCL_CONF_FILE=/opt/n.conf";
    char *own[] = {home, wish, code, no_name, NULL}, *other[] = {home, file, NULL};
    json_t *all = json_object();

    put("/etc/nccl.conf", "NCCL_A=3\n");
    put("/home/u/.nccl.conf", "NCCL_A=2\n");
    put("/opt/n.conf", "NCCL_A=1\n");
    inventory_add_nccl(all, root, own);
    assert_string_equal(at(all, "nccl_conf"), "[\"NCCL_A=2\",\"NCCL_A=3\"]");
    assert_string_equal(at(all, "nccl_env"), "{\"NCCL_SOCKET_IFNAME\":\"ib0\"}");
    inventory_add_nccl(all, root, other);
    assert_string_equal(at(all, "nccl_conf"), "[\"NCCL_A=1\",\"NCCL_A=3\"]");
    json_decref(all);
}
