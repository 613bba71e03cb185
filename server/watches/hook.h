/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h - hooks: commands that the server runs when a watch finds something, read from
 * the files of hooks.d (docs/reference/watches.md, "Hooks"). On the loop's thread. */
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
    long per_hour;     /* limit of commands per watch */
    long most_nodes;   /* limit of nodes with the hook's effect; 0: none */
    double command_s;
    bool is_per_node; /* argv contains {node}: the command runs once for each node */
    bool is_lasting;  /* the effect on a node lasts until it is undone */
};

struct hook_list {
    struct hook *items[HOOKS_MAX];
    size_t n;
};

/* Borrowed, or NULL. */
const struct hook *hook_list_find(const struct hook_list *list, const char *name);

/* ---- Running them ---- */

/* The command of an action (actions.h) has ended. watch: its id; the watch may be deleted
 * meanwhile. */
typedef void hook_ended(void *arg, const char *watch, json_t *action, const char *state,
                        const char *output);

struct hook_runner {
    struct hook_list hooks;
    const char *dir; /* borrowed */
    char *url;       /* of this server, or NULL */
    hook_ended *ended;
    void *arg;
    struct engine_calls calls; /* the caller ticks them */
    LIST_HEAD(, hook_call) running;
};

/* Read DIR/NAME.json in the order of names (dir NULL: no hooks). Returns -1 with the
 * first error. */
int hook_runner_init(struct hook_runner *runner, const char *dir, hook_ended *ended,
                     void *arg, struct error *err);

/* Commands that are running continue, but their end is not reported. */
void hook_runner_release(struct hook_runner *runner);

/* url: of this server, copied. */
void hook_runner_set_server(struct hook_runner *runner, const char *url);

/* Read the hooks again. Returns -1 with the first error, and keeps the earlier hooks. */
int hook_runner_reload(struct hook_runner *runner, struct error *err);

/* Start the command of an action of the watch's document, which is stored as due. now_ms:
 * of a monotonic clock. */
void hook_runner_start(struct hook_runner *runner, const json_t *watch, json_t *action,
                       int64_t now_ms);

#endif
