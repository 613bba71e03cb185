/* SPDX-License-Identifier: Apache-2.0 */
/* test_rendezvous_standing.c - the standing store over real sockets */
#include "tests/unit/rendezvous_fixture.h"
#include "tests/unit/test.h"

struct standing {
    struct rendezvous_standing config;
    struct sockaddr_storage listen;
    struct error err;
};

static void set_listen(struct standing *standing, const char *address, int port)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&standing->listen;

    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, address, &in->sin_addr);
    standing->config.listen = &standing->listen;
}

static void open_it(struct fixture *fixture, void *arg)
{
    struct standing *standing = arg;

    fixture->store =
        rendezvous_open_standing(fixture->rendezvous, &standing->config, &standing->err);
    if (fixture->store)
        fixture->port = rendezvous_store_port(fixture->store);
}

static struct standing defaults(void)
{
    return (struct standing){.config = {.ttl_s = 3600, .id_bytes = 1 << 20}};
}

/* Beside the case's store, which the fixture has opened. */
static struct fixture *start_standing(struct standing standing)
{
    struct fixture *fixture = start_with((struct rendezvous_config){0});

    if (standing.listen.ss_family == 0)
        set_listen(&standing, "0.0.0.0", 0);
    standing.config.listen = &standing.listen;
    on_loop(fixture, open_it, &standing);
    if (!fixture->store)
        fail_msg("%s", standing.err.text);
    return fixture;
}

static void end(struct fixture *fixture)
{
    stop(fixture);
    free(fixture);
}

TEST(clients_of_both_versions_share_it)
{
    struct fixture *fixture = start_standing(defaults());
    int v2 = connect_v2(fixture), v1 = connect_to("127.0.0.1", fixture->port);
    int silent = connect_to("127.0.0.1", fixture->port);
    struct rendezvous_counters counters;

    SEND(v2, 6, "qs", N(1), "/k");
    while (counters_of(fixture).standing.parked_waits != 1)
        usleep(1000);
    SEND(v1, 0, "ss", "/k", "from v1");
    EXPECT(v2, "b", 0u);
    SEND(v2, 3, "s", "/k");
    EXPECT(v2, "s", "from v1");
    counters = counters_of(fixture);
    assert_int_equal(counters.standing.stores, 1);
    assert_int_equal(counters.standing.connections, 3);
    assert_int_equal(counters.standing.keys, 1);
    assert_int_equal(counters.cases.stores, 1);
    assert_int_equal(counters.cases.keys, 0);
    close(v1);
    close(v2);
    close(silent);
    end(fixture);
}

TEST(unused_keys_expire)
{
    struct standing standing = defaults();
    struct fixture *fixture;
    int fd;

    standing.config.ttl_s = 1;
    fixture = start_standing(standing);
    fd = connect_v2(fixture);
    SEND(fd, 1, "ss", "/k", "v");
    SEND(fd, 18, "sq", "/held", N(2));
    while (counters_of(fixture).expired_keys != 1)
        usleep(1000);
    /* What someone waits at stays. */
    SEND(fd, 7, "");
    EXPECT(fd, "q", N(1));
    SEND(fd, 12, "");
    EXPECT(fd, "b", 1u);
    while (counters_of(fixture).standing.keys != 0)
        usleep(1000);
    close(fd);
    end(fixture);
}

TEST(only_named_networks_are_let_in)
{
    struct standing standing = defaults();
    struct fixture *fixture;

    standing.config.allowed = "192.0.2.0/24,2001:db8::/32";
    fixture = start_standing(standing);
    expect_end(connect_to("127.0.0.1", fixture->port));
    assert_int_equal(counters_of(fixture).refused[TCPSTORE_ADDRESS_NOT_ALLOWED], 1);
    end(fixture);
    standing.config.allowed = "127.0.0.0/8";
    fixture = start_standing(standing);
    close(connect_v2(fixture));
    end(fixture);
}

/* A job that goes wrong ends there; others go on. */
TEST(an_id_has_its_share_and_others_theirs)
{
    struct standing standing = defaults();
    struct fixture *fixture;
    int hog, other;

    standing.config.id_bytes = 100000;
    fixture = start_standing(standing);
    hog = connect_v2(fixture);
    other = connect_v2(fixture);
    SEND(hog, 1, "sz", "/torch.rendezvous.7", (uint64_t)60000);
    expect_quiet(hog);
    SEND(hog, 1, "sz", "/torch.rendezvous.7.0/info", (uint64_t)60000);
    expect_end(hog);
    assert_int_equal(counters_of(fixture).refused[TCPSTORE_ID_BYTES], 1);
    SEND(other, 1, "sz", "/torch.rendezvous.8", (uint64_t)60000);
    expect_quiet(other);
    SEND(other, 3, "s", "/torch.rendezvous.7");
    EXPECT(other, "z", (uint64_t)60000);
    close(other);
    end(fixture);
}

static void describe(struct fixture *fixture, void *arg)
{
    *(json_t **)arg = rendezvous_describe(fixture->rendezvous);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

TEST(description_shows_clients_and_keeps_to_its_limits)
{
    struct fixture *fixture = start_standing(defaults());
    json_t *all, *store, *client, *wait;
    struct buf bytes;
    char key[16];
    int v2, silent;

    silent = connect_to("127.0.0.1", fixture->port);
    while (counters_of(fixture).standing.connections != 1)
        usleep(1000);
    v2 = connect_v2(fixture);
    buf_init(&bytes, REQUEST_MAX);
    for (int i = 0; i < 1200; i++) {
        snprintf(key, sizeof(key), "/%d", i);
        put_request(&bytes, 1, "ss", key, "v");
    }
    put_request(&bytes, 6, "q", N(150));
    for (int i = 0; i < 150; i++) {
        snprintf(key, sizeof(key), "/wait%d", i);
        put_little_endian(&bytes, strlen(key), 8);
        buf_append_str(&bytes, key);
    }
    send_buf(v2, &bytes);
    while (counters_of(fixture).standing.parked_waits != 1)
        usleep(1000);
    on_loop(fixture, describe, &all);
    store = json_array_get(all, 0);
    assert_string_equal(text_of(store, "name"), "standing");
    assert_true(json_is_true(json_object_get(store, "standing")));
    assert_int_equal(number_of(store, "ttl_s"), 3600);
    assert_int_equal(number_of(store, "key_count"), 1200);
    assert_true(number_of(store, "bytes") > 1200);
    assert_int_equal(json_array_size(json_object_get(store, "keys")), 1000);
    assert_int_equal(json_array_size(json_object_get(store, "clients")), 2);
    client = json_array_get(json_object_get(store, "clients"), 0);
    assert_true(json_is_null(json_object_get(client, "protocol")));
    client = json_array_get(json_object_get(store, "clients"), 1);
    assert_int_equal(number_of(client, "protocol"), 2);
    assert_memory_equal(text_of(client, "peer"), "127.0.0.1:", 10);
    assert_int_equal(strlen(text_of(client, "since")), 24);
    wait = json_array_get(json_object_get(store, "waits"), 0);
    assert_int_equal(number_of(wait, "missing"), 150);
    assert_int_equal(json_array_size(json_object_get(wait, "keys")), 100);
    store = json_array_get(all, 1);
    assert_true(json_is_false(json_object_get(store, "standing")));
    assert_true(json_is_null(json_object_get(store, "ttl_s")));
    json_decref(all);
    close(silent);
    close(v2);
    end(fixture);
}

TEST(what_can_not_be_opened_says_why)
{
    struct fixture *fixture = start_standing(defaults());
    struct standing standing = defaults();
    char words[64];

    standing.config.allowed = "10.0.0.0/33";
    set_listen(&standing, "127.0.0.1", 0);
    on_loop(fixture, open_it, &standing);
    assert_null(fixture->store);
    assert_int_equal(standing.err.code, ERROR_INVALID);
    standing = defaults();
    set_listen(&standing, "127.0.0.1", fixture->port);
    on_loop(fixture, open_it, &standing);
    assert_null(fixture->store);
    snprintf(words, sizeof(words), "cannot listen on 127.0.0.1:%d", fixture->port);
    assert_memory_equal(standing.err.text, words, strlen(words));
    end(fixture);
}

TEST(the_end_lets_its_clients_go)
{
    struct fixture *fixture = start_standing(defaults());
    int fd = connect_v2(fixture);

    SEND(fd, 1, "ss", "/k", "v");
    SEND(fd, 6, "qs", N(1), "/never");
    while (counters_of(fixture).standing.parked_waits != 1)
        usleep(1000);
    end(fixture);
    expect_end(fd);
}
