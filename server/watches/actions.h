/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - which hooks are run for what a watch has found, and what came of them.
 * Pure: functions of the documents of the watch (sweep.h) and of nodes (standing.h).
 *
 * A watch has in "actions" the latest ones, newest first: {"id","time","event","hook",
 * "nodes","run","sentence","attempt","state","output"}, and of one that failed and is to
 * be tried again "retry", the time. A node has in "held" the hooks that were done to it
 * and not undone, of those that another one undoes or that have most_nodes. An action is
 * stored as `due` before its command runs, so a server that starts knows that it may have
 * run, and does not run it again. */
#ifndef RINGBENCH_SERVER_WATCHES_ACTIONS_H
#define RINGBENCH_SERVER_WATCHES_ACTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/watches/hook.h"

#define ACTIONS_KEPT 100

/* A hook that fails is tried so often, the second time after a minute. */
#define ACTION_ATTEMPTS 3
#define ACTION_RETRY_MS 60000

struct action_event {
    const char *event;
    json_t *nodes; /* names, borrowed */
    const char *run, *sentence;
    bool is_again; /* only for hooks that undo what was not undone then */
};

/* What they are done for; all borrowed. */
struct actions {
    json_t *watch;
    const struct hook_list *hooks;
    json_t *standings; /* the nodes by name, an object that gets documents as needed */
    bool may_act;      /* else they are only noted, as `observed` */
    int64_t now_ms;
};

/* Add what the hooks do about it: as `due`, or `refused` for a limit. */
void actions_add(const struct actions *on, const struct action_event *event);

/* Add the next attempt of an action whose time has come, unless its hook has run as often
 * as it may in an hour or its reason is gone. Whether there is one. */
bool actions_retry(const struct actions *on);

/* The next one that is due; borrowed, or NULL. */
json_t *actions_due(const json_t *watch);

/* Its command has ended. state: "done", "failed" or "killed". The watch may be gone. */
void actions_end(const struct actions *on, json_t *action, const char *state,
                 const char *output);

/* The server has started: what was due may have run. Whether there is any. */
bool actions_disown(json_t *watch);

#endif
