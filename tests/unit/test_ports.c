/* SPDX-License-Identifier: Apache-2.0 */
/* test_ports.c - which ports count, and what they have carried, on hosts that are made up
 */
#include "agent/machine/ports.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/test.h"

EACH_FIXTURE(set_up, tear_down);

#define HEADS                                                                            \
    "Inter-|   Receive                                                |  Transmit\n"     \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets" \
    " errs drop fifo colls carrier compressed\n"

static void put_port(const char *path, const char *layer, const char *sent,
                     const char *received)
{
    char full[256];

    snprintf(full, sizeof(full), "/sys/class/infiniband/%s/link_layer", path);
    put(full, layer);
    snprintf(full, sizeof(full), "/sys/class/infiniband/%s/counters/port_xmit_data",
             path);
    put(full, sent);
    snprintf(full, sizeof(full), "/sys/class/infiniband/%s/counters/port_rcv_data", path);
    put(full, received);
}

static int find(const struct ports *ports, enum port_kind kind, const char *name)
{
    for (int i = 0; i < ports->n; i++)
        if (ports->of[i].name.kind == (uint32_t)kind &&
            strcmp(ports->of[i].name.text, name) == 0)
            return i;
    fail_msg("no %s %s", port_kind_name(kind), name);
    return -1;
}

static void assert_bytes(const struct port_bytes *bytes, uint64_t sent, uint64_t received)
{
    assert_int_equal(bytes->sent, sent);
    assert_int_equal(bytes->received, received);
}

TEST(rdma_counts_in_words_and_efa_in_bytes)
{
    struct port_bytes bytes[PORTS_MAX];
    struct ports ports;

    put_port("mlx5_0/ports/1", "InfiniBand\n", "1000\n", "10\n");
    put_port("mlx5_1/ports/2", "Ethernet\n", "18446744073709551615\n", "0\n");
    put("/sys/class/infiniband/rdmap0s6/ports/1/hw_counters/tx_bytes", "77\n");
    put("/sys/class/infiniband/rdmap0s6/ports/1/hw_counters/rx_bytes", "88\n");
    put("/sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
    ports_open(&ports, root);
    assert_int_equal(ports.n, 3);
    ports_read(&ports, bytes);
    assert_bytes(&bytes[find(&ports, PORT_INFINIBAND, "mlx5_0")], 4000, 40);
    find(&ports, PORT_ROCE, "mlx5_1/2");
    assert_bytes(&bytes[find(&ports, PORT_EFA, "rdmap0s6")], 77, 88);
    ports_close(&ports);
}

/* What stands on another device is that one's as well. */
TEST(devices_of_its_own_are_all_that_count)
{
    struct port_bytes bytes[PORTS_MAX];
    struct ports ports;

    put("/proc/net/dev", HEADS "    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
                               " eno1:1000000000001 9 0 0 0 0 0 0 200 9 0 0 0 0 0 0\n"
                               "  br0: 300 9 0 0 0 0 0 0 400 9 0 0 0 0 0 0\n");
    put("/sys/class/net/eno1/device/vendor", "0x15b3\n");
    ports_open(&ports, root);
    assert_int_equal(ports.n, 1);
    ports_read(&ports, bytes);
    assert_bytes(&bytes[find(&ports, PORT_NET, "eno1")], 200, 1000000000001);
    ports_close(&ports);
}

TEST(a_container_has_none_but_virtual_ones)
{
    struct ports ports;

    put("/proc/net/dev", HEADS "    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
                               "  eth0: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n");
    ports_open(&ports, root);
    assert_int_equal(ports.n, 1);
    find(&ports, PORT_NET, "eth0");
    ports_close(&ports);
}

TEST(ip_over_infiniband_is_counted_once)
{
    struct port_bytes before[PORTS_MAX], now[PORTS_MAX];
    struct ports ports;

    put_port("mlx5_0/ports/1", "InfiniBand\n", "100\n", "100\n");
    put("/sys/class/infiniband/mlx5_0/device/net/ib0/mtu", "4092\n");
    put("/sys/class/net/ib0/device/vendor", "0x15b3\n");
    put("/proc/net/dev", HEADS "   ib0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    ports_open(&ports, root);
    ports_read(&ports, before);
    put_port("mlx5_0/ports/1", "InfiniBand\n", "350\n", "100\n");
    put("/proc/net/dev", HEADS "   ib0: 0 0 0 0 0 0 0 0 900 9 0 0 0 0 0 0\n");
    ports_read(&ports, now);
    ports_since(&ports, before, now);
    assert_bytes(&now[find(&ports, PORT_NET, "ib0")], 900, 0);
    assert_bytes(&now[find(&ports, PORT_INFINIBAND, "mlx5_0")], 100, 0);
    ports_close(&ports);
}

TEST(a_host_that_shows_nothing_has_no_ports)
{
    struct port_bytes bytes[PORTS_MAX];
    struct ports ports;

    ports_open(&ports, root);
    assert_int_equal(ports.n, 0);
    ports_read(&ports, bytes);
    ports_close(&ports);
    ports_close(&ports);
}
