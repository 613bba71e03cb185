/* last_checks.c - what the checks of the latest runs came to */
#include "server/runs/last_checks.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

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

static void note(struct last_checks *checks, struct last_check *check)
{
    size_t at;

    if (!check->run_name || !check->check || !check->answer) {
        check_release(check);
        return;
    }
    at = place_of(checks, check);
    memmove(checks->items + 1, checks->items, at * sizeof(*checks->items));
    checks->items[0] = *check;
}

void last_checks_note(struct last_checks *checks, const char *run_name, int64_t time_ms,
                      const json_t *verdict)
{
    const json_t *list = json_object_get(json_object_get(verdict, "evidence"), "checks");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct last_check check = {.run_name = strdup(run_name),
                                   .check = strdup(json_get_str(item, "check", "")),
                                   .answer = strdup(json_get_str(item, "answer", "")),
                                   .time_ms = time_ms};

        note(checks, &check);
    }
}

void last_checks_release(struct last_checks *checks)
{
    for (size_t i = 0; i < checks->n; i++)
        check_release(&checks->items[i]);
    checks->n = 0;
}
