/* SPDX-License-Identifier: Apache-2.0 */
/* run_set.c - reads several runs with the results of their cases */
#include "server/api/run_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "server/runs/measured_run.h"
#include "server/store/run_packed.h"

void run_set_give(struct task *task, const char *id, size_t len)
{
    char text[ID_RUN_LENGTH + 1];
    json_t *run;

    snprintf(text, sizeof(text), "%.*s", (int)len, id);
    run = scheduler_run_packed(task->api->scheduler, text);
    if (!task->given)
        task->given = json_object();
    if (run)
        json_object_set_new(task->given, text, run);
}

size_t run_set_add(struct run_set *set, const char *id, size_t len)
{
    for (size_t i = 0; i < set->n; i++)
        if (strlen(set->ids[i]) == len && strncmp(set->ids[i], id, len) == 0)
            return i;
    assert(set->n < RUN_SET_MAX);
    snprintf(set->ids[set->n], sizeof(set->ids[0]), "%.*s", (int)len, id);
    return set->n++;
}

int run_set_read(sqlite3 *db, const struct task *task, struct run_set *set,
                 struct error *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const char *id = set->ids[i];

        set->runs[i].doc = run_unpack(json_copy(json_object_get(task->given, id)));
        if (measured_run_read(db, id, &set->runs[i], err) == 0)
            continue;
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_NOT_FOUND, "there is no run %s", id);
        return -1;
    }
    return 0;
}

void run_set_release(struct run_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        measured_run_release(&set->runs[i]);
    set->n = 0;
}
