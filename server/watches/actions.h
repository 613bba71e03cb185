/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - decides which nodes are suspects, and selects and records hooks. The
 * functions work only on the documents of a watch (sweep.h) and of nodes.
 *
 * The stored document of a node is
 * {"node", "results": [{"run","named"}] of the runs that judged it, newest first,
 *  "identity": of its machine when a run named it, "changed": another machine has the
 *  name, "held"}, and for a suspect also "since", "watch", "run", "sentence".
 *  docs/reference/api.md describes a suspect's members.
 *
 * "actions" of a watch contains the latest actions, newest first:
 * {"id","time","event","hook","nodes", "run","sentence","state","output"}. "held" of a
 * node contains the lasting hooks that were applied to the node and not undone. An action
 * is stored as `due` before its command starts. After a restart the command may have run,
 * so it is not started again. */
#ifndef RINGBENCH_SERVER_WATCHES_ACTIONS_H
#define RINGBENCH_SERVER_WATCHES_ACTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/watches/hook.h"

/* ---- Suspects ---- */

/* A node is a suspect if STANDING_NAMED of the last STANDING_RUNS runs named it. */
#define STANDING_RUNS 10
#define STANDING_NAMED 2

/* Return the node's document, borrowed. A missing document is added. */
json_t *standing_of(json_t *standings, const char *node);

bool standing_is_suspect(const json_t *node);

/* Return true if a hook was applied to the node and not undone. */
bool standing_is_held(const json_t *node);

/* Return true if the node is a suspect or the latest run named it. Only a run of pairs
 * may clear such a node: a run over all nodes could pass by chance. */
bool standing_is_open(const json_t *node);
bool standing_any_is_open(const json_t *standings, const json_t *names);

/* Record the result of a run that judged the node. sentence: the reason if is_named.
 * Return true if the node became a suspect, or if it was a suspect and passed. */
bool standing_take(json_t *node, const char *watch, const char *run, const char *sentence,
                   bool is_named, const char *identity, int64_t now_ms);

/* Delete the results of runs, so that the node is no longer a suspect. */
void standing_clear(json_t *node);

/* Return true if no result names the node and no hook is applied to it. */
bool standing_is_clean(const json_t *node);

/* ---- Actions ---- */

#define ACTIONS_KEPT 100

struct action_event {
    const char *event;
    json_t *nodes; /* names, borrowed */
    const char *run, *sentence;
    bool is_again; /* reported before: run only lasting and undoing hooks that failed */
};

/* The data that the functions below use; all borrowed. */
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

/* Record that the action's command has ended. state: "done", "failed" or "killed". The
 * watch is NULL if it was deleted meanwhile. */
void actions_end(const struct actions *on, json_t *action, const char *state,
                 const char *output);

/* After a restart: set actions that were due or running to `unknown`. */
void actions_disown(json_t *watch);

#endif
