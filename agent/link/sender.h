/* SPDX-License-Identifier: Apache-2.0 */
/* sender.h - post the outbox to the server: one request at a time, in order */
#ifndef RINGBENCH_AGENT_LINK_SENDER_H
#define RINGBENCH_AGENT_LINK_SENDER_H

#include <uv.h>

#include "agent/link/http_client.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct sender;

struct sender_handlers {
    void (*on_answer)(void *arg);                    /* the server is there */
    void (*on_failure)(void *arg, const char *text); /* it is not, or not able */
    void (*on_acked)(void *arg);                     /* events have been acknowledged */
    void (*on_unknown)(void *arg); /* it does not know us: register again */
    /* What it has of our events contradicts what we know; see spool_ack. */
    void (*on_other_past)(void *arg, const char *text);
    void *arg;
};

struct sender *sender_create(uv_loop_t *loop, struct http_client *client,
                             struct outbox *outbox,
                             const struct sender_handlers *handlers);
void sender_destroy(struct sender *sender);

/* Send as this agent from now on; NULL: send nothing until told again. */
void sender_set_agent(struct sender *sender, const char *agent);

/* There is something to send: now, or within a fraction of a second. */
void sender_kick(struct sender *sender);
void sender_kick_soon(struct sender *sender);

#endif
