/* actions.h - which hooks are run for what a watch has found, and what came of them.
 * Pure: functions of the documents of the watch (sweep.h) and of nodes (standing.h).
 *
 * A watch has in "actions" the latest ones, newest first: {"id","time","event","hook",
 * "nodes","run","sentence","state","output"}. A node has in "held" the hooks that were
 * done to it and not undone, of those that another one undoes or that have most_nodes. An
 * action is stored as `due` before its command runs, so a
 * server that starts knows that it may have run, and does not run it again. */
#ifndef RINGBENCH_SERVER_WATCHES_ACTIONS_H
#define RINGBENCH_SERVER_WATCHES_ACTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/watches/hook.h"

#define ACTIONS_KEPT 100

struct action_event {
    const char *event;
    json_t *nodes; /* names, borrowed */
    const char *run, *sentence;
    bool is_again; /* only for hooks that undo what was not undone then */
};

/* Add what the hooks do about it: with `may_act` as `due`, or `refused` for a limit; else
 * as `observed`. standings: the nodes by name, an object; those in `nodes` get a document
 * as needed. */
void actions_add(json_t *watch, const struct hook_list *hooks,
                 const struct action_event *event, bool may_act, json_t *standings,
                 int64_t now_ms);

/* The next one that is due; borrowed, or NULL. */
json_t *actions_due(const json_t *watch);

/* Its command has ended. state: "done", "failed" or "killed". */
void actions_end(json_t *action, const struct hook_list *hooks, const char *state,
                 const char *output, json_t *standings);

/* The server has started: what was due may have run. Whether there is any. */
bool actions_disown(json_t *watch);

#endif
