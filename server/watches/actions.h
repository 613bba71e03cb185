/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - suspect nodes, the hooks that run for them, and the results.
 * Pure: functions of the documents of the watch (sweep.h) and of nodes.
 *
 * The stored document of a node; docs/reference/api.md describes that of a suspect:
 * {"node", "results": of the latest runs that judged it, newest first, [{"run","named"}],
 *  "identity": of its machine when it was named, "changed": another machine has the name,
 *  "held"}, and of a suspect "since", "watch", "run", "sentence".
 *
 * "actions" of a watch: the latest, newest first: {"id","time","event","hook","nodes",
 * "run","sentence","state","output"}. "held" of a node contains the lasting hooks that
 * were applied to it and not undone. An action is stored as `due` before its command
 * starts. After a restart the command may have run, so it is not started again. */
#ifndef RINGBENCH_SERVER_WATCHES_ACTIONS_H
#define RINGBENCH_SERVER_WATCHES_ACTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/watches/hook.h"

/* ---- Suspects ---- */

/* A node that was named in STANDING_NAMED of the last STANDING_RUNS runs is a suspect. */
#define STANDING_RUNS 10
#define STANDING_NAMED 2

/* Return the node's document in an object by names, borrowed. A missing one is added. */
json_t *standing_of(json_t *standings, const char *node);

bool standing_is_suspect(const json_t *node);

/* Return whether a hook was applied to the node and not undone. */
bool standing_is_held(const json_t *node);

/* Return whether the node is a suspect or the latest run named it. Only pairs clear it: a
 * run over all nodes could pass by chance. */
bool standing_is_open(const json_t *node);
bool standing_any_is_open(const json_t *standings, const json_t *names);

/* Take the result of a run that judged the node. sentence: the reason if is_named. Return
 * whether the node became a suspect, or was one and passed. */
bool standing_take(json_t *node, const char *watch, const char *run, const char *sentence,
                   bool is_named, const char *identity, int64_t now_ms);

/* Forget the results of runs, so that the node is no suspect. */
void standing_clear(json_t *node);

/* Return whether the document may be removed: no result names the node, and no hook was
 * applied to it. */
bool standing_is_clean(const json_t *node);

/* ---- Actions ---- */

#define ACTIONS_KEPT 100

struct action_event {
    const char *event;
    json_t *nodes; /* names, borrowed */
    const char *run, *sentence;
    bool is_again; /* not new: run only lasting and undoing hooks that failed before */
};

/* The data that actions work on; all borrowed. */
struct actions {
    json_t *watch;
    const struct hook_list *hooks;
    json_t *standings; /* documents of nodes by name; missing ones are added */
    bool may_act;      /* false: actions are recorded as `observed` */
    int64_t now_ms;
};

/* Add an action for each hook of the event: `due`, `observed` or `refused`. */
void actions_add(const struct actions *on, const struct action_event *event);

/* Return the oldest due action, borrowed, or NULL. */
json_t *actions_due(const json_t *watch);

/* Record the end of the action's command. state: "done", "failed" or "killed". The watch
 * may be NULL, since deleted. */
void actions_end(const struct actions *on, json_t *action, const char *state,
                 const char *output);

/* After a restart: set actions that were due or running to `unknown`. */
void actions_disown(json_t *watch);

#endif
