/* last_checks.c - what the checks of the latest runs came to */
#include "server/runs/last_checks.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

static void check_release(struct last_check *check)
{
    free(check->run_name);
    free(check->check);
    free(check->answer);
}

/* The place of the same check, or of the one that has to go, or the first free one. */
static size_t place_of(struct last_checks *checks, const struct last_check *check)
{
    size_t i = 0;

    while (i < checks->n && (strcmp(checks->items[i].check, check->check) != 0 ||
                             strcmp(checks->items[i].run_name, check->run_name) != 0))
        i++;
    if (i == LAST_CHECKS_MAX)
        i--;
    if (i < checks->n)
        check_release(&checks->items[i]);
    else
        checks->n++;
    return i;
}

void last_checks_note(struct last_checks *checks, const char *run_name, int64_t time_ms,
                      const json_t *verdict)
{
    const json_t *list = json_object_get(json_object_get(verdict, "evidence"), "checks");
    json_t *item;
    size_t i;

    json_array_foreach (list, i, item) {
        struct last_check check = {
            .run_name = memory_text(run_name, "a check"),
            .check = memory_text(json_get_str(item, "check", ""), "a check"),
            .answer = memory_text(json_get_str(item, "answer", ""), "a check"),
            .time_ms = time_ms};
        size_t at = place_of(checks, &check);

        memmove(checks->items + 1, checks->items, at * sizeof(*checks->items));
        checks->items[0] = check;
    }
}

void last_checks_release(struct last_checks *checks)
{
    for (size_t i = 0; i < checks->n; i++)
        check_release(&checks->items[i]);
    checks->n = 0;
}
