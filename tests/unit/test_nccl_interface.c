/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_interface.c - the interface that NCCL will take for its sockets */
#include <sys/socket.h>

#include "agent/worker/nccl/nccl_interface.h"
#include "tests/unit/test.h"

static const struct nccl_interface machine[] = {
    {"lo", "127.0.0.1"},        {"docker0", "172.17.0.1"}, {"eth0", "10.0.0.1"},
    {"eth0", "fd00::1"},        {"eth10", "10.1.0.1"},     {"ib0", "10.2.0.1"},
    {"virbr0", "192.168.122.1"}};

#define N ((int)(sizeof(machine) / sizeof(machine[0])))

static const char *choose(int n, const char *ifname, const char *family)
{
    int i = nccl_interface_choose(machine, n, ifname, family, 22809);

    return i < 0 ? "none" : machine[i].address;
}

TEST(the_usual_order_holds_without_a_wish)
{
    static const struct nccl_interface only_lo[] = {{"lo", "127.0.0.1"}};
    static const struct nccl_interface docker_too[] = {{"lo", "127.0.0.1"},
                                                       {"docker0", "172.17.0.1"}};

    assert_string_equal(choose(N, NULL, NULL), "10.2.0.1");
    assert_string_equal(choose(5, NULL, NULL), "10.0.0.1");
    assert_string_equal(choose(5, "", NULL), "10.0.0.1");
    assert_int_equal(nccl_interface_choose(only_lo, 1, NULL, NULL, 22809), 0);
    assert_int_equal(nccl_interface_choose(docker_too, 2, NULL, NULL, 22809), 1);
    assert_int_equal(nccl_interface_choose(only_lo, 0, NULL, NULL, 22809), -1);
}

TEST(older_releases_use_libvirts_bridge_as_any_other_interface)
{
    static const struct nccl_interface libvirt[] = {{"virbr0", "192.168.122.1"},
                                                    {"eth0", "10.0.0.1"}};

    assert_int_equal(nccl_interface_choose(libvirt, 2, NULL, NULL, 22703), 0);
    assert_int_equal(nccl_interface_choose(libvirt, 2, NULL, NULL, 22803), 1);
    assert_int_equal(nccl_interface_choose(libvirt, 1, NULL, NULL, 22803), 0);
}

TEST(names_begin_end_and_exclude)
{
    static const struct {
        const char *ifname, *family, *address;
    } wishes[] = {
        {"eth", NULL, "10.0.0.1"},
        {"eth1", NULL, "10.1.0.1"},
        {"=eth1", NULL, "none"},
        {"=eth10", NULL, "10.1.0.1"},
        {"wlan,ib", NULL, "10.2.0.1"},
        {"^lo,docker", NULL, "10.0.0.1"},
        {"^lo,docker,eth", NULL, "10.2.0.1"},
        {"^=lo,docker0,eth0", NULL, "10.1.0.1"},
        {"lo", NULL, "127.0.0.1"},
        {"nosuch", NULL, "none"},
        {"eth0:5000", NULL, "10.0.0.1"},
        {"eth", "AF_INET6", "fd00::1"},
        {NULL, "AF_INET6", "fd00::1"},
        {"ib", "AF_INET6", "none"},
    };

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        const char *got = choose(N, wishes[i].ifname, wishes[i].family);

        if (strcmp(got, wishes[i].address) != 0)
            fail_msg("%s: %s, not %s", wishes[i].ifname ? wishes[i].ifname : "-", got,
                     wishes[i].address);
    }
}

TEST(a_wish_that_nothing_fulfils_is_an_error)
{
    struct nccl_interface interface;
    struct error err = {0};

    setenv("NCCL_SOCKET_IFNAME", "nosuch", 1);
    assert_int_equal(nccl_interface_find(22809, &interface, &err), -1);
    assert_non_null(strstr(err.text, "NCCL_SOCKET_IFNAME=nosuch"));
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    assert_int_equal(nccl_interface_find(22809, &interface, &err), 0);
    assert_string_equal(interface.address, "127.0.0.1");
}
