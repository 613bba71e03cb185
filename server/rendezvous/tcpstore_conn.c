/* tcpstore_conn.c - one client's connection to a TCPStore */
#include "server/rendezvous/tcpstore_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"

#define UNSENT_SOFT_MAX                                                                  \
    ((size_t)1 << 20)    /* beyond it nothing more is read or executed                   \
                          */
#define KEEP_BYTES 16384 /* memory that an idle connection may hold on to */
#define PARTS_MAX 64     /* of a step */

struct tcpstore_conn {
    uv_tcp_t tcp;
    uv_write_t write;
    TAILQ_ENTRY(tcpstore_conn) link;
    TAILQ_ENTRY(tcpstore_conn) dirty_link;
    struct tcpstore_host *host;
    struct tcpstore_client client;
    struct tcpstore_parser parser;
    struct peer peer;
    struct tcpstore_out out;     /* replies not handed to the system */
    struct tcpstore_out sending; /* those of which a step is being written */
    size_t step;                 /* its bytes */
    struct buf backlog;          /* read but not executed, while is_paused */
    size_t counted;              /* this connection's part of host->buffered */
    int fd;
    int64_t since_ms, wait_since_ms; /* wall clock */
    bool is_dirty, is_sending, is_paused, is_closing, has_failed;
    bool is_woken; /* while it lists keys: to be said behind them */
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

    tcpstore_parser_release(&conn->parser);
    tcpstore_out_release(&conn->out);
    tcpstore_out_release(&conn->sending);
    buf_release(&conn->backlog);
    free(conn);
    host->conn_closed(host);
}

void tcpstore_conn_close(struct tcpstore_conn *conn)
{
    struct tcpstore_host *host = conn->host;

    if (conn->is_closing)
        return;
    conn->is_closing = true;
    host->buffered -= conn->counted;
    tcpstore_client_hold(&conn->client, -(ptrdiff_t)conn->counted);
    conn->counted = 0;
    tcpstore_client_release(&conn->client);
    if (conn->is_dirty)
        TAILQ_REMOVE(&host->dirty, conn, dirty_link);
    conn->is_dirty = false;
    TAILQ_REMOVE(&host->conns, conn, link);
    host->n_conns--;
    uv_close((uv_handle_t *)&conn->tcp, on_closed);
}

static void fail(struct tcpstore_conn *conn, enum tcpstore_refusal why)
{
    conn->has_failed = true;
    tcpstore_host_refused(conn->host, &conn->peer, why);
}

static size_t unsent(const struct tcpstore_conn *conn)
{
    return tcpstore_out_len(&conn->out) + tcpstore_out_len(&conn->sending);
}

/* Keep the account of memory that clients make us hold; a client that takes it over the
 * limit is the one to go. */
static void account(struct tcpstore_conn *conn)
{
    struct tcpstore_host *host = conn->host;
    size_t now = unsent(conn) + conn->backlog.len + conn->parser.partial.len;
    bool has_grown = now > conn->counted, is_address_fine;

    if (now == conn->counted)
        return;
    host->buffered += now - conn->counted;
    is_address_fine =
        tcpstore_client_hold(&conn->client, (ptrdiff_t)(now - conn->counted));
    conn->counted = now;
    if (!has_grown || conn->has_failed)
        return;
    if (!is_address_fine)
        fail(conn, TCPSTORE_ADDRESS_UNREAD);
    else if (host->buffered > host->max_bytes)
        fail(conn, TCPSTORE_STORE_UNREAD);
}

/* ---- Sending ---- */

static void mark_dirty(struct tcpstore_conn *conn)
{
    if (conn->is_dirty || conn->is_closing)
        return;
    conn->is_dirty = true;
    TAILQ_INSERT_TAIL(&conn->host->dirty, conn, dirty_link);
}

static void on_wake(struct tcpstore_client *client)
{
    struct tcpstore_conn *conn =
        (struct tcpstore_conn *)((char *)client - offsetof(struct tcpstore_conn, client));

    conn->is_woken = client->is_listing;
    if (!conn->is_woken && tcpstore_put_u8(&conn->out.bytes, TCPSTORE_STOP_WAITING) < 0)
        fail(conn, TCPSTORE_MEMORY);
    mark_dirty(conn);
}

static void resume(struct tcpstore_conn *conn);
static void flush_dirty(struct tcpstore_host *host);
static int send_step(struct tcpstore_conn *conn);

static void on_sent(uv_write_t *write, int status)
{
    struct tcpstore_conn *conn = write->data;
    struct tcpstore_host *host = conn->host;

    conn->is_sending = false;
    if (conn->is_closing)
        return;
    tcpstore_out_sent(&conn->sending, conn->step, KEEP_BYTES);
    if (status < 0 || (tcpstore_out_len(&conn->sending) && send_step(conn) < 0)) {
        tcpstore_conn_close(conn);
        return;
    }
    account(conn);
    if (conn->is_sending)
        return;
    mark_dirty(conn);
    flush_dirty(host);
}

/* Hand over the next step. The one after it comes when the loop has seen to the others:
 * whoever asks for much does not hold them up. */
static int send_step(struct tcpstore_conn *conn)
{
    struct iovec parts[PARTS_MAX];
    uv_buf_t bufs[PARTS_MAX];
    size_t n = tcpstore_out_next(&conn->sending, parts, PARTS_MAX);

    conn->step = 0;
    for (size_t i = 0; i < n; i++) {
        bufs[i] = uv_buf_init(parts[i].iov_base, (unsigned)parts[i].iov_len);
        conn->step += parts[i].iov_len;
    }
    conn->write.data = conn;
    conn->is_sending = true;
    return uv_write(&conn->write, (uv_stream_t *)&conn->tcp, bufs, (unsigned)n, on_sent);
}

/* Send what there is, as long as the socket's buffer has room for it and it is little. */
static int send_out(struct tcpstore_conn *conn)
{
    size_t len = tcpstore_out_len(&conn->out);
    struct tcpstore_out swap;

    if (len <= TCPSTORE_STEP_BYTES && !conn->out.n_pieces) {
        ssize_t sent = send(conn->fd, conn->out.bytes.data, len, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        tcpstore_out_sent(&conn->out, sent > 0 ? (size_t)sent : 0, KEEP_BYTES);
    }
    if (!tcpstore_out_len(&conn->out) || conn->has_failed)
        return 0;
    swap = conn->out;
    conn->out = conn->sending;
    conn->sending = swap;
    return send_step(conn);
}

static void flush(struct tcpstore_conn *conn)
{
    bool is_listing = conn->client.is_listing;

    if (is_listing)
        uv_idle_start(&conn->host->lister, tcpstore_host_list);
    else if (!conn->is_sending && tcpstore_out_len(&conn->out) && send_out(conn) < 0)
        conn->has_failed = true;
    account(conn);
    if (conn->has_failed)
        tcpstore_conn_close(conn);
    else if (conn->is_paused && !conn->is_sending && !is_listing)
        resume(conn);
}

/* Flushing may resume a connection, whose requests may wake others: go on until all are
 * done. */
static void flush_dirty(struct tcpstore_host *host)
{
    while (!TAILQ_EMPTY(&host->dirty)) {
        struct tcpstore_conn *conn = TAILQ_FIRST(&host->dirty);
        TAILQ_REMOVE(&host->dirty, conn, dirty_link);
        conn->is_dirty = false;
        flush(conn);
    }
}

static void list_on(struct tcpstore_conn *conn)
{
    enum tcpstore_refusal why;

    if (tcpstore_kv_list_on(&conn->client, &conn->out, &why) < 0)
        fail(conn, why);
    if (conn->is_woken && !conn->client.is_listing)
        on_wake(&conn->client);
    mark_dirty(conn);
}

void tcpstore_host_list(uv_idle_t *lister)
{
    struct tcpstore_host *host =
        (struct tcpstore_host *)((char *)lister - offsetof(struct tcpstore_host, lister));
    struct tcpstore_conn *conn;

    uv_idle_stop(lister);
    TAILQ_FOREACH (conn, &host->conns, link)
        if (conn->client.is_listing)
            list_on(conn);
    flush_dirty(host);
}

/* ---- Receiving ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct tcpstore_conn *conn = handle->data;

    (void)suggested;
    *buf = uv_buf_init(conn->host->read_buffer, TCPSTORE_READ_BYTES);
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

/* Execute what is complete in input until the client has too much unread. */
static void feed(struct tcpstore_conn *conn, struct tcpstore_slice *input)
{
    struct tcpstore_request request;
    enum tcpstore_parse result = TCPSTORE_REQUEST;

    while (input->len && !conn->has_failed && !conn->client.is_listing &&
           unsent(conn) <= UNSENT_SOFT_MAX) {
        result = tcpstore_parse(&conn->parser, input, &request);
        if (result == TCPSTORE_REQUEST)
            execute(conn, &request);
        else if (result == TCPSTORE_BAD)
            fail(conn, conn->parser.fault);
    }
}

/* Put aside what may not be executed yet, and read no more. */
static void pause_with(struct tcpstore_conn *conn, const struct tcpstore_slice *rest)
{
    conn->is_paused = true;
    uv_read_stop((uv_stream_t *)&conn->tcp);
    if (buf_append(&conn->backlog, rest->data, rest->len) < 0)
        fail(conn, TCPSTORE_MEMORY);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct tcpstore_conn *conn = stream->data;
    struct tcpstore_slice input = {(const unsigned char *)buf->base,
                                   n > 0 ? (size_t)n : 0};

    if (n < 0) {
        tcpstore_conn_close(conn);
        return;
    }
    feed(conn, &input);
    if (input.len && !conn->has_failed)
        pause_with(conn, &input);
    account(conn);
    mark_dirty(conn);
    flush_dirty(conn->host);
}

/* The client has read what there was: execute what was put aside. */
static void resume(struct tcpstore_conn *conn)
{
    struct buf backlog = conn->backlog;
    struct tcpstore_slice input = {(const unsigned char *)backlog.data, backlog.len};

    buf_init(&conn->backlog, backlog.max);
    conn->is_paused = false;
    feed(conn, &input);
    if (input.len && !conn->has_failed)
        pause_with(conn, &input);
    else if (uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read) < 0)
        conn->has_failed = true;
    buf_release(&backlog);
    account(conn);
    mark_dirty(conn);
}

static struct tcpstore_conn *conn_new(struct tcpstore_host *host, int fd,
                                      const struct peer *peer)
{
    struct tcpstore_conn *conn = calloc(1, sizeof(*conn));

    if (!conn || uv_tcp_init(host->loop, &conn->tcp) < 0) {
        free(conn);
        return NULL;
    }
    conn->tcp.data = conn;
    conn->host = host;
    conn->fd = fd;
    conn->peer = *peer;
    conn->since_ms = clock_wall_ms();
    tcpstore_client_init(&conn->client, host->kv, on_wake);
    tcpstore_parser_init(&conn->parser, host->max_bytes);
    tcpstore_out_init(&conn->out, host->max_bytes);
    tcpstore_out_init(&conn->sending, host->max_bytes);
    buf_init(&conn->backlog, TCPSTORE_READ_BYTES);
    TAILQ_INSERT_TAIL(&host->conns, conn, link);
    host->n_conns++;
    return conn;
}

static int begin_reading(struct tcpstore_conn *conn, enum tcpstore_refusal *why)
{
    int rc = uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read);

    return rc == 0 ? 0 : tcpstore_refuse(why, TCPSTORE_SOCKET);
}

int tcpstore_conn_create(struct tcpstore_host *host, int fd, const struct peer *peer,
                         enum tcpstore_refusal *why)
{
    struct tcpstore_conn *conn = conn_new(host, fd, peer);
    int rc;

    if (!conn) {
        close(fd);
        host->conn_closed(host);
        return tcpstore_refuse(why, TCPSTORE_MEMORY);
    }
    rc = uv_tcp_open(&conn->tcp, fd);
    if (rc < 0) {
        close(fd);
        tcpstore_refuse(why, TCPSTORE_SOCKET);
    } else if ((!host->is_counted ||
                tcpstore_client_enter(&conn->client, &peer->address, why) == 0) &&
               begin_reading(conn, why) == 0) {
        return 0;
    }
    tcpstore_conn_close(conn);
    return -1;
}

/* ---- Description ---- */

struct tcpstore_conn *tcpstore_conn_next(const struct tcpstore_conn *conn)
{
    return TAILQ_NEXT(conn, link);
}

json_t *tcpstore_key_json(const struct tcpstore_kv *kv, const void *key, size_t len)
{
    struct tcpstore_slice bytes = {key, len};
    json_t *value;
    char *shown;

    tcpstore_kv_hide_secret(kv, &bytes);
    value = json_stringn((const char *)bytes.data, bytes.len);
    if (value)
        return value;
    shown = malloc(bytes.len + 1);
    if (!shown)
        return NULL;
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = bytes.data[i];
        shown[i] = byte >= 0x20 && byte < 0x7f ? (char)byte : '?';
    }
    value = json_stringn(shown, bytes.len);
    free(shown);
    return value;
}

struct wait_keys {
    const struct tcpstore_kv *kv;
    json_t *array;
};

static void add_key(void *arg, const void *key, size_t len)
{
    struct wait_keys *keys = arg;

    json_array_append_new(keys->array, tcpstore_key_json(keys->kv, key, len));
}

json_t *tcpstore_conn_describe(const struct tcpstore_conn *conn)
{
    char peer[PEER_TEXT_MAX], since[CLOCK_TEXT_MAX];
    enum tcpstore_version version = conn->parser.version;

    return json_pack(
        "{s:s, s:o, s:s}", "peer", peer_format(&conn->peer, peer), "protocol",
        version == TCPSTORE_UNKNOWN ? json_null()
                                    : json_integer(1 + (version == TCPSTORE_V2)),
        "since", clock_format_ms(conn->since_ms, since));
}

json_t *tcpstore_conn_describe_wait(const struct tcpstore_conn *conn)
{
    char peer[PEER_TEXT_MAX], since[CLOCK_TEXT_MAX];
    struct wait_keys keys;

    if (!conn->client.missing)
        return NULL;
    keys = (struct wait_keys){conn->host->kv, json_array()};
    tcpstore_client_each_wait(&conn->client, RENDEZVOUS_SHOWN_WAIT_KEYS_MAX, add_key,
                              &keys);
    return json_pack("{s:s, s:o, s:I, s:s}", "peer", peer_format(&conn->peer, peer),
                     "keys", keys.array, "missing", (json_int_t)conn->client.missing,
                     "since", clock_format_ms(conn->wait_since_ms, since));
}
