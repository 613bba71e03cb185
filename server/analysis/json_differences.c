/* SPDX-License-Identifier: Apache-2.0 */
/* json_differences.c - lists the differences between two JSON values */
#include "server/analysis/json_differences.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PATH_BYTES 400
#define DEPTH_MAX 32

static void compare(json_t *list, const char *path, json_t *base, json_t *head,
                    int depth);

/* Return a new object that maps each value of a member to the object with this value.
 * Return NULL if the member is missing or not unique. */
static json_t *by_member(const json_t *array, const char *member)
{
    json_t *all = json_is_array(array) ? json_object() : NULL, *item;
    size_t i;

    json_array_foreach (array, i, item) {
        json_t *key = json_object_get(item, member);
        char name[PATH_BYTES] = "";

        if (json_is_integer(key))
            snprintf(name, sizeof(name), "%lld", (long long)json_integer_value(key));
        else if (json_is_string(key))
            snprintf(name, sizeof(name), "%s", json_string_value(key));
        if (*name && !json_object_get(all, name)) {
            json_object_set(all, name, item);
            continue;
        }
        json_decref(all);
        return NULL;
    }
    return all;
}

static void compare_members(json_t *list, const char *path, json_t *base, json_t *head,
                            int depth)
{
    json_t *all = json_object(), *value;
    const char *name;

    json_object_update_missing(all, base);
    json_object_update_missing(all, head);
    json_object_foreach (all, name, value) {
        char at[PATH_BYTES];

        snprintf(at, sizeof(at), "%s%s%s", path, *path ? "." : "", name);
        compare(list, at, json_object_get(base, name), json_object_get(head, name),
                depth + 1);
    }
    json_decref(all);
}

/* Compare two arrays of objects that can be matched by a unique member. Return false if
 * there is no such member. */
static bool compare_lists(json_t *list, const char *path, const json_t *base,
                          const json_t *head, int depth)
{
    static const char *const members[] = {"index", "name", "pci"};
    bool is_done = false;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !is_done; i++) {
        json_t *left = by_member(base, members[i]), *right = by_member(head, members[i]);

        is_done = left && right;
        if (is_done)
            compare_members(list, path, left, right, depth);
        json_decref(left);
        json_decref(right);
    }
    return is_done;
}

static void compare(json_t *list, const char *path, json_t *base, json_t *head, int depth)
{
    bool is_nothing = (!base || json_is_null(base)) && (!head || json_is_null(head));

    if (is_nothing || json_equal(base, head) ||
        json_array_size(list) == JSON_DIFFERENCES_MAX)
        return;
    if (depth < DEPTH_MAX && json_is_object(base) && json_is_object(head))
        compare_members(list, path, base, head, depth);
    else if (depth == DEPTH_MAX || !compare_lists(list, path, base, head, depth))
        json_array_append_new(list, json_pack("{s:s, s:O?, s:O?}", "what", path, "base",
                                              base, "head", head));
}

json_t *json_differences(const json_t *base, const json_t *head)
{
    json_t *list = json_array();

    compare(list, "", (json_t *)(uintptr_t)base, (json_t *)(uintptr_t)head, 0);
    return list;
}
