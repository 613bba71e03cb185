/* suspects.c - which nodes a verdict names */
#include "server/analysis/suspects.h"

#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "server/store/run_listed.h"

/* Where a kind's evidence has whom it looked at, and what those have that it names. */
static const struct {
    enum verdict_kind kind;
    const char *list, *state, *flag;
} places[] = {
    {VERDICT_CULPRIT, "suspects", "guilty", NULL},
    {VERDICT_LATENESS, "delays", NULL, "late"},
    {VERDICT_HANG, "ranks", NULL, "lagging"},
};

static void add_name(json_t *names, json_t *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_equal(json_array_get(names, i), name))
            return;
    if (json_is_string(name))
        json_array_append(names, name);
}

static void add_names(json_t *names, const json_t *item)
{
    const json_t *nodes = json_object_get(item, "nodes");

    add_name(names, json_object_get(item, "node"));
    for (size_t i = 0; i < json_array_size(nodes); i++)
        add_name(names, json_array_get(nodes, i));
}

static json_t *names_of(const json_t *verdict, size_t place)
{
    const char *state = places[place].state, *flag = places[place].flag;
    const json_t *list =
        json_object_get(json_object_get(verdict, "evidence"), places[place].list);
    json_t *names = json_array();

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (state ? strcmp(json_get_str(item, "state", ""), state) == 0
                  : json_get_bool(item, flag, false))
            add_names(names, item);
    }
    return names;
}

static bool clears(const json_t *verdict)
{
    return strcmp(json_get_str(verdict, "kind", ""),
                  verdict_kind_name(VERDICT_CULPRIT)) == 0 &&
           strcmp(json_get_str(verdict, "answer", ""),
                  verdict_answer_name(VERDICT_NONE)) == 0;
}

void suspects_add(json_t *suspects, const json_t *verdict)
{
    const char *kind = json_get_str(verdict, "kind", "");

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        json_t *names, *said;

        if (strcmp(verdict_kind_name(places[i].kind), kind) != 0)
            continue;
        names = names_of(verdict, i);
        if (json_array_size(names) > 0 || clears(verdict)) {
            said = verdict_brief(verdict);
            json_object_set(said, "nodes", names);
            json_array_append_new(suspects, said);
        }
        json_decref(names);
    }
}
