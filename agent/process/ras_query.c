/* ras_query.c - ask NCCL's RAS on this node, without waiting for it */
#include "agent/process/ras_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/ncclog/ras.h"
#include "common/base/buf.h"

struct ras_query {
    uv_loop_t *loop;
    char host[128], port[8];
    ras_query_done *done;
    void *arg;
    uv_getaddrinfo_t lookup;
    struct sockaddr_storage address;
    uv_tcp_t socket;
    uv_connect_t connect;
    uv_write_t write;
    uv_timer_t timer;
    struct buf answer;
    bool is_over, is_looking;
    int open; /* handles that are not closed */
};

static void free_if_closed(struct ras_query *query)
{
    if (!query->is_over || query->open > 0 || query->is_looking)
        return;
    buf_release(&query->answer);
    free(query);
}

static void on_closed(uv_handle_t *handle)
{
    struct ras_query *query = handle->data;

    query->open--;
    free_if_closed(query);
}

void ras_query_cancel(struct ras_query *query)
{
    if (!query || query->is_over)
        return;
    query->is_over = true;
    uv_cancel((uv_req_t *)&query->lookup);
    uv_close((uv_handle_t *)&query->timer, on_closed);
    if (query->open > 1 && !uv_is_closing((uv_handle_t *)&query->socket))
        uv_close((uv_handle_t *)&query->socket, on_closed);
}

static void finish(struct ras_query *query)
{
    if (query->is_over)
        return;
    query->done(query->arg, query->answer.data ? query->answer.data : "",
                query->answer.len);
    ras_query_cancel(query);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    buf->base = malloc(suggested);
    buf->len = buf->base ? suggested : 0;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct ras_query *query = stream->data;

    if (n > 0 && buf_append(&query->answer, buf->base, (size_t)n))
        n = UV_ENOBUFS;
    free(buf->base);
    if (n < 0 && !query->is_over)
        finish(query);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct ras_query *query = connect->data;
    static char question[] = RAS_QUESTION;
    uv_buf_t all = uv_buf_init(question, sizeof(question) - 1);

    if (query->is_over || status == UV_ECANCELED)
        return;
    if (status || uv_read_start((uv_stream_t *)&query->socket, on_alloc, on_read) ||
        uv_write(&query->write, (uv_stream_t *)&query->socket, &all, 1, NULL))
        finish(query);
}

static void begin(struct ras_query *query)
{
    uv_tcp_init(query->loop, &query->socket);
    query->socket.data = query;
    query->open++;
    query->connect.data = query;
    if (uv_tcp_connect(&query->connect, &query->socket,
                       (const struct sockaddr *)&query->address, on_connect))
        finish(query);
}

static void on_given_up(uv_handle_t *handle)
{
    struct ras_query *query = handle->data;

    query->open--;
    if (query->is_over)
        free_if_closed(query);
    else
        begin(query);
}

/* Nothing was heard: a process that is stopped takes connections and says nothing. */
static void on_timer(uv_timer_t *timer)
{
    struct ras_query *query = timer->data;

    if (query->answer.len == 0 && query->open > 1 &&
        !uv_is_closing((uv_handle_t *)&query->socket))
        uv_close((uv_handle_t *)&query->socket, on_given_up);
}

static void on_address(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    struct ras_query *query = lookup->data;

    query->is_looking = false;
    if (!status && found->ai_addrlen <= sizeof(query->address))
        memcpy(&query->address, found->ai_addr, found->ai_addrlen);
    uv_freeaddrinfo(found);
    if (query->is_over) {
        free_if_closed(query);
    } else if (status) {
        finish(query);
    } else {
        uv_timer_start(&query->timer, on_timer, RAS_QUERY_PATIENCE_MS,
                       RAS_QUERY_PATIENCE_MS);
        begin(query);
    }
}

static bool split(struct ras_query *query, const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;

    if (len > 1 && address[0] == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof(query->host) ||
        strlen(colon + 1) >= sizeof(query->port))
        return false;
    memcpy(query->host, address, len);
    snprintf(query->port, sizeof(query->port), "%s", colon + 1);
    return true;
}

bool ras_query_is_here(const char *host)
{
    struct sockaddr_storage address;
    bool is_four = uv_ip4_addr(host, 0, (struct sockaddr_in *)&address) == 0, is_here;
    int fd;

    if (!is_four && uv_ip6_addr(host, 0, (struct sockaddr_in6 *)&address))
        return true;
    fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    is_here = fd < 0 || bind(fd, (const struct sockaddr *)&address,
                             is_four ? sizeof(struct sockaddr_in)
                                     : sizeof(struct sockaddr_in6)) == 0;
    if (fd >= 0)
        close(fd);
    return is_here;
}

struct ras_query *ras_query_start(uv_loop_t *loop, const char *address,
                                  ras_query_done *done, void *arg)
{
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct ras_query *query = calloc(1, sizeof(*query));

    if (!query || !split(query, address)) {
        free(query);
        return NULL;
    }
    query->loop = loop;
    query->done = done;
    query->arg = arg;
    query->lookup.data = query;
    buf_init(&query->answer, RAS_ANSWER_MAX);
    if (uv_getaddrinfo(loop, &query->lookup, on_address, query->host, query->port,
                       &hints)) {
        free(query);
        return NULL;
    }
    query->is_looking = true;
    uv_timer_init(loop, &query->timer);
    query->timer.data = query;
    query->open = 1;
    return query;
}
