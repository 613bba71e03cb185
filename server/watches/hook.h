/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h - hooks: commands that the server runs when a watch finds something, read from
 * the files of hooks.d (docs/reference/watches.md, "Hooks") */
#ifndef RINGBENCH_SERVER_WATCHES_HOOK_H
#define RINGBENCH_SERVER_WATCHES_HOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

#define HOOKS_MAX 32

struct hook {
    char *name, *config_dir;
    char *description; /* or NULL */
    json_t *on;        /* array of names of events */
    json_t *argv;      /* array of templates */
    json_t *env;       /* object of templates, or NULL */
    char *undoes;    /* a hook: it is for nodes only that this one was done to; or NULL */
    long per_hour;   /* so often for a watch */
    long most_nodes; /* it was done to, and not undone; 0: any number */
    double command_s;
    bool is_per_node; /* its argv has {node}: once for each node, else once */
};

struct hook_list {
    struct hook *items[HOOKS_MAX];
    size_t n;
};

/* Read DIR/NAME.json, in the order of names (NULL: there are none). -1 with the first
 * fault. */
int hook_list_load(struct hook_list *list, const char *dir, struct error *err);
void hook_list_release(struct hook_list *list);

/* Borrowed; NULL when there is none of that name. */
const struct hook *hook_list_find(const struct hook_list *list, const char *name);

#endif
