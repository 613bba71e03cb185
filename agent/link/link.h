/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the agent's side of docs/development/agent-protocol.md: registration, the long
 * poll for commands, events, and leaving; survives the server's absence */
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
    json_t *(*cases)(void *arg); /* a new array: what we have workers of */
    void (*on_registered)(void *arg, const char *local_ip);
    void (*on_command)(void *arg, const struct command *command);
    void (*on_acked)(void *arg);
    /* The server does not have what it once acknowledged, so that its runs are not ours
     * any more: stop every worker and forget the cases. Numbers start from 1 again. */
    void (*on_other_past)(void *arg);
    void (*on_fatal)(void *arg, const char *text); /* registering will never succeed */
    void (*on_told)(void *arg); /* the announced leave is known, or can't be told */
    void (*on_left)(void *arg); /* deregistered, or as good as that */
    void *arg;
};

/* Everything is borrowed, for the link's life. */
struct link_params {
    uv_loop_t *loop;
    struct curl_loop *shared; /* with other links; NULL: with none */
    const char *from;         /* the address to connect from; or NULL: any */
    const struct agent_config *config;
    const char *version; /* of the agent */
    struct identity *identity;
    struct outbox *outbox;
    json_t *inventory;
    struct link_handlers handlers;
};

struct link *link_create(const struct link_params *params);
void link_destroy(struct link *link);

/* Register, and from then on hold the poll and send events. */
void link_start(struct link *link);

/* The inventory has changed. */
void link_register_again(struct link *link);

bool link_was_registered(const struct link *link);

/* Events wait: now, or soon. */
void link_kick(struct link *link);
void link_kick_soon(struct link *link);

/* Take no more commands; events are still sent. */
void link_stop_polling(struct link *link);

/* Tell the server why this agent will leave; on_told follows. False: it can't be told. */
bool link_announce_leave(struct link *link, const char *reason);

/* Say good-bye (with a deadline of 5 s), then on_left. Sends nothing after that. */
void link_deregister(struct link *link);

#endif
