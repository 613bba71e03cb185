/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the agent's side of docs/development/agent-protocol.md: registration, the long
 * poll for commands, events and deregistration. The link retries while the server is
 * unreachable. */
#ifndef RINGBENCH_AGENT_LINK_LINK_H
#define RINGBENCH_AGENT_LINK_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "agent/config/config.h"
#include "agent/link/command.h"
#include "agent/link/identity.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

struct link;

struct link_handlers {
    json_t *(*cases)(void *arg); /* returns a new array */
    void (*on_registered)(void *arg, const char *local_ip);
    void (*on_command)(void *arg, const struct command *command);
    void (*on_acked)(void *arg);
    /* The server lost acknowledged events. Stop every worker and forget the cases; events
     * are numbered from 1 again. */
    void (*on_history_lost)(void *arg);
    void (*on_fatal)(void *arg, const char *text); /* registering will never succeed */
    void (*on_announced)(void *arg); /* the announcement was answered, or failed */
    void (*on_left)(void *arg);      /* the deregistration was answered, or failed */
    void *arg;
};

/* The link borrows everything here until it is destroyed. */
struct link_params {
    uv_loop_t *loop;
    /* a curl loop shared with other links; NULL: the link has its own */
    struct curl_loop *shared;
    const char *from; /* the address to connect from; NULL: any */
    const struct agent_config *config;
    const char *version; /* version of the agent */
    struct identity *identity;
    struct outbox *outbox;
    json_t *inventory;
    struct link_handlers handlers;
};

struct link *link_create(const struct link_params *params);
void link_destroy(struct link *link);

/* Register; then poll for commands and send events. */
void link_start(struct link *link);

/* Register again because the inventory has changed. */
void link_register_again(struct link *link);

bool link_was_registered(const struct link *link);

/* Send waiting events immediately, or within a fraction of a second (_soon). */
void link_kick(struct link *link);
void link_kick_soon(struct link *link);

/* Stop polling. The link still sends events. */
void link_stop_polling(struct link *link);

/* Announce the reason for leaving to the server; on_announced follows. Returns false if
 * the agent is not registered or the request cannot start. */
bool link_announce_leave(struct link *link, const char *reason);

/* Deregister with a deadline of 5 s, then call on_left. Sends nothing after that. */
void link_deregister(struct link *link);

#endif
