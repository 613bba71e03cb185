/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_config.c - the server's options: each rule refused, and each overridden */
#include "server/config.h"
#include "tests/unit/test.h"

#define ARGS_MAX 8

/* Load with these arguments (NULL-terminated). */
static int load(struct config *config, const char *const *args, struct error *err)
{
    char *argv[ARGS_MAX + 2];
    char program[] = "ringbench-server";
    int argc = 0, rc;

    memset(config, 0, sizeof(*config));
    argv[argc++] = program;
    for (; *args && argc <= ARGS_MAX; args++)
        argv[argc++] = strdup(*args);
    argv[argc] = NULL;
    rc = config_load(config, argc, argv, err);
    while (argc > 1)
        free(argv[--argc]);
    return rc;
}

TEST(accepts_what_is_safe_or_asked_for)
{
    static const char *const good[][ARGS_MAX] = {
        {NULL},
        {"--listen", "127.0.0.1:0", NULL},
        {"--listen", "127.1.2.3:80", NULL},
        {"--listen", "[::1]:8080", NULL},
        {"--listen", "localhost:8080", NULL},
        {"--listen", "0.0.0.0:8080", "--insecure", NULL},
        {"--listen", ":8080", "--insecure", NULL},
        {"--listen", "0.0.0.0:8080", "--token-file", "/some/file", NULL},
        {"--tls-cert", "c.pem", "--tls-key", "k.pem", NULL},
        {"--rendezvous-ports", "29400-29499", NULL},
        {"--rendezvous-ports=29400-29400", NULL},
        {"--rendezvous-listen", "0.0.0.0:29400", NULL},
        {"--rendezvous-listen", "[::1]:0", "--rendezvous-allow", "10.0.0.0/8", NULL},
    };
    struct config config;
    struct error err;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (load(&config, good[i], &err))
            fail_msg("case %zu: %s", i, err.text);
        config_release(&config);
    }
}

TEST(refuses_with_a_sentence_that_says_why)
{
    static const struct {
        const char *args[ARGS_MAX];
        const char *words;
    } bad[] = {
        {{"--listen", "0.0.0.0:8080", NULL}, "--insecure"},
        {{"--listen", "[::]:8080", NULL}, "--token-file"},
        {{"--listen", ":8080", NULL}, "is reachable from other hosts"},
        {{"--listen", "8080", NULL}, "ADDR:PORT"},
        {{"--listen", "::1:8080", NULL}, "ADDR:PORT"},
        {{"--listen", "127.0.0.1:", NULL}, "ADDR:PORT"},
        {{"--listen", "127.0.0.1:65536", NULL}, "ADDR:PORT"},
        {{"--listen", "127.0.0.1:80x", NULL}, "ADDR:PORT"},
        {{"--listen", "[::1:8080", NULL}, "ADDR:PORT"},
        {{"--tls-cert", "c.pem", NULL}, "both --tls-cert and --tls-key"},
        {{"--tls-key", "k.pem", NULL}, "--tls-cert"},
        {{"--rendezvous-address", "no such host", NULL}, "--rendezvous-address 'no such"},
        {{"--rendezvous-ports", "5-4", NULL}, "range of ports"},
        {{"--rendezvous-ports", "0-4", NULL}, "range of ports"},
        {{"--rendezvous-ports", "1-65536", NULL}, "range of ports"},
        {{"--rendezvous-ports", "1-2x", NULL}, "range of ports"},
        {{"--rendezvous-ports", "", NULL}, "range of ports"},
        {{"--rendezvous-listen", "29400", NULL}, "--rendezvous-listen: '29400' is not"},
        {{"--rendezvous-allow", "10.0.0.0/8", NULL}, "needs --rendezvous-listen"},
        {{"--rendezvous-ttl-s", "0", NULL}, "--rendezvous-ttl-s"},
        {{"--rendezvous-id-mib", "1000", NULL}, "--rendezvous-id-mib"},
        {{"--log-level", "loud", NULL}, "--log-level"},
        {{"--lease-s", "5", "--poll-s", "5", NULL}, "must exceed --poll-s"},
        {{"--lease-s", "1", NULL}, "--lease-s"},
    };
    struct config config;
    struct error err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(load(&config, bad[i].args, &err), -1);
        if (!strstr(err.text, bad[i].words))
            fail_msg("case %zu: '%s' lacks '%s'", i, err.text, bad[i].words);
        config_release(&config);
    }
}

TEST(makes_the_numeric_forms)
{
    static const char *const args[] = {"--listen", "localhost:8123", "--rendezvous-ports",
                                       "100-200", NULL};
    struct config config;
    struct error err;

    assert_int_equal(load(&config, args, &err), 0);
    assert_true(config_is_loopback(&config.address));
    assert_true(config_is_loopback(&config.rendezvous_address));
    assert_int_equal(config.port_low, 100);
    assert_int_equal(config.port_high, 200);
    assert_int_equal(config.lease_s, 30);
    assert_int_equal(config.poll_s, 5);
    assert_int_equal(config.join_timeout_s, 30);
    assert_int_equal(config.level, LOG_INFO);
    assert_false(config.allow_faults);
    config_release(&config);
}

TEST(the_rendezvous_may_listen_elsewhere)
{
    static const char *const args[] = {"--rendezvous-address", "0.0.0.0", NULL};
    struct config config;
    struct error err;

    assert_int_equal(load(&config, args, &err), 0);
    assert_true(config_is_loopback(&config.address));
    assert_int_equal(config.rendezvous_address.ss_family, AF_INET);
    assert_false(config_is_loopback(&config.rendezvous_address));
    config_release(&config);
}

TEST(a_standing_rendezvous_is_there_if_asked_for)
{
    static const char *const args[] = {"--rendezvous-listen", "127.0.0.1:29400", NULL};
    static const char *const none[] = {NULL};
    struct config config;
    struct error err;

    assert_int_equal(load(&config, none, &err), 0);
    assert_null(config.standing_listen);
    config_release(&config);
    assert_int_equal(load(&config, args, &err), 0);
    assert_true(config_is_loopback(&config.standing_address));
    assert_null(config.standing_allow);
    assert_int_equal(config.standing_ttl_s, 3600);
    assert_int_equal(config.standing_id_mib, 64);
    config_release(&config);
}
