/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h - reads hooks from the files of hooks.d and runs their commands when a watch
 * reports an event (docs/reference/watches.md, "Hooks"). On the loop's thread only. */
#ifndef RINGBENCH_SERVER_WATCHES_HOOK_H
#define RINGBENCH_SERVER_WATCHES_HOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/launch/engine_call.h"

#define HOOKS_MAX 32

struct hook {
    char *name, *config_dir;
    char *description; /* or NULL */
    json_t *on;        /* array of names of events */
    json_t *argv;      /* array of templates */
    char *undoes;      /* the hook whose effect on a node this hook ends, or NULL */
    long per_hour;     /* maximum number of commands per watch and hour */
    long most_nodes;   /* maximum number of nodes with the hook's effect; 0: no limit */
    double command_s;
    bool is_per_node; /* argv contains {node}: the command runs once for each node */
    bool is_lasting;  /* the effect on a node lasts until it is undone */
};

struct hook_list {
    struct hook *items[HOOKS_MAX];
    size_t n;
};

/* Return the hook with this name, borrowed, or NULL. */
const struct hook *hook_list_find(const struct hook_list *list, const char *name);

/* ---- Running hooks ---- */

/* Called when the command of an action (actions.h) has ended. watch: id of a watch that
 * may have been deleted meanwhile. */
typedef void hook_ended(void *arg, const char *watch, json_t *action, const char *state,
                        const char *output);

struct hook_runner {
    struct hook_list hooks;
    const char *dir; /* borrowed */
    char *url;       /* URL of this server, or NULL */
    hook_ended *ended;
    void *arg;
    struct engine_calls calls; /* the caller calls engine_calls_tick() */
    LIST_HEAD(, hook_call) running;
};

/* Read DIR/NAME.json in the order of names (dir NULL: no hooks). Returns -1 with the
 * first error. */
int hook_runner_init(struct hook_runner *runner, const char *dir, hook_ended *ended,
                     void *arg, struct error *err);

/* Free the members. Running commands continue, but `ended` is not called for them. */
void hook_runner_release(struct hook_runner *runner);

/* Set the URL of this server, which is copied. */
void hook_runner_set_server(struct hook_runner *runner, const char *url);

/* Read the hooks again. Returns -1 with the first error, and keeps the earlier hooks. */
int hook_runner_reload(struct hook_runner *runner, struct error *err);

/* Start the command of an action that is stored in the watch's document as `due`. now_ms:
 * monotonic clock. */
void hook_runner_start(struct hook_runner *runner, const json_t *watch, json_t *action,
                       int64_t now_ms);

#endif
