/* SPDX-License-Identifier: Apache-2.0 */
/* last_checks.c - keeps the latest answer of each check */
#include "server/runs/last_checks.h"

#include <string.h>

#include "common/base/json_util.h"

static void forget(json_t *checks, const char *run_name, const char *check)
{
    json_t *item;
    size_t i;

    json_array_foreach (checks, i, item)
        if (strcmp(json_get_str(item, "check", ""), check) == 0 &&
            strcmp(json_get_str(item, "run_name", ""), run_name) == 0)
            break;
    /* has no effect if no check was found, because i is then the array's size */
    json_array_remove(checks, i);
}

void last_checks_note(json_t *checks, const char *run_name, int64_t time_ms,
                      const json_t *verdict)
{
    const json_t *list = json_object_get(json_object_get(verdict, "evidence"), "checks");
    json_t *item;
    size_t i;

    json_array_foreach (list, i, item) {
        const char *check = json_get_str(item, "check", "");

        forget(checks, run_name, check);
        json_array_insert_new(checks, 0,
                              json_pack("{s:s, s:s, s:s, s:I}", "run_name", run_name,
                                        "check", check, "answer",
                                        json_get_str(item, "answer", ""), "time_ms",
                                        (json_int_t)time_ms));
        json_array_remove(checks, LAST_CHECKS_MAX);
    }
}
