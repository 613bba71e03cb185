/* SPDX-License-Identifier: Apache-2.0 */
/* env_list.h - an environment that is being put together for a child process */
#ifndef RINGBENCH_AGENT_CONFIG_ENV_LIST_H
#define RINGBENCH_AGENT_CONFIG_ENV_LIST_H

#include <jansson.h>
#include <stddef.h>

struct env_list {
    char **items; /* "NAME=value", ended by NULL once there is any */
    size_t count, capacity;
};

void env_list_init(struct env_list *list);
void env_list_release(struct env_list *list);

/* Copy a NULL-terminated environment. */
void env_list_copy(struct env_list *list, char *const *environment);

void env_list_set(struct env_list *list, const char *name, const char *value);
void env_list_set_int(struct env_list *list, const char *name, long value);
void env_list_unset(struct env_list *list, const char *name);

/* Set what an object (NULL: none) has strings for, and unset what it has nulls for. */
void env_list_apply(struct env_list *list, json_t *variables);

/* The value, borrowed, or NULL. */
const char *env_list_get(const struct env_list *list, const char *name);

#endif
