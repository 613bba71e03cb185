/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_client.c - the agent's connections to the server */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <uv.h>

#include "agent/link/http_client.h"
#include "tests/unit/test.h"

struct ends {
    uv_tcp_t listener;
    int port, idle_s, probing_s;
};

static int port_of(const struct sockaddr_in *address)
{
    return ntohs(address->sin_port);
}

static int tcp_option(int fd, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);

    assert_int_equal(getsockopt(fd, IPPROTO_TCP, option, &value, &len), 0);
    return value;
}

/* The client is in this process, too. */
static void on_connection(uv_stream_t *listener, int status)
{
    struct ends *ends = listener->data;

    assert_int_equal(status, 0);
    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_in peer;
        socklen_t len = sizeof(peer);

        if (getpeername(fd, (struct sockaddr *)&peer, &len) ||
            peer.sin_family != AF_INET || port_of(&peer) != ends->port)
            continue;
        ends->idle_s = tcp_option(fd, TCP_KEEPIDLE);
        ends->probing_s = tcp_option(fd, TCP_KEEPINTVL) * tcp_option(fd, TCP_KEEPCNT);
    }
    uv_stop(listener->loop);
}

static void fail_on_reply(void *arg, const struct http_reply *reply)
{
    (void)arg;
    fail_msg("%s", reply->text);
}

TEST(a_connection_is_probed_seldom)
{
    struct ends ends = {.port = 0};
    struct sockaddr_in address;
    int len = sizeof(address);
    char url[64];
    uv_loop_t loop;

    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_tcp_init(&loop, &ends.listener), 0);
    ends.listener.data = &ends;
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(&ends.listener, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&ends.listener, 8, on_connection), 0);
    uv_tcp_getsockname(&ends.listener, (struct sockaddr *)&address, &len);
    ends.port = port_of(&address);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ends.port);

    struct http_client *client =
        http_client_create(&(struct http_client_params){.loop = &loop, .base_url = url});
    const struct http_request_params params = {.method = "GET", .path = "/"};
    assert_non_null(http_client_send(client, &params, fail_on_reply, NULL, NULL));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(ends.idle_s >= 10);
    assert_true(ends.idle_s + ends.probing_s <= 30);

    http_client_destroy(client);
    uv_close((uv_handle_t *)&ends.listener, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}
