/* test_rendezvous_peer.c - who may connect */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <uv.h>

#include "server/rendezvous/rendezvous_peer.h"

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

static void only_listed_addresses_are_let_in(void **state)
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

    (void)state;
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

static void null_lets_everyone_in_and_empty_no_one(void **state)
{
    const char *const none[] = {NULL};
    struct peer_set set;
    struct peer peer;

    (void)state;
    make_peer(&peer, "127.0.0.1");
    assert_int_equal(peer_set_init(&set, NULL, 0, NULL), 0);
    assert_true(peer_set_has(&set, &peer));
    peer_set_release(&set);
    assert_int_equal(peer_set_init(&set, none, 0, NULL), 0);
    assert_false(peer_set_has(&set, &peer));
    peer_set_release(&set);
}

static void names_are_refused(void **state)
{
    static const char *const cases[] = {
        "localhost",  "",      "1.2.3",
        "10.0.0.1/8", "%eth0", "1111:2222:3333:4444:5555:6666:7777:8888:9999:0:0:0"};
    struct peer_set set;
    struct error err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(peer_set_init(&set, &cases[i], 1, &err), -1);
        assert_int_equal(err.code, ERROR_INVALID);
    }
}

static void address_is_shown_as_people_write_it(void **state)
{
    char text[PEER_TEXT_MAX];
    struct peer peer;

    (void)state;
    make_peer(&peer, "::ffff:10.0.0.1");
    assert_string_equal(peer_format(&peer, text), "10.0.0.1:80");
    make_peer(&peer, "fe80::1");
    assert_string_equal(peer_format(&peer, text), "[fe80::1]:80");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_listed_addresses_are_let_in),
        cmocka_unit_test(null_lets_everyone_in_and_empty_no_one),
        cmocka_unit_test(names_are_refused),
        cmocka_unit_test(address_is_shown_as_people_write_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
