/* SPDX-License-Identifier: Apache-2.0 */
/* sender.h - posts the outbox's events to the server in order, one request at a time */
#ifndef RINGBENCH_AGENT_LINK_SENDER_H
#define RINGBENCH_AGENT_LINK_SENDER_H

#include <uv.h>

#include "agent/link/http_client.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct sender;

struct sender_handlers {
    void (*on_answer)(void *arg);
    void (*on_failure)(void *arg, const char *text); /* no answer, or a server error */
    void (*on_acked)(void *arg);
    void (*on_unknown)(void *arg); /* the server does not know this agent */
    /* The server's acknowledgement contradicts the spool; see spool_ack. */
    void (*on_history_lost)(void *arg, const char *text);
    void *arg;
};

struct sender *sender_create(uv_loop_t *loop, struct http_client *client,
                             struct outbox *outbox,
                             const struct sender_handlers *handlers);
void sender_destroy(struct sender *sender);

/* Send events as this agent from now on. NULL: hold events back until the next call. */
void sender_set_agent(struct sender *sender, const char *agent);

/* Send waiting events immediately, or within PROGRESS_MS (_soon). */
void sender_kick(struct sender *sender);
void sender_kick_soon(struct sender *sender);

#endif
