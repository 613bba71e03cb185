/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - starts and stops the HTTP server, and wakes the loop */
#include "server/http/http.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/http/internal.h"

/* enough for 10,000 agents with two connections each */
#define DEFAULT_CONNECTIONS 30000u
#define DEFAULT_STREAMS 2000u
#define DEFAULT_UNREAD ((size_t)64 << 20)
/* Bytes of memory that each open connection occupies, for the headers of a request and
 * its answer. The library's default of 32 KiB would cost four times as much per parked
 * agent. If headers exceed about 7.9 KB, the library answers 431. */
#define CONNECTION_MEMORY 8192u
#define IDLE_TIMEOUT_S 60u
/* after a restart of the server, all agents connect at once, twice each */
#define BACKLOG 4096
#define SEND_BUFFER_BYTES (128 * 1024)
#define DESCRIPTORS_KEPT 64 /* file descriptors reserved for the rest of the process */
#define CLOSE_GRACE_MS 1000
#define CLOSE_TICK_MS 20
#define SWEEP_MS 1000
#define UNREAD_SWEEPS 5
/* Number of threads. To resume a connection, the library scans all suspended connections
 * of its thread, so several threads are faster. */
#define THREADS 4
/* Maximum number of evicted connections that the library may not have closed yet. */
#define ENDING 1024u

static void on_wake(uv_async_t *wake)
{
    serve(wake->data);
}

static void on_sweep(uv_timer_t *sweep)
{
    struct http_server *server = sweep->data;

    uv_mutex_lock(&server->lock);
    connection_sweep(server);
    linger_sweep(server, false);
    if (server->has_turns) {
        send_tick(server, UNREAD_SWEEPS);
        uv_async_send(&server->wake);
    }
    uv_mutex_unlock(&server->lock);
}

static void server_free(struct http_server *server)
{
    static_files_destroy(server->files);
    certificate_release(server->certificate);
    uv_mutex_destroy(&server->lock);
    uv_rwlock_destroy(&server->auth_lock);
    free(server->hosts);
    free(server);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct http_server *server = handle->data;
    void (*closed)(void *arg) = server->closed;
    void *arg = server->closed_arg;

    if (--server->handles > 0)
        return;
    close(server->watch_fd);
    server_free(server);
    if (closed)
        closed(arg);
}

/* Stop the library. Call when no connection is suspended, that is, when every request is
 * answered and all streams have ended. */
static void stop(struct http_server *server)
{
    MHD_stop_daemon(server->mhd);
    server->mhd = NULL;
    uv_mutex_lock(&server->lock);
    linger_sweep(server, true);
    uv_mutex_unlock(&server->lock);
    uv_close((uv_handle_t *)&server->wake, on_handle_closed);
    uv_close((uv_handle_t *)&server->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&server->watches, on_handle_closed);
}

static void on_closing_tick(uv_timer_t *timer)
{
    struct http_server *server = timer->data;
    unsigned open;

    uv_mutex_lock(&server->lock);
    open = server->n_exchanges;
    uv_mutex_unlock(&server->lock);
    if (open == 0 || uv_now(server->loop) >= server->close_deadline_ms)
        stop(server);
}

void http_server_close(struct http_server *server, void (*closed)(void *arg), void *arg)
{
    if (server->is_closing)
        return;
    server->closed = closed;
    server->closed_arg = arg;
    uv_mutex_lock(&server->lock);
    server->is_closing = true;
    uv_mutex_unlock(&server->lock);
    accept_close(server, on_handle_closed);
    serve_no_more(server);
    uv_update_time(server->loop);
    server->close_deadline_ms = uv_now(server->loop) + CLOSE_GRACE_MS;
    uv_timer_start(&server->sweep, on_closing_tick, 0, CLOSE_TICK_MS);
}

/* The library's messages concern individual connections, so log them at debug level only.
 * Keep the last one, which explains a failed start. */
static void on_library_message(void *cls, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void on_library_message(void *cls, const char *format, va_list args)
{
    struct http_server *server = cls;
    char text[256];

    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    if (server->is_starting)
        memcpy(server->library_text, text, sizeof(text));
    log_debug("http: %s", text);
}

static void set_listener_options(int fd, int family)
{
    int on = 1, off = 0, idle_s = 30, interval_s = 10, probes = 3;
    int send_bytes = SEND_BUFFER_BYTES;

    /* Accepted sockets inherit these options. If one cannot be set, the server starts
     * anyway. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
}

static int open_listener(const struct sockaddr_storage *address,
                         struct sockaddr_storage *bound, struct error *err)
{
    socklen_t len = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : sizeof(struct sockaddr_in);
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot create a listening socket");
    set_listener_options(fd, address->ss_family);
    if (bind(fd, (const struct sockaddr *)address, len))
        error_set_errno(err, ERROR_IO, errno, "cannot bind");
    else if (listen(fd, BACKLOG))
        error_set_errno(err, ERROR_IO, errno, "cannot listen");
    else if (len = sizeof(*bound), getsockname(fd, (struct sockaddr *)bound, &len))
        error_set_errno(err, ERROR_IO, errno, "cannot read the bound address");
    else
        return fd;
    close(fd);
    return -1;
}

static unsigned connection_limit(unsigned wanted)
{
    struct rlimit limit;

    if (wanted == 0)
        wanted = DEFAULT_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= (rlim_t)wanted + DESCRIPTORS_KEPT)
        return wanted;
    if (limit.rlim_cur <= 2 * DESCRIPTORS_KEPT)
        return DESCRIPTORS_KEPT;
    return (unsigned)limit.rlim_cur - DESCRIPTORS_KEPT;
}

/* With TLS, let the library use poll(). With epoll, version 0.9 of the library keeps a
 * whole core busy while a handshake waits for its client. */
static struct MHD_Daemon *call_start(struct http_server *server,
                                     struct MHD_OptionItem *tls)
{
    unsigned flags = MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG |
                     (server->is_tls ? MHD_USE_TLS | MHD_USE_POLL_INTERNAL_THREAD
                                     : MHD_USE_EPOLL_INTERNAL_THREAD);

    /* The server enforces its own limit. The library's limit is set so high that no
     * distribution of connections over the threads reaches it. */
    return MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_handle, server, MHD_OPTION_EXTERNAL_LOGGER,
        on_library_message, server, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, THREADS * (server->max_connections + ENDING),
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_open, server, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, server, MHD_OPTION_NOTIFY_CONNECTION, connection_notify,
        server, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static int start_daemon(struct http_server *server, const struct http_config *config,
                        struct error *err)
{
    char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    char *cert = memory_text(server->is_tls ? config->tls_cert : "", "a certificate");
    char *key = memory_text(server->is_tls ? config->tls_key : "", "a certificate");
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    int rc = 0;

    server->is_starting = true;
    server->mhd = call_start(server, server->is_tls ? tls : plain);
    server->is_starting = false;
    if (!server->mhd)
        rc = error_set(err, ERROR_INVALID, "cannot start the HTTP daemon: %s",
                       server->library_text[0] ? server->library_text : "out of memory");
    free(cert);
    explicit_bzero(key, strlen(key));
    free(key);
    return rc;
}

static void init_handles(struct http_server *server)
{
    uv_async_init(server->loop, &server->wake, on_wake);
    uv_timer_init(server->loop, &server->sweep);
    server->wake.data = server->sweep.data = server;
    server->handles += 2;
}

static struct http_server *server_new(uv_loop_t *loop, const struct http_config *config,
                                      const struct http_route *routes, void *arg)
{
    struct http_server *server = memory_zeroed(1, sizeof(*server), "the HTTP server");

    server->loop = loop;
    server->routes = routes;
    server->arg = arg;
    server->auth = config->auth;
    server->has_tokens = config->auth;
    server->max_streams = config->max_streams ? config->max_streams : DEFAULT_STREAMS;
    server->max_unread = config->max_unread ? config->max_unread : DEFAULT_UNREAD;
    server->max_connections = connection_limit(config->max_connections);
    server->is_tls = config->tls_cert && config->tls_key;
    server->hosts = memory_text(config->hosts ? config->hosts : "", "the HTTP server");
    uv_mutex_init(&server->lock);
    uv_rwlock_init(&server->auth_lock);
    TAILQ_INIT(&server->handled);
    TAILQ_INIT(&server->turns);
    TAILQ_INIT(&server->streams);
    TAILQ_INIT(&server->small);
    TAILQ_INIT(&server->large);
    TAILQ_INIT(&server->agents);
    TAILQ_INIT(&server->notices);
    TAILQ_INIT(&server->waiting);
    TAILQ_INIT(&server->lingers);
    TAILQ_INIT(&server->due);
    TAILQ_INIT(&server->unread);
    return server;
}

/* Start the listener last, because connections arrive as soon as it exists. */
static int start(struct http_server *server, const struct http_config *config,
                 struct error *err)
{
    int listener;

    if (!config->tls_cert != !config->tls_key)
        return error_set(err, ERROR_INVALID, "TLS needs both a certificate and a key");
    if (config->web_dir) {
        server->files = static_files_load(config->web_dir, err);
        if (!server->files)
            return -1;
    }
    listener = open_listener(&config->listen, &server->address, err);
    if (listener < 0)
        return -1;
    if (start_daemon(server, config, err)) {
        close(listener);
        return -1;
    }
    if (watches_start(server, err)) {
        close(listener);
        MHD_stop_daemon(server->mhd);
        return -1;
    }
    init_handles(server);
    accept_start(server, listener);
    uv_timer_start(&server->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return 0;
}

struct http_server *http_server_create(uv_loop_t *loop, const struct http_config *config,
                                       const struct http_route *routes, void *arg,
                                       struct error *err)
{
    struct http_server *server = server_new(loop, config, routes, arg);

    if (start(server, config, err)) {
        server_free(server);
        return NULL;
    }
    return server;
}

void http_server_set_token_check(struct http_server *server,
                                 http_token_check *is_agent_token, void *arg)
{
    server->is_agent_token = is_agent_token;
    server->token_check_arg = arg;
    server->has_token_check = is_agent_token;
}

void http_server_set_auth(struct http_server *server, const struct http_auth *auth)
{
    assert(!auth == !server->has_tokens);
    uv_rwlock_wrlock(&server->auth_lock);
    server->auth = auth;
    uv_rwlock_wrunlock(&server->auth_lock);
}

int http_server_set_certificate(struct http_server *server, char *cert, char *key,
                                struct error *err)
{
    struct certificate *certificate = certificate_create(cert, key, err);

    if (!certificate)
        return -1;
    uv_mutex_lock(&server->lock);
    certificate_release(server->certificate);
    server->certificate = certificate;
    uv_mutex_unlock(&server->lock);
    return 0;
}

void http_server_address(const struct http_server *server, struct sockaddr_storage *out)
{
    *out = server->address;
}

int http_server_url(const struct http_server *server, char url[HTTP_URL_MAX])
{
    const struct sockaddr *address = (const struct sockaddr *)&server->address;
    bool is_six = address->sa_family == AF_INET6;
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getnameinfo(
            address, is_six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
            host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        return -1;
    snprintf(url, HTTP_URL_MAX, "http%s://%s%s%s:%s", server->is_tls ? "s" : "",
             is_six ? "[" : "", host, is_six ? "]" : "", port);
    return 0;
}

void http_server_counters(struct http_server *server, struct http_counters *out)
{
    uv_mutex_lock(&server->lock);
    *out = server->counters;
    uv_mutex_unlock(&server->lock);
}
