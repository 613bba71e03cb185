/* SPDX-License-Identifier: Apache-2.0 */
/* env_list.c - builds the environment of a child process */
#include "agent/config/env_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

void env_list_init(struct env_list *list)
{
    memset(list, 0, sizeof(*list));
}

void env_list_release(struct env_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    env_list_init(list);
}

static size_t find(const struct env_list *list, const char *name)
{
    size_t len = strlen(name);
    size_t i = 0;

    while (i < list->count &&
           (strncmp(list->items[i], name, len) != 0 || list->items[i][len] != '='))
        i++;
    return i;
}

static void add_take(struct env_list *list, char *item)
{
    list->items = memory_grown(list->items, list->count + 1, &list->capacity,
                               sizeof(*list->items), "an environment");
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

void env_list_copy(struct env_list *list, char *const *environment)
{
    for (; *environment; environment++)
        if (strchr(*environment, '='))
            add_take(list, memory_text(*environment, "an environment"));
}

void env_list_set(struct env_list *list, const char *name, const char *value)
{
    char *item;

    env_list_unset(list, name);
    if (asprintf(&item, "%s=%s", name, value) < 0)
        memory_out("an environment");
    add_take(list, item);
}

void env_list_set_int(struct env_list *list, const char *name, long value)
{
    char text[32];

    snprintf(text, sizeof(text), "%ld", value);
    env_list_set(list, name, text);
}

void env_list_unset(struct env_list *list, const char *name)
{
    size_t i = find(list, name);

    if (i == list->count)
        return;
    free(list->items[i]);
    list->items[i] = list->items[--list->count];
    list->items[list->count] = NULL;
}

void env_list_apply(struct env_list *list, json_t *variables)
{
    const char *name;
    json_t *value;

    json_object_foreach (variables, name, value)
        if (json_is_null(value))
            env_list_unset(list, name);
        else
            env_list_set(list, name, json_string_value(value));
}

const char *env_list_get(const struct env_list *list, const char *name)
{
    size_t i = find(list, name);

    return i == list->count ? NULL : list->items[i] + strlen(name) + 1;
}
