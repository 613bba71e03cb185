/* http.c - the server: start, the pump between libuv and libmicrohttpd, stop */
#include "server/http/http.h"

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
#include "server/http/internal.h"

#define DEFAULT_CONNECTIONS 30000u /* 10,000 agents have two each */
#define DEFAULT_STREAMS 2000u
#define DEFAULT_UNREAD ((size_t)64 << 20)
/* Headers of a request and those of its answer share this memory, which a connection
 * keeps touched for life: 32 KiB, the library's default, costs four times as much per
 * parked agent. Headers may have some 7.9 KB; beyond that the library answers 431. */
#define CONNECTION_MEMORY 8192u
#define IDLE_TIMEOUT_S 60u
#define BACKLOG 4096 /* after a restart every agent comes at once, with two */
#define SEND_BUFFER_BYTES (128 * 1024)
#define RESUMES_PER_TURN 256
/* In its run that follows a resume the library looks at every suspended connection, 0.2
 * to 0.4 ms for a thousand. So answers wait for others to go with, 2 ms for a thousand:
 * looking takes no more than a sixth of the loop's time. */
#define SUSPENDED_PER_WAIT_MS 500
#define DESCRIPTORS_KEPT 64 /* for everything else in the process */
#define CLOSE_GRACE_MS 1000
#define CLOSE_TICK_MS 20
/* A hello costs the server about a millisecond, the rest of a handshake a third of one;
 * others are served in between. */
#define HELLOS_PER_TURN 2
#define HANDSHAKES_PER_TURN 4
#define HELLO_MS 10000 /* from accept on */
#define HEAD_MS 30000
/* Connections that the library closes in its next run, to make room. */
#define CONNECTIONS_ENDING 64u

static void pump(struct http_server *server);

/* The library runs once per turn of the loop, however much it has to do: what else the
 * loop watches, new connections first of all, has its turn in between. */
static void on_now(uv_idle_t *now)
{
    pump(now->data);
}

static void on_timer(uv_timer_t *timer)
{
    http_server_wake(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    http_server_wake(poll->data);
}

/* In how many ms the next batch of answers may go, UINT64_MAX where there is none. */
static uint64_t resume_wait_ms(const struct http_server *server)
{
    uint64_t due_ms = server->resumed_ms + server->n_suspended / SUSPENDED_PER_WAIT_MS;
    uint64_t now = uv_now(server->loop);

    if (TAILQ_EMPTY(&server->resumes))
        return UINT64_MAX;
    return now < due_ms ? due_ms - now : 0;
}

static void resume_batch(struct http_server *server, unsigned limit)
{
    struct http_request *request;

    while (limit-- > 0 && (request = TAILQ_FIRST(&server->resumes))) {
        TAILQ_REMOVE(&server->resumes, request, resumes);
        request->is_resuming = false;
        request->is_suspended = false;
        server->n_suspended--;
        connection_unwatch(request->connection);
        MHD_resume_connection(request->connection->mhd);
        if (TAILQ_EMPTY(&server->resumes))
            server->resumed_ms = uv_now(server->loop);
    }
}

/* libuv runs a timer that is due again at once before it looks at anything else, so what
 * is due at once is no timer's. */
static void arm(struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    uint64_t wait_ms;

    /* A long run leaves the loop's clock behind, and the next wait would be too long. */
    uv_update_time(server->loop);
    uv_timer_stop(&server->timer);
    wait_ms = resume_wait_ms(server);
    if (!TAILQ_EMPTY(&server->woken) || exchange_has_bodies(server) ||
        reply_has_turns(server))
        wait_ms = 0;
    else if (MHD_get_timeout(server->mhd, &timeout) == MHD_YES && timeout < wait_ms)
        wait_ms = timeout;
    if (wait_ms == 0)
        http_server_wake(server);
    else if (wait_ms != UINT64_MAX)
        uv_timer_start(&server->timer, on_timer, wait_ms, 0);
}

static void stop(struct http_server *server);

static void pump(struct http_server *server)
{
    if (server->is_stopped)
        return;
    uv_idle_stop(&server->now);
    server->is_pumping = true;
    if (server->is_closing)
        resume_batch(server, UINT32_MAX);
    else if (resume_wait_ms(server) == 0)
        resume_batch(server, RESUMES_PER_TURN);
    handshake_resume(server, HANDSHAKES_PER_TURN);
    exchange_begin_turn(server);
    MHD_run(server->mhd);
    handshake_hold(server);
    stream_run_notices(server);
    reply_turns(server);
    exchange_handle_bodies(server);
    server->is_pumping = false;
    if (server->is_closing && (TAILQ_EMPTY(&server->requests) ||
                               uv_now(server->loop) >= server->close_deadline_ms))
        stop(server);
    else
        arm(server);
}

static void on_closing_tick(uv_timer_t *timer)
{
    pump(timer->data);
}

static void on_handle_closed(uv_handle_t *handle)
{
    http_server_handle_closed(handle->data);
}

static void on_lobby_closed(void *arg)
{
    http_server_handle_closed(arg);
}

static void close_handles(struct http_server *server)
{
    uv_close((uv_handle_t *)&server->timer, on_handle_closed);
    uv_close((uv_handle_t *)&server->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&server->now, on_handle_closed);
}

/* Nothing may be suspended when the daemon stops: every request has its answer by now,
 * and the runs here let the library see the resumes. */
static void stop(struct http_server *server)
{
    server->is_pumping = true;
    handshake_resume_all(server);
    resume_batch(server, UINT32_MAX);
    MHD_run(server->mhd);
    resume_batch(server, UINT32_MAX);
    MHD_run(server->mhd);
    server->is_stopped = true;
    uv_close((uv_handle_t *)&server->poll, on_handle_closed);
    MHD_stop_daemon(server->mhd);
    server->mhd = NULL;
    stream_run_notices(server);
    linger_close_all(server);
    close_handles(server);
}

void http_server_close(struct http_server *server, void (*closed)(void *arg), void *arg)
{
    struct http_request *request, *next;

    if (server->is_closing)
        return;
    server->is_closing = true;
    server->closed = closed;
    server->closed_arg = arg;
    lobby_close(server->lobby, on_lobby_closed, server);
    server->lobby = NULL;
    for (request = TAILQ_FIRST(&server->requests); request; request = next) {
        next = TAILQ_NEXT(request, all);
        if (request->stream)
            stream_server_closing(request->stream);
        else if (request->is_suspended)
            exchange_abandon(request);
    }
    uv_update_time(server->loop);
    server->close_deadline_ms = uv_now(server->loop) + CLOSE_GRACE_MS;
    uv_timer_start(&server->sweep, on_closing_tick, 0, CLOSE_TICK_MS);
}

/* The library's messages are about single connections: of use when one looks for a fault,
 * noise otherwise. The last one explains a failed start. */
static void on_library_message(void *cls, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void on_library_message(void *cls, const char *format, va_list args)
{
    struct http_server *server = cls;

    vsnprintf(server->library_text, sizeof(server->library_text), format, args);
    server->library_text[strcspn(server->library_text, "\n")] = '\0';
    log_debug("http: %s", server->library_text);
}

static void set_listener_options(int fd, int family)
{
    int on = 1, off = 0, idle_s = 30, interval_s = 10, probes = 3;
    int send_bytes = SEND_BUFFER_BYTES;

    /* Accepted sockets inherit these. None is worth a failed start. */
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
        return error_set_errno(err, ERROR_IO, errno, "cannot make a listening socket");
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

static struct MHD_Daemon *call_start(struct http_server *server, unsigned connections,
                                     struct MHD_OptionItem *tls)
{
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG;

    if (server->is_tls)
        flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_handle, server, MHD_OPTION_EXTERNAL_LOGGER,
        on_library_message, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
        connections + CONNECTIONS_ENDING, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, exchange_open,
        server, MHD_OPTION_NOTIFY_COMPLETED, exchange_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, connection_notify, server, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
}

static int start_daemon(struct http_server *server, const struct http_config *config,
                        struct error *err)
{
    char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    char *cert = strdup(server->is_tls ? config->tls_cert : "");
    char *key = strdup(server->is_tls ? config->tls_key : "");
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    int rc = 0;

    if (cert && key)
        server->mhd = call_start(server, connection_limit(config->max_connections),
                                 server->is_tls ? tls : plain);
    if (!server->mhd)
        rc = error_set(err, ERROR_INVALID, "cannot start the HTTP daemon: %s",
                       server->library_text[0] ? server->library_text : "out of memory");
    free(cert);
    if (key)
        explicit_bzero(key, strlen(key));
    free(key);
    return rc;
}

static unsigned connections_admitted(void *arg)
{
    const struct http_server *server = arg;

    return server->counters.connections;
}

/* Takes the listener, also when it fails. */
static int open_lobby(struct http_server *server, const struct http_config *config,
                      int listener, struct error *err)
{
    unsigned max = connection_limit(config->max_connections);
    struct lobby_config lobby = {
        .listener = listener,
        .is_tls = server->is_tls,
        .max = max,
        .max_waiting = max / 2,
        .max_per_address = max / 4,
        .max_per_turn = server->is_tls ? HELLOS_PER_TURN : 0,
        .patience_ms = server->is_tls ? HELLO_MS : HEAD_MS,
        .admit = connection_admit,
        .admitted = connections_admitted,
        .reclaim = deadline_reclaim,
        .arg = server,
    };

    server->lobby = lobby_create(server->loop, &lobby, err);
    return server->lobby ? 0 : -1;
}

static int init_handles(struct http_server *server, struct error *err)
{
    int fd = MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int rc = uv_poll_init(server->loop, &server->poll, fd);

    if (rc)
        return error_set(err, ERROR_IO, "cannot watch the HTTP daemon: %s",
                         uv_strerror(rc));
    uv_timer_init(server->loop, &server->timer);
    uv_timer_init(server->loop, &server->sweep);
    uv_idle_init(server->loop, &server->now);
    server->poll.data = server->timer.data = server->sweep.data = server->now.data =
        server;
    server->handles = 5; /* with the lobby */
    uv_poll_start(&server->poll, UV_READABLE, on_poll);
    return 0;
}

static struct http_server *server_new(uv_loop_t *loop, const struct http_config *config,
                                      const struct http_route *routes, void *arg)
{
    struct http_server *server = calloc(1, sizeof(*server));

    if (!server)
        return NULL;
    server->loop = loop;
    server->routes = routes;
    server->arg = arg;
    server->run = on_now;
    server->auth = config->auth;
    server->max_streams = config->max_streams ? config->max_streams : DEFAULT_STREAMS;
    server->is_tls = config->tls_cert && config->tls_key;
    server->hosts = strdup(config->hosts ? config->hosts : "");
    if (!server->hosts) {
        free(server);
        return NULL;
    }
    TAILQ_INIT(&server->requests);
    TAILQ_INIT(&server->resumes);
    TAILQ_INIT(&server->turns);
    TAILQ_INIT(&server->bodies[0].requests);
    TAILQ_INIT(&server->bodies[1].requests);
    TAILQ_INIT(&server->notices);
    TAILQ_INIT(&server->waiting);
    TAILQ_INIT(&server->shaking);
    TAILQ_INIT(&server->held);
    TAILQ_INIT(&server->woken);
    roster_init(&server->handshakes);
    backlog_init(&server->backlog,
                 config->max_unread ? config->max_unread : DEFAULT_UNREAD);
    TAILQ_INIT(&server->lingers);
    return server;
}

static void ignore(void *arg)
{
    (void)arg;
}

struct http_server *http_server_create(uv_loop_t *loop, const struct http_config *config,
                                       const struct http_route *routes, void *arg,
                                       struct error *err)
{
    struct http_server *server = server_new(loop, config, routes, arg);
    int listener;

    if (!server) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    if (!config->tls_cert != !config->tls_key) {
        error_set(err, ERROR_INVALID, "TLS needs both a certificate and a key");
        goto fail;
    }
    if (config->web_dir) {
        server->files = static_files_load(config->web_dir, err);
        if (!server->files)
            goto fail;
    }
    listener = open_listener(&config->listen, &server->address, err);
    if (listener < 0)
        goto fail;
    if (start_daemon(server, config, err)) {
        close(listener);
        goto fail;
    }
    if (open_lobby(server, config, listener, err))
        goto fail_daemon;
    if (init_handles(server, err)) {
        lobby_close(server->lobby, ignore, NULL);
        goto fail_daemon;
    }
    return server;
fail_daemon:
    MHD_stop_daemon(server->mhd);
fail:
    static_files_destroy(server->files);
    free(server->hosts);
    free(server);
    return NULL;
}

void http_server_set_guests(struct http_server *server, http_guest *is_guest, void *arg)
{
    server->is_guest = is_guest;
    server->guests = arg;
}

void http_server_set_auth(struct http_server *server, const struct http_auth *auth)
{
    server->auth = auth;
}

int http_server_set_certificate(struct http_server *server, char *cert, char *key,
                                struct error *err)
{
    struct certificate *certificate = certificate_create(cert, key, err);

    if (!certificate)
        return -1;
    certificate_release(server->certificate);
    server->certificate = certificate;
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

void http_server_counters(const struct http_server *server, struct http_counters *out)
{
    struct lobby_counters lobby = {.waiting = 0};

    *out = server->counters;
    out->unread_bytes = server->backlog.bytes;
    out->dropped = server->backlog.dropped;
    if (server->lobby)
        lobby_counters(server->lobby, &lobby);
    out->connections += lobby.waiting;
    out->waiting = lobby.waiting;
    out->reclaimed = lobby.reclaimed;
    out->refused = lobby.refused;
}
