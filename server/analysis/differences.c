/* differences.c - in what two sides differ beside their figures */
#include "server/analysis/differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/fnv.h"
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "common/spec/spec_field.h"
#include "server/analysis/likeness.h"

#define NAME_MAX_BYTES 300

/* What is compared only where both sides have it, or says nothing of figures, or is told
 * by the run's document. */
static bool is_passed_over(const char *name)
{
    static const char *const names[] = {"collectives", "sizes",    "dtypes",  "redops",
                                        "root",        "in_place", "backend", "check",
                                        "stall_s",     "join_s",   "baseline"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Note that a side has this value; facts: {name: [values]}. */
static void note(json_t *facts, const char *name, json_t *value)
{
    json_t *values = json_object_get(facts, name);

    if (!value)
        value = json_null();
    if (!values) {
        json_object_set_new(facts, name, json_array());
        values = json_object_get(facts, name);
    }
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return;
    json_array_append(values, value);
}

/* The members of an object as "NAME.MEMBER". */
static void note_members(json_t *facts, const char *name, const json_t *object)
{
    const char *member;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)object, member, value) {
        char path[NAME_MAX_BYTES];

        snprintf(path, sizeof(path), "%s%s%s", name, *name ? "." : "", member);
        note(facts, path, value);
    }
}

static void note_nodes(json_t *facts, const json_t *run)
{
    json_t *names = json_array(), *node;
    size_t i;

    json_array_foreach (json_object_get(run, "nodes"), i, node)
        json_array_append(names, json_object_get(node, "name"));
    note(facts, "nodes", names);
    json_decref(names);
}

static void note_machines(json_t *facts, const json_t *run)
{
    json_t *machine;
    size_t i;

    json_array_foreach (json_object_get(run, "machines"), i, machine) {
        note(facts, "hardware", json_object_get(machine, "hardware"));
        note_members(facts, "versions", json_object_get(machine, "versions"));
        note_members(facts, "system", json_object_get(machine, "system"));
    }
}

static void note_spec(json_t *facts, const json_t *spec)
{
    const struct spec_fields *fields = run_spec_fields();

    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        json_t *value = json_object_get(spec, field->name);

        if (!(field->uses & (SPEC_MEASUREMENT | SPEC_CASE)) ||
            is_passed_over(field->name))
            continue;
        if (json_is_object(value))
            note_members(facts, field->name, value);
        else
            note(facts, field->name, value);
    }
}

/* Of what files say, whether it is the same. */
static void note_files(json_t *facts, const json_t *files)
{
    const char *name;
    json_t *text;

    json_object_foreach ((json_t *)(uintptr_t)files, name, text) {
        const char *content = json_string_value(text);
        char path[NAME_MAX_BYTES], sum[48];

        snprintf(path, sizeof(path), "files.%s", name);
        snprintf(sum, sizeof(sum), "%zu bytes, FNV-1a %016" PRIx64, strlen(content),
                 fnv1a(FNV1A_BEGIN, content, strlen(content)));
        text = json_string(sum);
        note(facts, path, text);
        json_decref(text);
    }
}

static json_t *facts_of(const struct compare_side *side)
{
    json_t *facts = json_object();

    for (size_t i = 0; i < side->n; i++) {
        const struct compare_choice *one = &side->cases[i];
        const json_t *run = one->run->doc;

        note_members(facts, "env", one->env);
        if (i > 0 && one->run == side->cases[i - 1].run)
            continue;
        note(facts, "backend", json_object_get(run, "backend"));
        note(facts, "ranks", json_object_get(run, "world_size"));
        note(facts, "emulated", json_object_get(run, "emulated"));
        note(facts, "imported", json_object_get(run, "imported"));
        note_nodes(facts, run);
        note_machines(facts, run);
        note_spec(facts, json_object_get(run, "spec"));
        note_files(facts, json_object_get(json_object_get(run, "spec"), "files"));
    }
    return facts;
}

/* Not noted, or noted as null. */
static bool is_nothing(const json_t *values)
{
    return json_array_size(values) == 0 ||
           (json_array_size(values) == 1 && json_is_null(json_array_get(values, 0)));
}

/* One value by itself, several as they are; nothing noted is null. */
static json_t *told(const json_t *values)
{
    if (is_nothing(values))
        return json_null();
    if (json_array_size(values) == 1)
        return json_incref(json_array_get(values, 0));
    return json_incref((json_t *)(uintptr_t)values);
}

static bool are_alike(const json_t *left, const json_t *right)
{
    size_t n = json_array_size(left);

    for (size_t i = 0; i < n; i++) {
        bool found = false;

        for (size_t k = 0; k < n && !found; k++)
            found = json_equal(json_array_get(left, i), json_array_get(right, k));
        if (!found)
            return false;
    }
    return n == json_array_size(right);
}

#define OF_SYSTEM "system."

/* Whether it was kept what the nodes were like. */
static bool has_system(const json_t *facts)
{
    const char *name;
    json_t *values;

    json_object_foreach ((json_t *)(uintptr_t)facts, name, values)
        if (strncmp(name, OF_SYSTEM, strlen(OF_SYSTEM)) == 0)
            return true;
    return false;
}

/* Control series are compared where both sides have them. */
static bool is_unlike(const char *name, const json_t *left, const json_t *right)
{
    bool is_control = strncmp(name, "control.", 8) == 0;

    return likeness_has(name) && !(is_control && (is_nothing(left) || is_nothing(right)));
}

static void add_if_different(json_t *list, const char *name, const json_t *base,
                             const json_t *head)
{
    const json_t *left = json_object_get(base, name);
    const json_t *right = json_object_get(head, name);

    if (!are_alike(left, right) && !(is_nothing(left) && is_nothing(right)))
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b}", "what", name,
                                              "base", told(left), "head", told(right),
                                              "alike", !is_unlike(name, left, right)));
}

json_t *differences_json(const struct compare_side *base, const struct compare_side *head)
{
    json_t *of_base = facts_of(base), *of_head = facts_of(head);
    json_t *list = json_array(), *all = json_object();
    bool both_have_systems = has_system(of_base) && has_system(of_head);
    const char *name;
    json_t *values;

    /* The names of both, those of the first in their order. */
    json_object_update_missing(all, of_base);
    json_object_update_missing(all, of_head);
    json_object_foreach (all, name, values)
        if (both_have_systems || strncmp(name, OF_SYSTEM, strlen(OF_SYSTEM)) != 0)
            add_if_different(list, name, of_base, of_head);
    json_decref(all);
    json_decref(of_base);
    json_decref(of_head);
    return list;
}
