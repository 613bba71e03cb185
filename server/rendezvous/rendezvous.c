/* rendezvous.c - TCPStore servers on the uv loop, one per case on a port of its own */
#include "server/rendezvous/rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "server/rendezvous/tcpstore_conn.h"

#define BACKLOG 4096
#define ACCEPTS_PER_TURN 256
#define ACCEPT_BACKOFF_MS 100
#define KEEPALIVE_IDLE_S 60
#define MAX_WAITS ((size_t)4 << 20)

struct rendezvous_store {
    struct tcpstore_host host;
    LIST_ENTRY(rendezvous_store) link;
    struct rendezvous *rendezvous;
    char *name;
    uv_poll_t listener;
    int fd, port;
    size_t handles; /* not yet closed */
    struct peer_set allowed;
};

struct rendezvous {
    uv_loop_t *loop;
    struct sockaddr_storage listen;
    socklen_t listen_len;
    int port_low, port_high, next_port;
    size_t max_keys, max_bytes, max_connections;
    LIST_HEAD(, rendezvous_store) stores;
    size_t handles; /* of all stores, also closed ones, and the timer */
    uv_timer_t backoff;
    struct rendezvous_counters counters;
    void (*closed)(void *arg);
    void *closed_arg;
    char read_buffer[TCPSTORE_READ_BYTES];
};

/* ---- Handles ---- */

static void release_handle(struct rendezvous *rendezvous)
{
    void (*closed)(void *arg) = rendezvous->closed;
    void *arg = rendezvous->closed_arg;

    if (--rendezvous->handles)
        return;
    free(rendezvous);
    if (closed)
        closed(arg);
}

static void store_free(struct rendezvous_store *store)
{
    peer_set_release(&store->allowed);
    free(store->name);
    free(store);
}

static void release_store_handle(struct rendezvous_store *store)
{
    struct rendezvous *rendezvous = store->rendezvous;

    if (--store->handles == 0)
        store_free(store);
    release_handle(rendezvous);
}

static void on_conn_closed(struct tcpstore_host *host)
{
    release_store_handle(
        (struct rendezvous_store *)((char *)host -
                                    offsetof(struct rendezvous_store, host)));
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct rendezvous_store *store = handle->data;

    release_store_handle(store);
}

static void on_timer_closed(uv_handle_t *handle)
{
    release_handle(handle->data);
}

/* ---- Accepting ---- */

static void on_connection(uv_poll_t *listener, int status, int events);

static void on_backoff(uv_timer_t *timer)
{
    struct rendezvous *rendezvous = timer->data;
    struct rendezvous_store *store;

    LIST_FOREACH(store, &rendezvous->stores, link)
    uv_poll_start(&store->listener, UV_READABLE, on_connection);
}

/* Descriptors or memory are out: what waits in the backlog keeps until some are free. */
static void back_off(struct rendezvous_store *store, int errnum)
{
    struct rendezvous *rendezvous = store->rendezvous;

    log_warn("rendezvous %s: cannot accept a connection: %s", store->name,
             strerror(errnum));
    uv_poll_stop(&store->listener);
    uv_timer_start(&rendezvous->backoff, on_backoff, ACCEPT_BACKOFF_MS, 0);
}

static void refuse(struct rendezvous_store *store, int fd, const struct peer *peer,
                   const char *why)
{
    store->rendezvous->counters.refused_connections++;
    tcpstore_host_complain(&store->host, peer, why);
    close(fd);
}

static void admit(struct rendezvous_store *store, int fd, const struct peer *peer)
{
    struct rendezvous *rendezvous = store->rendezvous;

    if (!peer_set_has(&store->allowed, peer)) {
        refuse(store, fd, peer, "refused: not an address of this store's clients");
        return;
    }
    if (store->host.n_conns >= rendezvous->max_connections) {
        refuse(store, fd, peer,
               "refused: the store has reached its limit of connections");
        return;
    }
    store->handles++;
    rendezvous->handles++;
    if (tcpstore_conn_create(&store->host, fd, peer) == 0)
        return;
    rendezvous->counters.refused_connections++;
    tcpstore_host_complain(&store->host, peer, "refused: out of memory");
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
        /* Anything else is the failure of one connection that is no more. */
    }
}

/* ---- Listening ---- */

static void set_port(struct sockaddr_storage *address, int port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
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

/* Accepted sockets inherit these from the listener, which saves three calls for each. */
static void set_options(int fd)
{
    const int on = 1, off = 0, idle_s = KEEPALIVE_IDLE_S;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

/* A listening socket on the port, or -1 with errno. */
static int listen_on(const struct rendezvous *rendezvous, int port)
{
    struct sockaddr_storage address = rendezvous->listen;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int saved;

    if (fd < 0)
        return -1;
    set_options(fd);
    set_port(&address, port);
    if (bind(fd, (struct sockaddr *)&address, rendezvous->listen_len) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* Ports are taken in turn: a straggler of a store that closed must not find the next one.
 */
static int listen_in_range(struct rendezvous *rendezvous, struct error *err)
{
    int count = rendezvous->port_high - rendezvous->port_low + 1;
    int fd = -1;

    for (int i = 0; i < count && fd < 0; i++) {
        int port = rendezvous->next_port++;
        if (rendezvous->next_port > rendezvous->port_high)
            rendezvous->next_port = rendezvous->port_low;
        fd = listen_on(rendezvous, port);
        if (fd < 0 && errno != EADDRINUSE)
            return error_set_errno(err, ERROR_IO, errno, "cannot listen on port %d",
                                   port);
    }
    if (fd < 0 && count == 1)
        return error_set(err, ERROR_UNAVAILABLE, "rendezvous port %d is in use",
                         rendezvous->port_low);
    if (fd < 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "every rendezvous port from %d to %d is in use",
                         rendezvous->port_low, rendezvous->port_high);
    return fd;
}

/* ---- Stores ---- */

static int store_init(struct rendezvous_store *store, const char *name,
                      const char *const *allowed, size_t n_allowed, struct error *err)
{
    struct rendezvous *rendezvous = store->rendezvous;
    struct tcpstore_limits limits = {rendezvous->max_keys, rendezvous->max_bytes,
                                     MAX_WAITS};
    struct tcpstore_host *host = &store->host;

    if (peer_set_init(&store->allowed, allowed, n_allowed, err) < 0)
        return -1;
    store->name = strdup(name);
    host->kv = tcpstore_kv_create(&limits);
    if (!store->name || !host->kv)
        return error_set(err, ERROR_MEMORY, "out of memory");
    host->loop = rendezvous->loop;
    host->name = store->name;
    host->max_bytes = rendezvous->max_bytes;
    host->counters = &rendezvous->counters;
    host->read_buffer = rendezvous->read_buffer;
    host->conn_closed = on_conn_closed;
    TAILQ_INIT(&host->conns);
    TAILQ_INIT(&host->dirty);
    store->fd = listen_in_range(rendezvous, err);
    if (store->fd < 0)
        return -1;
    store->port = bound_port(store->fd);
    return 0;
}

static int watch_listener(struct rendezvous_store *store, struct error *err)
{
    int rc = uv_poll_init(store->rendezvous->loop, &store->listener, store->fd);

    if (rc < 0)
        return error_set(err, ERROR_IO, "cannot watch a socket: %s", uv_strerror(rc));
    store->listener.data = store;
    store->handles++;
    store->rendezvous->handles++;
    LIST_INSERT_HEAD(&store->rendezvous->stores, store, link);
    rc = uv_poll_start(&store->listener, UV_READABLE, on_connection);
    if (rc == 0)
        return 0;
    error_set(err, ERROR_IO, "cannot watch a socket: %s", uv_strerror(rc));
    rendezvous_store_close(store);
    return -1;
}

struct rendezvous_store *rendezvous_open(struct rendezvous *rendezvous, const char *name,
                                         const char *const *allowed, size_t n_allowed,
                                         struct error *err)
{
    struct rendezvous_store *store = calloc(1, sizeof(*store));

    if (!store) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    store->fd = -1;
    store->rendezvous = rendezvous;
    if (store_init(store, name, allowed, n_allowed, err) == 0 &&
        watch_listener(store, err) == 0)
        return store;
    /* Once the listener is watched, closing frees the store. */
    if (store->handles == 0) {
        if (store->fd >= 0)
            close(store->fd);
        tcpstore_kv_destroy(store->host.kv);
        store_free(store);
    }
    return NULL;
}

int rendezvous_store_port(const struct rendezvous_store *store)
{
    return store->port;
}

void rendezvous_store_close(struct rendezvous_store *store)
{
    LIST_REMOVE(store, link);
    while (!TAILQ_EMPTY(&store->host.conns))
        tcpstore_conn_close(TAILQ_FIRST(&store->host.conns));
    tcpstore_kv_destroy(store->host.kv);
    store->host.kv = NULL;
    uv_close((uv_handle_t *)&store->listener, on_listener_closed);
    close(store->fd);
    store->fd = -1;
}

/* ---- The whole ---- */

/* "::" means both families, and IPv4 alone where the kernel has no IPv6. */
static int parse_listen(struct rendezvous *rendezvous, const char *text,
                        struct error *err)
{
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&rendezvous->listen;
    struct sockaddr_in *in = (struct sockaddr_in *)&rendezvous->listen;
    int probe;

    if (uv_ip4_addr(text, 0, in) == 0) {
        rendezvous->listen_len = sizeof(*in);
        return 0;
    }
    if (uv_ip6_addr(text, 0, in6) < 0)
        return error_set(err, ERROR_INVALID, "\"%s\" is not a numeric address", text);
    rendezvous->listen_len = sizeof(*in6);
    if (strcmp(text, "::") != 0)
        return 0;
    probe = listen_on(rendezvous, 0);
    if (probe >= 0)
        close(probe);
    else if (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)
        return parse_listen(rendezvous, "0.0.0.0", err);
    return 0;
}

struct rendezvous *rendezvous_create(uv_loop_t *loop,
                                     const struct rendezvous_config *config,
                                     struct error *err)
{
    struct rendezvous *rendezvous = calloc(1, sizeof(*rendezvous));

    if (!rendezvous) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    rendezvous->loop = loop;
    rendezvous->port_low = rendezvous->next_port = config->port_low;
    rendezvous->port_high = config->port_high;
    rendezvous->max_keys = config->max_keys ? config->max_keys : 65536;
    rendezvous->max_bytes = config->max_bytes ? config->max_bytes : (size_t)256 << 20;
    rendezvous->max_connections =
        config->max_connections ? config->max_connections : 16384;
    if (parse_listen(rendezvous, config->listen_address, err) < 0)
        goto fail;
    if (config->port_low < 0 || config->port_high < config->port_low ||
        config->port_high > 65535 || (config->port_low == 0 && config->port_high != 0)) {
        error_set(err, ERROR_INVALID, "%d-%d is not a range of ports", config->port_low,
                  config->port_high);
        goto fail;
    }
    uv_timer_init(loop, &rendezvous->backoff);
    rendezvous->backoff.data = rendezvous;
    rendezvous->handles = 1;
    return rendezvous;

fail:
    free(rendezvous);
    return NULL;
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
    struct tcpstore_usage usage;

    *out = rendezvous->counters;
    LIST_FOREACH(store, &rendezvous->stores, link)
    {
        tcpstore_kv_usage(store->host.kv, &usage);
        out->stores++;
        out->connections += store->host.n_conns;
        out->keys += usage.keys;
        out->bytes += usage.bytes;
        out->parked_waits += usage.waits;
    }
}

static void add_key(void *arg, const void *key, size_t key_len, size_t value_len)
{
    json_array_append_new(arg,
                          json_pack("{s:o, s:I}", "key", tcpstore_key_json(key, key_len),
                                    "bytes", (json_int_t)value_len));
}

static json_t *describe_store(const struct rendezvous_store *store)
{
    const struct tcpstore_conn *conn;
    json_t *keys = json_array(), *waits = json_array();

    tcpstore_kv_each_key(store->host.kv, add_key, keys);
    for (conn = TAILQ_FIRST(&store->host.conns); conn; conn = tcpstore_conn_next(conn))
        json_array_append_new(waits, tcpstore_conn_describe_wait(conn));
    return json_pack("{s:s, s:i, s:I, s:o, s:o}", "name", store->name, "port",
                     store->port, "connections", (json_int_t)store->host.n_conns, "keys",
                     keys, "waits", waits);
}

json_t *rendezvous_describe(const struct rendezvous *rendezvous)
{
    const struct rendezvous_store *store;
    json_t *stores = json_array();

    LIST_FOREACH(store, &rendezvous->stores, link)
    json_array_append_new(stores, describe_store(store));
    return stores;
}
