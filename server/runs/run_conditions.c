/* SPDX-License-Identifier: Apache-2.0 */
/* run_conditions.c - keeps the conditions under which each node ran a case */
#include "server/runs/run_conditions.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/runs/run_nodes.h"

void run_conditions_take(const struct run *run, struct run_case *c, const json_t *body)
{
    const struct run_nodes on = run_case_nodes(run, c);
    const struct run_node *node = run_nodes_find(&on, json_get_str(body, "node", ""));
    json_t *kept = json_copy((json_t *)(uintptr_t)body);

    if (!c->conditions)
        c->conditions = memory_zeroed(on.n + 1, sizeof(*c->conditions), "conditions");
    if (node) {
        char **text = &c->conditions[node - on.items];

        json_object_del(kept, "case");
        json_object_del(kept, "attempt");
        free(*text);
        *text = json_text(kept);
    }
    json_decref(kept);
}

json_t *run_conditions_json(const struct run *run, const struct run_case *c)
{
    json_t *array = c->conditions ? json_array() : NULL;
    size_t n = run_case_nodes(run, c).n;

    for (size_t i = 0; c->conditions && i < n; i++) {
        const char *text = c->conditions[i];

        if (text)
            json_array_append_new(array, json_loads(text, 0, NULL));
    }
    return array;
}

void run_conditions_release(const struct run *run, struct run_case *c)
{
    size_t n = run_case_nodes(run, c).n;

    for (size_t i = 0; c->conditions && i < n; i++)
        free(c->conditions[i]);
    free(c->conditions);
    c->conditions = NULL;
}
