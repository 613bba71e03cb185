/* SPDX-License-Identifier: Apache-2.0 */
/* test_inventory.c - hosts read from folders that stand for their / */
#include <arpa/inet.h>

#include "agent/inventory/inventory.h"
#include "common/base/json_util.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/test.h"

EACH_FIXTURE(set_up, tear_down);

static void put_topology(int cpu, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
    put(path, text);
}

static void put_cpu(int cpu, const char *package, const char *package_cpus,
                    const char *core_cpus)
{
    put_topology(cpu, "physical_package_id", package);
    put_topology(cpu, "core_id", "0");
    put_topology(cpu, "package_cpus", package_cpus);
    put_topology(cpu, "core_cpus", core_cpus);
}

TEST(reads_two_sockets_with_threads)
{
    json_t *all, *cpu;

    put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: X\nmodel name\t: Model 7 @ 2 GHz\n"
                         "model\t: 3\n\nprocessor\t: 1\nmodel name\t: other\n");
    put("/sys/devices/system/cpu/online", "0-5\n");
    put("/sys/devices/system/cpu/possible", "0-6\n");
    put_cpu(0, "0", "33", "11");
    put_cpu(4, "0", "33", "11");
    put_cpu(1, "0", "33", "22");
    put_cpu(5, "0", "33", "22");
    put_cpu(2, "3", "0c", "0c");
    put_cpu(3, "3", "0c", "0c");
    put("/sys/devices/system/cpu/cpu6/online", "0\n"); /* has no topology */
    put("/sys/devices/system/node/online", "0,12\n");
    put("/sys/devices/system/node/node0/cpumap", "00000033\n");
    put("/sys/devices/system/node/node12/cpumap", "0000000c\n");
    all = inventory_read(root);
    cpu = json_object_get(all, "cpu");
    assert_string_equal(json_get_str(cpu, "model", ""), "Model 7 @ 2 GHz");
    assert_int_equal(json_get_int(cpu, "threads", 0), 6);
    assert_int_equal(json_get_int(cpu, "cores", 0), 3);
    assert_int_equal(json_get_int(cpu, "sockets", 0), 2);
    assert_int_equal(json_get_int(all, "numa_nodes", 0), 2);
    json_decref(all);
}

TEST(reads_an_arm_host)
{
    json_t *all, *cpu;

    put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                         "CPU part\t: 0xd4f\n");
    put("/sys/devices/system/cpu/online", "0-1\n");
    put_cpu(0, "0", "3", "1");
    put_cpu(1, "0", "3", "2");
    all = inventory_read(root);
    cpu = json_object_get(all, "cpu");
    assert_string_equal(json_get_str(cpu, "model", ""),
                        "ARM implementer 0x41 part 0xd4f");
    assert_int_equal(json_get_int(cpu, "cores", 0), 2);
    assert_int_equal(json_get_int(cpu, "sockets", 0), 1);
    json_decref(all);
}

TEST(reads_memory)
{
    put("/proc/meminfo", "MemTotal:       16316412 kB\nMemFree: 1 kB\n");
    assert_int_equal(inventory_memory_bytes(root), INT64_C(16316412) * 1024);
}

/* The inventory lists the GPUs of these addresses, in this order. */
static void check_gpus(const char *const *addresses, size_t n)
{
    json_t *all = inventory_read(root);
    const json_t *gpus = json_object_get(all, "gpus");

    assert_int_equal(json_array_size(gpus), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(json_get_str(json_array_get(gpus, i), "pci", ""),
                            addresses[i]);
    json_decref(all);
}

/* Their addresses are hexadecimal: 9d comes after 97. */
TEST(gpus_are_in_the_order_of_the_bus)
{
    static const char *const in_order[] = {"0000:0f:00.0", "0000:97:00.0", "0000:9d:00.0",
                                           "0001:07:00.0"};
    char path[128];

    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", in_order[i]);
        put(path, "0x030200\n");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", in_order[i]);
        put(path, "0x10de\n");
    }
    put("/sys/bus/pci/devices/0000:98:00.0/class", "0x030200\n");
    put("/sys/bus/pci/devices/0000:98:00.0/vendor", "0x1002\n");
    put("/sys/bus/pci/devices/0000:99:00.0/class", "0x068000\n");
    put("/sys/bus/pci/devices/0000:99:00.0/vendor", "0x10de\n");
    check_gpus(in_order, 4);
}

/* hwloc visits devices by the memory domain that they are near to. */
TEST(gpus_of_memory_domains_are_in_the_order_of_the_bus)
{
    static const char *const in_order[] = {"0000:0f:00.0", "0000:97:00.0"};
    char path[128];

    put("/sys/devices/system/cpu/online", "0-1\n");
    put("/sys/devices/system/cpu/possible", "0-1\n");
    put_cpu(0, "0", "1", "1");
    put_cpu(1, "1", "2", "2");
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpumap", "1\n");
    put("/sys/devices/system/node/node1/cpumap", "2\n");
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", in_order[i]);
        put(path, "0x030200\n");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", in_order[i]);
        put(path, "0x10de\n");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/local_cpus", in_order[i]);
        put(path, i == 0 ? "2\n" : "1\n");
    }
    check_gpus(in_order, 2);
}

TEST(reads_the_systems_name)
{
    json_t *os;

    put("/etc/os-release",
        "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian 12 (b)\"\nID=debian\n");
    os = inventory_os(root);
    assert_string_equal(json_string_value(os), "Debian 12 (b)");
    json_decref(os);
    put("/etc/os-release", "PRETTY_NAME=Alpine\n");
    os = inventory_os(root);
    assert_string_equal(json_string_value(os), "Alpine");
    json_decref(os);
}

TEST(a_host_without_any_of_it_is_no_error)
{
    json_t *all = inventory_read(root);

    assert_non_null(all);
    assert_true(json_is_null(json_object_get(all, "os")));
    assert_int_equal(json_get_int(all, "memory_bytes", -1), 0);
    assert_int_equal(json_get_int(json_object_get(all, "cpu"), "sockets", -1), 0);
    assert_int_equal(json_array_size(json_object_get(all, "gpus")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(all, "cpu"), "model")));
    json_decref(all);
}

TEST(addresses_are_numeric_and_loopback_comes_last)
{
    json_t *array = inventory_addresses();
    bool was_loopback = false;
    size_t i;
    json_t *entry;

    json_array_foreach (array, i, entry) {
        const char *text = json_get_str(entry, "address", "");
        unsigned char raw[16];
        bool is_loopback = strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;

        assert_true(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, raw) == 1);
        assert_false(was_loopback && !is_loopback);
        was_loopback = is_loopback;
    }
    json_decref(array);
}

TEST(the_host_id_can_be_overridden)
{
    json_t *id;

    put("/proc/sys/kernel/random/boot_id", "b00t\n");
    unsetenv("RINGBENCH_HOSTID");
    id = inventory_hostid(root);
    assert_int_equal(strncmp(json_string_value(id), "b00t-", 5), 0);
    json_decref(id);
    setenv("RINGBENCH_HOSTID", "other", 1);
    id = inventory_hostid(root);
    assert_string_equal(json_string_value(id), "other");
    json_decref(id);
    unsetenv("RINGBENCH_HOSTID");
}

static void put_link(const char *path, const char *target)
{
    char full[512];

    put(path, "");
    snprintf(full, sizeof(full), "%s%s", root, path);
    assert_int_equal(unlink(full), 0);
    assert_int_equal(symlink(target, full), 0);
}

/* The device is two folders below what is on the PCI bus, as virtio's are. */
TEST(an_interface_has_its_place_on_the_bus)
{
    json_t *addresses =
        json_pack("[{s:s, s:s}]", "interface", "eth0", "address", "10.0.0.7");
    json_t *net, *eth;
    int left_out;

    put("/sys/devices/pci0000:00/0000:00:03.0/numa_node", "-1\n");
    put("/sys/devices/pci0000:00/0000:00:03.0/virtio2/driver", "");
    put("/sys/class/net/eth0/type", "1\n");
    put("/sys/class/net/eth0/speed", "-1\n");
    put("/sys/class/net/eth0/mtu", "1400\n");
    put("/sys/class/net/eth0/operstate", "up\n");
    put_link("/sys/class/net/eth0/device",
             "../../../devices/pci0000:00/0000:00:03.0/virtio2");
    put("/sys/class/net/docker0/type", "1\n");
    put("/sys/class/net/docker0/uevent", "DEVTYPE=bridge\nINTERFACE=docker0\n");
    put("/sys/class/net/veth1/type", "1\n");
    net = inventory_net(root, addresses, &left_out);
    eth = json_array_get(net, 1);
    assert_int_equal(json_array_size(net), 3);
    assert_string_equal(json_get_str(json_array_get(net, 0), "kind", ""), "bridge");
    assert_string_equal(json_get_str(json_array_get(net, 2), "kind", ""), "virtual");
    assert_string_equal(json_get_str(eth, "kind", ""), "ethernet");
    assert_string_equal(json_get_str(eth, "pci", ""), "0000:00:03.0");
    assert_int_equal(json_get_int(eth, "mtu", 0), 1400);
    assert_null(json_object_get(eth, "speed_mbps"));
    assert_null(json_object_get(eth, "numa"));
    assert_int_equal(json_array_size(json_object_get(eth, "addresses")), 1);
    json_decref(net);
    json_decref(addresses);
}

#define PORT "/sys/class/infiniband/mlx5_0/ports/1/"

TEST(gids_have_their_version)
{
    json_t *rdma, *port, *gids;
    int left_out;

    put(PORT "state", "4: ACTIVE\n");
    put(PORT "rate", "100 Gb/sec (4X EDR)\n");
    put(PORT "link_layer", "Ethernet\n");
    put(PORT "gids/0", "fe80:0000:0000:0000:0ac0:ebff:fe12:3456\n");
    put(PORT "gid_attrs/types/0", "IB/RoCE v1\n");
    put(PORT "gid_attrs/ndevs/0", "ens1\n");
    put(PORT "gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0007\n");
    put(PORT "gid_attrs/types/3", "RoCE v2\n");
    put(PORT "gids/10", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    rdma = inventory_rdma(root, &left_out);
    port = json_array_get(rdma, 0);
    gids = json_object_get(port, "gids");
    assert_string_equal(json_get_str(port, "name", ""), "mlx5_0");
    assert_string_equal(json_get_str(port, "state", ""), "active");
    assert_string_equal(json_get_str(port, "netdev", ""), "ens1");
    assert_int_equal(json_get_int(port, "rate_gbps", 0), 100);
    assert_int_equal(json_array_size(gids), 2);
    assert_string_equal(json_get_str(json_array_get(gids, 0), "type", ""), "RoCE v1");
    assert_int_equal(json_get_int(json_array_get(gids, 1), "index", 0), 3);
    assert_string_equal(json_get_str(json_array_get(gids, 1), "type", ""), "RoCE v2");
    assert_string_equal(json_get_str(json_array_get(gids, 1), "address", ""), "10.0.0.7");
    json_decref(rdma);
}

/* ---- GPUs that CUDA does not offer ---- */

#define LIBRARIES "\"nccl_version\":\"2.27.3\",\"cuda_runtime\":\"12.8\""
#define VERSIONS LIBRARIES ",\"cuda_driver\":\"13.0\""

TEST(usable_gpus_are_counted_where_cuda_counted_them)
{
    static const char two[] = "[{\"pci\":\"0000:18:00.0\"},{\"pci\":\"0000:2a:00.0\"}]";
    static const struct {
        const char *gpus, *nccl, *visible;
        bool has_module;
        int usable; /* -1: nothing is said */
        const char *why;
    } cases[] = {
        {two, VERSIONS ",\"devices\":[{},{}]", NULL, true, 2, ""},
        {two, VERSIONS ",\"devices\":[{}]", "1", true, 1, "CUDA_VISIBLE_DEVICES=1"},
        {two, VERSIONS ",\"devices\":[],\"reason\":\"no GPU\"", NULL, true, 0, "no GPU"},
        {two, LIBRARIES ",\"devices\":[],\"reason\":\"no driver\"", NULL, true, 0,
         "no driver"},
        {two, LIBRARIES ",\"devices\":[],\"reason\":\"no driver\"", NULL, false, -1,
         NULL},
        {two, "\"devices\":[],\"reason\":\"no libnccl\"", NULL, true, -1, NULL},
        {"[]", VERSIONS ",\"devices\":[]", NULL, true, -1, NULL},
        {"[{\"pci\":\"0000:18:00.0\",\"mig\":true},{\"pci\":\"0000:2a:00.0\"}]",
         VERSIONS ",\"devices\":[{}]", NULL, true, -1, NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *inventory =
            json_pack("{s:o}", "gpus", json_loads(cases[i].gpus, 0, NULL));
        json_t *backends = json_object(), *nccl, *usable;
        char text[300];
        snprintf(text, sizeof(text), "{%s}", cases[i].nccl);
        nccl = json_loads(text, 0, NULL);
        assert_non_null(nccl);
        json_object_set_new(backends, "nccl", nccl);
        if (cases[i].has_module)
            json_object_set_new(inventory, "modules", json_pack("{s:s}", "nvidia", ""));
        if (cases[i].visible)
            setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        inventory_add_probed(inventory, backends);
        usable = json_object_get(inventory, "gpus_usable");
        assert_int_equal(json_get_int(usable, "usable", -1), cases[i].usable);
        if (cases[i].why)
            assert_string_equal(json_get_str(usable, "why", ""), cases[i].why);
        json_decref(inventory);
        json_decref(backends);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
}
