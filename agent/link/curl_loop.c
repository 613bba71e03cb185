/* SPDX-License-Identifier: Apache-2.0 */
/* curl_loop.c - runs libcurl's multi interface on a uv loop
 *
 * libcurl requests sockets to watch (on_socket) and a wake-up time (on_timeout). Both
 * requests are passed to uv. These two callbacks must not call libcurl's transfer
 * functions. */
#include "agent/link/curl_loop.h"

#include <stdlib.h>

#include "common/base/memory.h"

struct curl_loop {
    uv_loop_t *uv;
    CURLM *multi;
    uv_timer_t timer;
    curl_loop_done_fn on_done;
};

struct watch {
    uv_poll_t poll;
    curl_socket_t fd;
    struct curl_loop *loop;
};

static void report_done(struct curl_loop *loop)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_multi_remove_handle(loop->multi, easy);
        loop->on_done(easy, code);
    }
}

static void drive(struct curl_loop *loop, curl_socket_t fd, int events)
{
    int running;

    curl_multi_socket_action(loop->multi, fd, events, &running);
    report_done(loop);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    const struct watch *watch = poll->data;
    int flags = 0;

    /* CURL_CSELECT_ERR would make libcurl report an error without its reason. With these
     * flags, libcurl reads the socket and finds the reason, such as "Connection timed
     * out". */
    if (status < 0)
        flags = CURL_CSELECT_IN | CURL_CSELECT_OUT;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    drive(watch->loop, watch->fd, flags);
}

static void on_timer(uv_timer_t *timer)
{
    drive(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watch *create_watch(struct curl_loop *loop, curl_socket_t fd)
{
    struct watch *watch = memory_zeroed(1, sizeof(*watch), "a socket");

    watch->loop = loop;
    watch->fd = fd;
    if (uv_poll_init_socket(loop->uv, &watch->poll, fd)) {
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    curl_multi_assign(loop->multi, fd, watch);
    return watch;
}

/* uv_poll_stop makes it safe to reuse the descriptor's number immediately. */
static void remove_watch(struct curl_loop *loop, struct watch *watch)
{
    if (!watch)
        return;
    uv_poll_stop(&watch->poll);
    curl_multi_assign(loop->multi, watch->fd, NULL);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct curl_loop *loop = arg;
    struct watch *watch = socket_arg;
    int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        remove_watch(loop, watch);
        return 0;
    }
    if (!watch)
        watch = create_watch(loop, fd);
    if (!watch)
        return -1;
    if (what != CURL_POLL_OUT)
        events |= UV_READABLE;
    if (what != CURL_POLL_IN)
        events |= UV_WRITABLE;
    return uv_poll_start(&watch->poll, events, on_poll) ? -1 : 0;
}

static int on_timeout(CURLM *multi, long timeout_ms, void *arg)
{
    struct curl_loop *loop = arg;

    (void)multi;
    if (timeout_ms < 0)
        uv_timer_stop(&loop->timer);
    else
        uv_timer_start(&loop->timer, on_timer, (uint64_t)timeout_ms, 0);
    return 0;
}

struct curl_loop *curl_loop_create(uv_loop_t *uv, long connections,
                                   curl_loop_done_fn on_done)
{
    struct curl_loop *loop = memory_zeroed(1, sizeof(*loop), "an HTTP client");

    loop->multi = curl_multi_init();
    if (!loop->multi)
        memory_out("an HTTP client");
    loop->uv = uv;
    loop->on_done = on_done;
    uv_timer_init(uv, &loop->timer);
    loop->timer.data = loop;
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, connections);
    return loop;
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void curl_loop_destroy(struct curl_loop *loop)
{
    if (!loop)
        return;
    /* curl_multi_cleanup still calls on_socket, for connections that it kept open. */
    curl_multi_cleanup(loop->multi);
    uv_close((uv_handle_t *)&loop->timer, on_timer_closed);
}

int curl_loop_add(struct curl_loop *loop, CURL *easy, struct error *err)
{
    CURLMcode code = curl_multi_add_handle(loop->multi, easy);

    if (code)
        return error_set(err, ERROR_INTERNAL, "cannot start a request: %s",
                         curl_multi_strerror(code));
    return 0;
}

void curl_loop_remove(struct curl_loop *loop, CURL *easy)
{
    curl_multi_remove_handle(loop->multi, easy);
}
