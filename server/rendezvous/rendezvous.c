/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous.c - runs TCPStore servers on the uv loop, one for each case, each on a
 * separate port */
#include "server/rendezvous/rendezvous.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/rendezvous/tcpstore_conn.h"

#define BACKLOG 4096
#define KEEPALIVE_IDLE_S 60
#define ACCEPTS_PER_TURN 256
#define ACCEPT_BACKOFF_MS 100
#define STANDING_NAME "standing"
#define STANDING_MAX_KEYS 262144
/* Number of sweeps for expired keys during one time to live. A sweep also runs at least
 * once a minute. */
#define SWEEPS_PER_TTL 20
#define SWEEP_MAX_MS 60000

struct rendezvous_store {
    struct tcpstore_host host;
    LIST_ENTRY(rendezvous_store) link;
    struct rendezvous *rendezvous;
    char *name;
    /* prefix of the workers' keys; "" in the standing store */
    char secret[ID_UUID_LENGTH + 1];
    uv_poll_t listener;
    uv_timer_t sweep; /* timer for expired keys; used by the standing store only */
    int fd, port;
    bool is_standing;
    long ttl_s;
    size_t handles; /* number of open handles */
    struct peer_set allowed;
};

struct rendezvous {
    uv_loop_t *loop;
    struct rendezvous_config config;
    int next_port;
    LIST_HEAD(, rendezvous_store) stores;
    size_t open; /* reference count: 1 for the timer, and 1 for each store that is not
                    freed */
    uv_timer_t backoff;
    struct rendezvous_counters counters;
    void (*closed)(void *arg);
    void *closed_arg;
    char read_buffer[TCPSTORE_READ_BYTES];
};

/* ---- Handles ---- */

static void release(struct rendezvous *rendezvous)
{
    void (*closed)(void *arg) = rendezvous->closed;
    void *arg = rendezvous->closed_arg;

    if (--rendezvous->open)
        return;
    free(rendezvous);
    if (closed)
        closed(arg);
}

static void release_store(struct rendezvous_store *store)
{
    if (--store->handles)
        return;
    release(store->rendezvous);
    peer_set_release(&store->allowed);
    free(store->name);
    free(store);
}

static void on_conn_closed(struct tcpstore_host *host)
{
    release_store((struct rendezvous_store *)((char *)host -
                                              offsetof(struct rendezvous_store, host)));
}

static void on_store_handle_closed(uv_handle_t *handle)
{
    release_store(handle->data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    release(handle->data);
}

/* ---- Accepting ---- */

static void on_connection(uv_poll_t *listener, int status, int events);

static void on_backoff(uv_timer_t *timer)
{
    struct rendezvous *rendezvous = timer->data;
    struct rendezvous_store *store;

    LIST_FOREACH (store, &rendezvous->stores, link)
        uv_poll_start(&store->listener, UV_READABLE, on_connection);
}

/* The process ran out of descriptors or memory: leave connections in the backlog for a
 * while. */
static void back_off(struct rendezvous_store *store, int errnum)
{
    struct rendezvous *rendezvous = store->rendezvous;

    log_warn("rendezvous %s: cannot accept a connection: %s", store->name,
             strerror(errnum));
    uv_poll_stop(&store->listener);
    uv_timer_start(&rendezvous->backoff, on_backoff, ACCEPT_BACKOFF_MS, 0);
}

static void refuse(struct rendezvous_store *store, int fd, const struct peer *peer,
                   enum tcpstore_refusal why)
{
    tcpstore_host_refused(&store->host, peer, why);
    close(fd);
}

static void admit(struct rendezvous_store *store, int fd, const struct peer *peer)
{
    if (!peer_set_has(&store->allowed, peer))
        refuse(store, fd, peer, TCPSTORE_ADDRESS_NOT_ALLOWED);
    else if (store->host.n_conns >= store->rendezvous->config.max_connections)
        refuse(store, fd, peer, TCPSTORE_STORE_CONNECTIONS);
    else if (tcpstore_conn_create(&store->host, fd, peer) < 0)
        refuse(store, fd, peer, TCPSTORE_SOCKET);
    else
        store->handles++;
}

static void on_connection(uv_poll_t *listener, int status, int events)
{
    struct rendezvous_store *store = listener->data;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage address;
        socklen_t len = sizeof(address);
        struct peer peer;
        int fd = accept4(store->fd, (struct sockaddr *)&address, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            peer_from_sockaddr(&peer, (const struct sockaddr *)&address);
            admit(store, fd, &peer);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                   errno == ENOMEM) {
            back_off(store, errno);
            return;
        }
        /* Other errors concern a single connection, which is closed already. */
    }
}

/* ---- Listening ---- */

/* Set options on the listener. Accepted sockets inherit them, which saves three calls per
 * socket. */
static void set_options(int fd)
{
    const int on = 1, off = 0, idle_s = KEEPALIVE_IDLE_S;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

/* Return a listening socket on the address and port (0: any free port), or -1 with
 * errno. */
static int listen_on(struct sockaddr_storage address, int port)
{
    bool is_ipv6 = address.ss_family == AF_INET6;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int saved;

    if (fd < 0)
        return -1;
    set_options(fd);
    if (is_ipv6)
        ((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)port);
    if (bind(fd, (struct sockaddr *)&address,
             is_ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    struct peer peer;

    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    peer_from_sockaddr(&peer, (const struct sockaddr *)&address);
    return (int)peer.port;
}

/* Listen on the next free port of the range. Ports are used in rotation, so that a late
 * client of a closed store does not reach the next store. */
static int listen_in_range(struct rendezvous *rendezvous, struct error *err)
{
    const struct rendezvous_config *config = &rendezvous->config;
    int count = config->port_high - config->port_low + 1;
    int fd = -1;

    for (int i = 0; i < count && fd < 0; i++) {
        int port = rendezvous->next_port++;
        if (rendezvous->next_port > config->port_high)
            rendezvous->next_port = config->port_low;
        fd = listen_on(config->listen, port);
        if (fd < 0 && errno != EADDRINUSE)
            return error_set_errno(err, ERROR_IO, errno, "cannot listen on port %d",
                                   port);
    }
    if (fd < 0 && count == 1)
        return error_set(err, ERROR_UNAVAILABLE, "rendezvous port %d is in use",
                         config->port_low);
    if (fd < 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "every rendezvous port from %d to %d is in use",
                         config->port_low, config->port_high);
    return fd;
}

static int listen_standing(const struct sockaddr_storage *address, struct error *err)
{
    const struct sockaddr *sockaddr = (const struct sockaddr *)address;
    char text[PEER_TEXT_MAX];
    struct peer peer;
    int fd;

    peer_from_sockaddr(&peer, sockaddr);
    fd = listen_on(*address, (int)peer.port);
    if (fd >= 0)
        return fd;
    return error_set_errno(err, ERROR_IO, errno, "cannot listen on %s",
                           peer_format(&peer, text));
}

/* ---- Stores ---- */

static void own_handle(struct rendezvous_store *store, uv_handle_t *handle)
{
    handle->data = store;
    store->handles++;
}

/* Open a store on the listening socket fd. If fd is -1, listening has failed with *err,
 * and no store is opened. Takes ownership of fd and *allowed, even on failure. */
static struct rendezvous_store *store_open(struct rendezvous *rendezvous,
                                           const char *name, int fd,
                                           const struct tcpstore_limits *limits,
                                           struct peer_set *allowed, struct error *err)
{
    struct rendezvous_store *store =
        memory_zeroed(1, sizeof(*store), "a rendezvous store");
    int rc = 0;

    store->name = memory_text(name, "a rendezvous store");
    if (fd >= 0)
        rc = uv_poll_init(rendezvous->loop, &store->listener, fd);
    if (rc < 0)
        error_set(err, ERROR_IO, "cannot poll a socket: %s", uv_strerror(rc));
    if (fd < 0 || rc < 0)
        goto fail;
    store->fd = fd;
    store->port = bound_port(fd);
    store->rendezvous = rendezvous;
    store->allowed = *allowed;
    store->host.loop = rendezvous->loop;
    store->host.kv = tcpstore_kv_create(limits, store->secret);
    store->host.max_bytes = limits->max_bytes;
    store->host.counters = &rendezvous->counters;
    store->host.read_buffer = rendezvous->read_buffer;
    store->host.refusals.store_name = store->name;
    store->host.conn_closed = on_conn_closed;
    TAILQ_INIT(&store->host.conns);
    TAILQ_INIT(&store->host.dirty);
    own_handle(store, (uv_handle_t *)&store->listener);
    uv_timer_init(rendezvous->loop, &store->sweep);
    own_handle(store, (uv_handle_t *)&store->sweep);
    LIST_INSERT_HEAD(&rendezvous->stores, store, link);
    rendezvous->open++;
    uv_poll_start(&store->listener, UV_READABLE, on_connection);
    return store;

fail:
    if (fd >= 0)
        close(fd);
    peer_set_release(allowed);
    free(store->name);
    free(store);
    return NULL;
}

struct rendezvous_store *rendezvous_open(struct rendezvous *rendezvous, const char *name,
                                         const char *const *allowed, size_t n_allowed,
                                         struct error *err)
{
    const struct tcpstore_limits limits = {.max_keys = rendezvous->config.max_keys,
                                           .max_bytes = rendezvous->config.max_bytes};
    struct rendezvous_store *store;
    struct peer_set set;

    if (peer_set_init(&set, allowed, n_allowed, err) < 0)
        return NULL;
    store = store_open(rendezvous, name, listen_in_range(rendezvous, err), &limits, &set,
                       err);
    if (store)
        id_uuid(store->secret);
    return store;
}

/* ---- The standing store ---- */

/* Return the time between sweeps. A sweep records when keys were last used, so a recorded
 * time is at most this interval earlier than the actual use. */
static uint64_t sweep_ms(long ttl_s)
{
    uint64_t ms = (uint64_t)ttl_s * 1000 / SWEEPS_PER_TTL;

    return ms < SWEEP_MAX_MS ? ms : SWEEP_MAX_MS;
}

static void on_sweep(uv_timer_t *timer)
{
    struct rendezvous_store *store = timer->data;

    tcpstore_kv_expire(store->host.kv, (int64_t)uv_now(store->host.loop));
}

struct rendezvous_store *
rendezvous_open_standing(struct rendezvous *rendezvous,
                         const struct rendezvous_standing *standing, struct error *err)
{
    const uint64_t interval_ms = sweep_ms(standing->ttl_s);
    const struct tcpstore_limits limits = {
        .max_keys = STANDING_MAX_KEYS,
        .max_bytes = rendezvous->config.max_bytes,
        .max_id_bytes = standing->id_bytes,
        .ttl_ms = (int64_t)standing->ttl_s * 1000 + (int64_t)interval_ms,
    };
    struct rendezvous_store *store;
    struct peer_set set;

    if (peer_set_parse(&set, standing->allowed, err) < 0)
        return NULL;
    store = store_open(rendezvous, STANDING_NAME, listen_standing(standing->listen, err),
                       &limits, &set, err);
    if (!store)
        return NULL;
    store->is_standing = true;
    store->ttl_s = standing->ttl_s;
    on_sweep(&store->sweep);
    uv_timer_start(&store->sweep, on_sweep, interval_ms, interval_ms);
    return store;
}

int rendezvous_store_port(const struct rendezvous_store *store)
{
    return store->port;
}

const char *rendezvous_store_secret(const struct rendezvous_store *store)
{
    return store->secret;
}

void rendezvous_store_close(struct rendezvous_store *store)
{
    LIST_REMOVE(store, link);
    while (!TAILQ_EMPTY(&store->host.conns))
        tcpstore_conn_close(TAILQ_FIRST(&store->host.conns));
    tcpstore_kv_destroy(store->host.kv);
    store->host.kv = NULL;
    uv_close((uv_handle_t *)&store->listener, on_store_handle_closed);
    uv_close((uv_handle_t *)&store->sweep, on_store_handle_closed);
    tcpstore_refusal_log_end(&store->host.refusals);
    close(store->fd);
    store->fd = -1;
}

/* ---- All stores ---- */

static void set_default(size_t *limit, size_t value)
{
    *limit = *limit ? *limit : value;
}

struct rendezvous *rendezvous_create(uv_loop_t *loop,
                                     const struct rendezvous_config *config)
{
    struct rendezvous *rendezvous =
        memory_zeroed(1, sizeof(*rendezvous), "the rendezvous");

    rendezvous->loop = loop;
    rendezvous->config = *config;
    rendezvous->next_port = config->port_low;
    set_default(&rendezvous->config.max_keys, 65536);
    set_default(&rendezvous->config.max_bytes, (size_t)256 << 20);
    set_default(&rendezvous->config.max_connections, 16384);
    uv_timer_init(loop, &rendezvous->backoff);
    rendezvous->backoff.data = rendezvous;
    rendezvous->open = 1;
    return rendezvous;
}

void rendezvous_close(struct rendezvous *rendezvous, void (*closed)(void *arg), void *arg)
{
    rendezvous->closed = closed;
    rendezvous->closed_arg = arg;
    while (!LIST_EMPTY(&rendezvous->stores))
        rendezvous_store_close(LIST_FIRST(&rendezvous->stores));
    uv_close((uv_handle_t *)&rendezvous->backoff, on_timer_closed);
}

void rendezvous_counters(const struct rendezvous *rendezvous,
                         struct rendezvous_counters *out)
{
    const struct rendezvous_store *store;
    struct rendezvous_usage *sum;
    struct tcpstore_usage usage;

    *out = rendezvous->counters;
    LIST_FOREACH (store, &rendezvous->stores, link) {
        sum = store->is_standing ? &out->standing : &out->cases;
        tcpstore_kv_usage(store->host.kv, &usage);
        sum->stores++;
        sum->connections += store->host.n_conns;
        sum->keys += usage.keys;
        sum->bytes += usage.bytes;
        sum->parked_waits += usage.waits;
        out->expired_keys += usage.expired;
    }
}

/* ---- Description ---- */

static json_t *describe_store(const struct rendezvous_store *store)
{
    struct tcpstore_usage usage;

    tcpstore_kv_usage(store->host.kv, &usage);
    return json_pack("{s:s, s:b, s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "name",
                     store->name, "standing", store->is_standing, "port", store->port,
                     "connections", (json_int_t)store->host.n_conns, "key_count",
                     (json_int_t)usage.keys, "bytes", (json_int_t)usage.bytes, "ttl_s",
                     store->is_standing ? json_integer(store->ttl_s) : json_null(),
                     "keys", tcpstore_kv_keys_json(store->host.kv, RENDEZVOUS_SHOWN_MAX),
                     "clients", tcpstore_host_clients_json(&store->host), "waits",
                     tcpstore_host_waits_json(&store->host));
}

json_t *rendezvous_describe(const struct rendezvous *rendezvous)
{
    const struct rendezvous_store *store;
    json_t *stores = json_array();

    LIST_FOREACH (store, &rendezvous->stores, link)
        json_array_append_new(stores, describe_store(store));
    return stores;
}
