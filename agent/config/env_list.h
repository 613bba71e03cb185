/* SPDX-License-Identifier: Apache-2.0 */
/* env_list.h - builds the environment of a child process */
#ifndef RINGBENCH_AGENT_CONFIG_ENV_LIST_H
#define RINGBENCH_AGENT_CONFIG_ENV_LIST_H

#include <jansson.h>
#include <stddef.h>

struct env_list {
    /* NAME=value strings, terminated by NULL; the pointer is NULL while the list is empty
     */
    char **items;
    size_t count, capacity;
};

void env_list_init(struct env_list *list);
void env_list_release(struct env_list *list);

void env_list_copy(struct env_list *list, char *const *environment);

void env_list_set(struct env_list *list, const char *name, const char *value);
void env_list_set_int(struct env_list *list, const char *name, long value);
void env_list_unset(struct env_list *list, const char *name);

/* A string sets a variable, null unsets it. Accepts a NULL object. */
void env_list_apply(struct env_list *list, json_t *variables);

/* NULL if the variable is not set. */
const char *env_list_get(const struct env_list *list, const char *name);

#endif
