/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_conn.c - serves one client's connection to a TCPStore */
#include "server/rendezvous/tcpstore_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

/* If a client's unsent replies exceed this number of bytes, its further requests stay
 * unread in the socket. */
#define UNSENT_SOFT_MAX ((size_t)1 << 20)
#define KEEP_BYTES 8192 /* limit for each buffer of an idle connection */

struct tcpstore_conn {
    uv_poll_t poll;
    TAILQ_ENTRY(tcpstore_conn) link;
    TAILQ_ENTRY(tcpstore_conn) dirty_link;
    struct tcpstore_host *host;
    struct tcpstore_client client;
    struct tcpstore_parser parser;
    struct peer peer;
    struct buf input;        /* received bytes that are not executed yet */
    struct tcpstore_out out; /* replies that are not sent yet */
    size_t counted;          /* the connection's share of host->buffered */
    int fd, events;          /* events: the events that `poll` watches */
    int64_t since_ms,
        wait_since_ms; /* start of the connection and of the current wait, wall clock */
    bool is_dirty, has_failed;
};

void tcpstore_host_refused(struct tcpstore_host *host, const struct peer *peer,
                           enum tcpstore_refusal why)
{
    host->counters->refused[why]++;
    tcpstore_refusal_log_add(&host->refusals, why, peer);
}

/* ---- Life ---- */

static void on_closed(uv_handle_t *handle)
{
    struct tcpstore_conn *conn = handle->data;
    struct tcpstore_host *host = conn->host;

    free(conn);
    host->conn_closed(host);
}

void tcpstore_conn_close(struct tcpstore_conn *conn)
{
    struct tcpstore_host *host = conn->host;

    host->buffered -= conn->counted;
    tcpstore_client_release(&conn->client);
    tcpstore_out_release(&conn->out);
    buf_release(&conn->input);
    if (conn->is_dirty)
        TAILQ_REMOVE(&host->dirty, conn, dirty_link);
    TAILQ_REMOVE(&host->conns, conn, link);
    host->n_conns--;
    uv_close((uv_handle_t *)&conn->poll, on_closed);
    close(conn->fd);
}

static void fail(struct tcpstore_conn *conn, enum tcpstore_refusal why)
{
    conn->has_failed = true;
    tcpstore_host_refused(conn->host, &conn->peer, why);
}

static bool is_held_back(const struct tcpstore_conn *conn)
{
    return tcpstore_out_len(&conn->out) > UNSENT_SOFT_MAX;
}

/* Update the memory used for clients. If the total exceeds the limit, disconnect the
 * client that has just grown. */
static void account(struct tcpstore_conn *conn)
{
    struct tcpstore_host *host = conn->host;
    size_t now = tcpstore_out_len(&conn->out) + conn->input.len;
    bool has_grown = now > conn->counted;

    host->buffered += now - conn->counted;
    conn->counted = now;
    if (has_grown && !conn->has_failed && host->buffered > host->max_bytes)
        fail(conn, TCPSTORE_STORE_UNREAD);
}

/* ---- Executing ---- */

static void mark_dirty(struct tcpstore_conn *conn)
{
    if (conn->is_dirty)
        return;
    conn->is_dirty = true;
    TAILQ_INSERT_TAIL(&conn->host->dirty, conn, dirty_link);
}

static void on_wake(struct tcpstore_client *client)
{
    struct tcpstore_conn *conn =
        (struct tcpstore_conn *)((char *)client - offsetof(struct tcpstore_conn, client));

    if (tcpstore_put_u8(&conn->out.bytes, TCPSTORE_STOP_WAITING) < 0)
        fail(conn, TCPSTORE_REPLY_SIZE);
    mark_dirty(conn);
}

static void execute(struct tcpstore_conn *conn, const struct tcpstore_request *request)
{
    enum tcpstore_refusal why;

    if (request->query < TCPSTORE_QUERIES)
        conn->host->counters->queries[request->query]++;
    conn->client.is_v1 = conn->parser.version == TCPSTORE_V1;
    if (tcpstore_kv_execute(&conn->client, request, &conn->out, &why) < 0)
        fail(conn, why);
    else if (conn->client.missing &&
             (request->query == TCPSTORE_WAIT || request->query == TCPSTORE_BARRIER))
        conn->wait_since_ms = clock_wall_ms();
}

/* Execute complete requests until none is left or the client has too many unread
 * replies. */
static void feed(struct tcpstore_conn *conn)
{
    struct tcpstore_slice input = {(const unsigned char *)conn->input.data,
                                   conn->input.len};
    enum tcpstore_parse result = TCPSTORE_REQUEST;
    struct tcpstore_request request;

    while (result == TCPSTORE_REQUEST && !conn->has_failed && !is_held_back(conn)) {
        result = tcpstore_parse(&conn->parser, &input, &request);
        if (result == TCPSTORE_REQUEST)
            execute(conn, &request);
        else if (result == TCPSTORE_BAD)
            fail(conn, conn->parser.fault);
    }
    buf_consume(&conn->input, conn->input.len - input.len);
    if (!conn->input.len && conn->input.capacity > KEEP_BYTES)
        buf_release(&conn->input);
    mark_dirty(conn);
}

/* ---- Sending ---- */

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(struct tcpstore_conn *conn)
{
    int events = (is_held_back(conn) ? 0 : UV_READABLE) |
                 (tcpstore_out_len(&conn->out) ? UV_WRITABLE : 0);

    if (events != conn->events)
        uv_poll_start(&conn->poll, events, on_ready);
    conn->events = events;
}

/* Send as much as the socket accepts, but at most TCPSTORE_STEP_BYTES, so that a client
 * with long replies does not delay others. Returns -1 if the connection is broken. */
static int send_step(struct tcpstore_conn *conn)
{
    size_t left = TCPSTORE_STEP_BYTES;

    while (left && tcpstore_out_len(&conn->out)) {
        const void *data;
        size_t len = tcpstore_out_next(&conn->out, &data);
        bool is_last = len == tcpstore_out_len(&conn->out) && len <= left;
        ssize_t sent = send(conn->fd, data, len < left ? len : left,
                            is_last ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_MORE);

        if (sent < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        tcpstore_out_sent(&conn->out, (size_t)sent, KEEP_BYTES);
        left -= (size_t)sent;
    }
    return 0;
}

static void flush(struct tcpstore_conn *conn)
{
    bool was_held_back = is_held_back(conn);

    if (send_step(conn) < 0)
        conn->has_failed = true;
    if (was_held_back && !is_held_back(conn))
        feed(conn);
    account(conn);
    if (conn->has_failed)
        tcpstore_conn_close(conn);
    else
        watch(conn);
}

/* Flush all connections that need it. A flush may execute requests that wake other
 * clients, so repeat until none is left. */
static void flush_dirty(struct tcpstore_host *host)
{
    while (!TAILQ_EMPTY(&host->dirty)) {
        struct tcpstore_conn *conn = TAILQ_FIRST(&host->dirty);
        TAILQ_REMOVE(&host->dirty, conn, dirty_link);
        conn->is_dirty = false;
        flush(conn);
    }
}

/* ---- Receiving ---- */

static void receive(struct tcpstore_conn *conn)
{
    char *buffer = conn->host->read_buffer;
    ssize_t n = recv(conn->fd, buffer, TCPSTORE_READ_BYTES, 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        conn->has_failed = true;
    else if (buf_append(&conn->input, buffer, (size_t)n) < 0)
        memory_out("a request to a rendezvous store");
    else
        feed(conn);
}

/* Receive and send. A negative status reports a socket error, but the socket may still
 * contain requests. */
static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct tcpstore_conn *conn = poll->data;

    if (status < 0 || (events & UV_READABLE))
        receive(conn);
    conn->has_failed |= status < 0;
    mark_dirty(conn);
    flush_dirty(conn->host);
}

int tcpstore_conn_create(struct tcpstore_host *host, int fd, const struct peer *peer)
{
    struct tcpstore_conn *conn =
        memory_zeroed(1, sizeof(*conn), "a connection to a rendezvous store");

    if (uv_poll_init(host->loop, &conn->poll, fd) < 0) {
        free(conn);
        return -1;
    }
    conn->poll.data = conn;
    conn->host = host;
    conn->fd = fd;
    conn->peer = *peer;
    conn->since_ms = clock_wall_ms();
    tcpstore_client_init(&conn->client, host->kv, on_wake);
    tcpstore_parser_init(&conn->parser);
    tcpstore_out_init(&conn->out, host->max_bytes);
    buf_init(&conn->input, SIZE_MAX);
    TAILQ_INSERT_TAIL(&host->conns, conn, link);
    host->n_conns++;
    watch(conn);
    return 0;
}

/* ---- Description ---- */

json_t *tcpstore_host_clients_json(const struct tcpstore_host *host)
{
    char peer[PEER_TEXT_MAX], since[CLOCK_TEXT_MAX];
    const struct tcpstore_conn *conn;
    json_t *clients = json_array();

    TAILQ_FOREACH (conn, &host->conns, link) {
        enum tcpstore_version version = conn->parser.version;

        if (json_array_size(clients) == RENDEZVOUS_SHOWN_MAX)
            break;
        json_array_append_new(
            clients, json_pack("{s:s, s:o, s:s}", "peer", peer_format(&conn->peer, peer),
                               "protocol",
                               version == TCPSTORE_UNKNOWN
                                   ? json_null()
                                   : json_integer(version == TCPSTORE_V2 ? 2 : 1),
                               "since", clock_format_ms(conn->since_ms, since)));
    }
    return clients;
}

json_t *tcpstore_host_waits_json(const struct tcpstore_host *host)
{
    char peer[PEER_TEXT_MAX], since[CLOCK_TEXT_MAX];
    const struct tcpstore_conn *conn;
    json_t *waits = json_array(), *keys;

    TAILQ_FOREACH (conn, &host->conns, link) {
        if (!conn->client.missing || json_array_size(waits) == RENDEZVOUS_SHOWN_MAX)
            continue;
        keys = tcpstore_client_keys_json(&conn->client, RENDEZVOUS_SHOWN_WAIT_KEYS_MAX);
        json_array_append_new(
            waits,
            json_pack("{s:s, s:o, s:I, s:s}", "peer", peer_format(&conn->peer, peer),
                      "keys", keys, "missing", (json_int_t)conn->client.missing, "since",
                      clock_format_ms(conn->wait_since_ms, since)));
    }
    return waits;
}
