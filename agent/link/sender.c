/* SPDX-License-Identifier: Apache-2.0 */
/* sender.c - posts the events of the outbox to the server */
#include "agent/link/sender.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/link/backoff.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"

#define PROGRESS_MS 200 /* ranks report together: one request carries all reports */
#define NO_LIMIT INT64_MAX

struct sender {
    struct http_client *client;
    struct outbox *outbox;
    struct sender_handlers handlers;
    char *path; /* NULL: not registered */
    struct http_request *request;
    int64_t lines; /* stored events in the request */
    uint64_t last; /* sequence number of the last event in the request */
    /* halved when the server refuses a batch, to find the refused event */
    int64_t max_lines;
    uv_timer_t timer;
    bool is_backing_off;
    struct backoff backoff;
};

static void send_batch(struct sender *sender);

static void on_timer(uv_timer_t *timer)
{
    struct sender *sender = timer->data;

    sender->is_backing_off = false;
    send_batch(sender);
}

static void back_off(struct sender *sender)
{
    sender->is_backing_off = true;
    uv_timer_start(&sender->timer, on_timer, scaled_ms(backoff_next(&sender->backoff)),
                   0);
}

static bool has_work(const struct sender *sender)
{
    return outbox_has_stored(sender->outbox) || outbox_has_progress(sender->outbox);
}

void sender_kick(struct sender *sender)
{
    if (!sender->path || sender->request || sender->is_backing_off)
        return;
    /* Send in the next iteration of the loop, so that one batch carries all events of the
     * current iteration. */
    uv_timer_start(&sender->timer, on_timer, 0, 0);
}

void sender_kick_soon(struct sender *sender)
{
    if (!sender->path || sender->request || uv_is_active((uv_handle_t *)&sender->timer))
        return;
    uv_timer_start(&sender->timer, on_timer, PROGRESS_MS, 0);
}

static void send_rest(struct sender *sender)
{
    if (outbox_has_stored(sender->outbox))
        sender_kick(sender);
    else if (outbox_has_progress(sender->outbox))
        sender_kick_soon(sender);
}

/* Apply the acknowledgement in a reply. Returns false if it is missing or contradicts the
 * spool. */
static bool apply_acked(struct sender *sender, const struct http_reply *reply)
{
    int64_t acked = json_get_int(reply->body, "acked", -1);
    struct error err;

    if (acked < 0) {
        sender->handlers.on_failure(sender->handlers.arg,
                                    "the answer to a batch of events lacks 'acked'");
        back_off(sender);
        return false;
    }
    if (outbox_ack(sender->outbox, (uint64_t)acked, &err)) {
        sender->handlers.on_history_lost(sender->handlers.arg, err.text);
        return false;
    }
    return true;
}

static void on_stored(struct sender *sender, const struct http_reply *reply)
{
    uint64_t before = outbox_acked(sender->outbox);

    sender->handlers.on_answer(sender->handlers.arg);
    if (!apply_acked(sender, reply))
        return;
    if (sender->lines > 0 && outbox_acked(sender->outbox) == before) {
        back_off(sender); /* the server stored nothing, so avoid a busy loop */
        return;
    }
    backoff_reset(&sender->backoff);
    if (sender->max_lines < NO_LIMIT / 2)
        sender->max_lines *= 2;
    else
        sender->max_lines = NO_LIMIT;
    sender->handlers.on_acked(sender->handlers.arg);
    send_rest(sender);
}

/* The server refuses the content of a batch. A refused event would block all later ones,
 * so find it by halving the batch and replace it by a log line. */
static void on_refused(struct sender *sender, const struct http_reply *reply)
{
    sender->handlers.on_answer(sender->handlers.arg);
    if (sender->lines > 1)
        sender->max_lines = sender->lines / 2;
    else if (sender->lines == 1)
        outbox_replace(sender->outbox, sender->last, reply->text);
    back_off(sender);
}

static void on_gap(struct sender *sender, const struct http_reply *reply)
{
    sender->handlers.on_answer(sender->handlers.arg);
    if (apply_acked(sender, reply)) {
        sender->handlers.on_acked(sender->handlers.arg);
        back_off(sender);
    }
}

static void on_reply(void *arg, const struct http_reply *reply)
{
    struct sender *sender = arg;

    assert(sender->path);
    sender->request = NULL;
    switch (reply->status) {
    case 200:
        on_stored(sender, reply);
        break;
    case 404:
        sender->handlers.on_unknown(sender->handlers.arg);
        break;
    case 409:
        on_gap(sender, reply);
        break;
    case 400:
    case 413:
    case 422:
        on_refused(sender, reply);
        break;
    default:
        sender->handlers.on_failure(sender->handlers.arg, reply->text);
        back_off(sender);
    }
}

static int post(struct sender *sender, const struct outbox_batch *batch,
                struct error *err)
{
    struct http_request_params params = {.method = "POST",
                                         .path = sender->path,
                                         .is_ndjson = true,
                                         .body = batch->body.data,
                                         .body_len = batch->body.len};

    /* Only one request at a time keeps events in order. */
    assert(!sender->request);
    sender->lines = batch->lines;
    sender->last = batch->last;
    sender->request = http_client_send(sender->client, &params, on_reply, sender, err);
    return sender->request ? 0 : -1;
}

static void send_batch(struct sender *sender)
{
    struct outbox_batch batch;
    struct error err;

    if (!sender->path || sender->request || !has_work(sender))
        return;
    outbox_batch_init(&batch);
    if (outbox_take_batch(sender->outbox, sender->max_lines, &batch, &err) ||
        (batch.body.len > 0 && post(sender, &batch, &err))) {
        sender->handlers.on_failure(sender->handlers.arg, err.text);
        back_off(sender);
    }
    outbox_batch_release(&batch);
}

void sender_set_agent(struct sender *sender, const char *agent)
{
    http_client_cancel(sender->request);
    sender->request = NULL;
    free(sender->path);
    sender->path = NULL;
    uv_timer_stop(&sender->timer);
    sender->is_backing_off = false;
    if (agent && asprintf(&sender->path, "/api/v1/agents/%s/events", agent) < 0)
        memory_out("a path");
    send_rest(sender);
}

struct sender *sender_create(uv_loop_t *loop, struct http_client *client,
                             struct outbox *outbox,
                             const struct sender_handlers *handlers)
{
    struct sender *sender = memory_zeroed(1, sizeof(*sender), "a sender");

    sender->client = client;
    sender->outbox = outbox;
    sender->handlers = *handlers;
    sender->max_lines = NO_LIMIT;
    uv_timer_init(loop, &sender->timer);
    sender->timer.data = sender;
    return sender;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void sender_destroy(struct sender *sender)
{
    if (!sender)
        return;
    http_client_cancel(sender->request);
    free(sender->path);
    uv_close((uv_handle_t *)&sender->timer, on_closed);
}
