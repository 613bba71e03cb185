/* SPDX-License-Identifier: Apache-2.0 */
/* test_rendezvous_peer.c - who may connect */
#include <arpa/inet.h>
#include <uv.h>

#include "server/rendezvous/rendezvous_peer.h"
#include "tests/unit/test.h"

static void make_peer(struct peer *peer, const char *text)
{
    struct sockaddr_in6 in6;
    struct sockaddr_in in;

    if (uv_ip4_addr(text, 80, &in) == 0)
        peer_from_sockaddr(peer, (struct sockaddr *)&in);
    else if (uv_ip6_addr(text, 80, &in6) == 0)
        peer_from_sockaddr(peer, (struct sockaddr *)&in6);
    else
        fail_msg("%s", text);
}

TEST(only_listed_addresses_are_let_in)
{
    static const struct {
        const char *allowed, *peer;
        bool is_in;
    } cases[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"::ffff:10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "127.0.0.1", false},
        {"127.0.0.1", "::1", true},
        {"::1", "127.0.0.1", true},
        {"127.0.0.1", "127.9.9.9", true},
        {"::1", "::ffff:127.0.0.1", true},
        {"::1", "fe80::1", false},
        {"fe80::1%eth0", "fe80::1", true},
        {"2001:db8::1", "2001:db8::1", true},
        {"2001:db8::1", "2001:db8::2", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *allowed[] = {"192.0.2.77", cases[i].allowed};
        struct peer_set set;
        struct error err;
        struct peer peer;
        make_peer(&peer, cases[i].peer);
        assert_int_equal(peer_set_init(&set, allowed, 2, &err), 0);
        if (peer_set_has(&set, &peer) != cases[i].is_in)
            fail_msg("%s in %s", cases[i].peer, cases[i].allowed);
        peer_set_release(&set);
    }
}

TEST(networks_are_their_first_bits)
{
    static const struct {
        const char *networks, *peer;
        bool is_in;
    } cases[] = {
        {"10.0.0.0/8", "10.255.1.2", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.0/8", "::ffff:10.1.1.1", true},
        {"10.128.0.0/9", "10.127.255.255", false},
        {"10.128.0.0/9", "10.129.0.0", true},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1/32", "192.0.2.0", false},
        {"192.0.2.1/31", "192.0.2.0", true},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "203.0.113.9", true},
        {"::/0", "2001:db8::1", true},
        {"fd00::/16", "fd00:1::1", true},
        {"fd00::/16", "fd01::1", false},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"10.0.0.0/8,fd00::/16", "fd00::7", true},
        {" 10.0.0.0/8 , 172.16.0.0/12", "172.31.0.1", true},
        {"10.0.0.0/8,172.16.0.0/12", "172.32.0.1", false},
        {"127.0.0.1", "::1", true},
        {"10.0.0.0/8", "127.0.0.1", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct peer_set set;
        struct error err;
        struct peer peer;
        make_peer(&peer, cases[i].peer);
        assert_int_equal(peer_set_parse(&set, cases[i].networks, &err), 0);
        if (peer_set_has(&set, &peer) != cases[i].is_in)
            fail_msg("%s in %s", cases[i].peer, cases[i].networks);
        peer_set_release(&set);
    }
}

TEST(bad_networks_are_refused)
{
    static const char *const cases[] = {
        "",           ",",           "10.0.0.0/33",  "::/129",         "10.0.0.0/",
        "10.0.0.0/x", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/8;::1", "localhost",
        "/8",         "10.0.0/8"};
    struct peer_set set;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (peer_set_parse(&set, cases[i], &err) == 0)
            fail_msg("'%s' was taken", cases[i]);
        assert_int_equal(err.code, ERROR_INVALID);
    }
    assert_int_equal(peer_set_parse(&set, NULL, &err), 0);
    assert_true(set.is_open);
    peer_set_release(&set);
}

TEST(null_lets_everyone_in_and_empty_no_one)
{
    const char *const none[] = {NULL};
    struct peer_set set;
    struct peer peer;

    make_peer(&peer, "127.0.0.1");
    assert_int_equal(peer_set_init(&set, NULL, 0, NULL), 0);
    assert_true(peer_set_has(&set, &peer));
    peer_set_release(&set);
    assert_int_equal(peer_set_init(&set, none, 0, NULL), 0);
    assert_false(peer_set_has(&set, &peer));
    peer_set_release(&set);
}

TEST(names_are_refused)
{
    static const char *const cases[] = {
        "localhost",  "",      "1.2.3",
        "10.0.0.1/8", "%eth0", "1111:2222:3333:4444:5555:6666:7777:8888:9999:0:0:0"};
    struct peer_set set;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(peer_set_init(&set, &cases[i], 1, &err), -1);
        assert_int_equal(err.code, ERROR_INVALID);
    }
}

TEST(address_is_shown_as_people_write_it)
{
    char text[PEER_TEXT_MAX];
    struct peer peer;

    make_peer(&peer, "::ffff:10.0.0.1");
    assert_string_equal(peer_format(&peer, text), "10.0.0.1:80");
    make_peer(&peer, "fe80::1");
    assert_string_equal(peer_format(&peer, text), "[fe80::1]:80");
}

TEST(own_addresses_are_known)
{
    static const char *const loopback[] = {"127.0.0.1", "127.9.9.9", "::1",
                                           "::ffff:127.0.0.1"};
    static const char *const foreign[] = {"192.0.2.77", "2001:db8::77", "::", "node-1"};

    for (size_t i = 0; i < 4; i++) {
        assert_true(peer_is_loopback(loopback[i]) && peer_is_here(loopback[i]));
        assert_false(peer_is_loopback(foreign[i]) || peer_is_here(foreign[i]));
    }
}
