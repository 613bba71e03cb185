/* SPDX-License-Identifier: Apache-2.0 */
/* differences.c - lists facts other than figures in which two sides differ */
#include "server/analysis/differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/fnv.h"
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "common/spec/spec_field.h"

#define NAME_MAX_BYTES 300

/* Decides if sides that differ in a fact remain comparable. */
enum weight { ALIKE, UNLIKE_IF_BOTH_HAVE_IT, UNLIKE };

/* The facts of one side, by name. */
struct facts {
    json_t *values; /* for each fact, an array of all its values on the side */
    json_t *weights;
};

static void note(struct facts *facts, const char *name, enum weight weight, json_t *value)
{
    json_t *values = json_object_get(facts->values, name);

    if (!value)
        value = json_null();
    if (!values) {
        json_object_set_new(facts->weights, name, json_integer(weight));
        json_object_set_new(facts->values, name, json_array());
        values = json_object_get(facts->values, name);
    }
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return;
    json_array_append(values, value);
}

/* Add an object's members as "NAME.MEMBER". */
static void note_members(struct facts *facts, const char *name, const json_t *object)
{
    const char *member;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)object, member, value) {
        char path[NAME_MAX_BYTES];

        snprintf(path, sizeof(path), "%s.%s", name, member);
        note(facts, path, ALIKE, value);
    }
}

static void note_nodes(struct facts *facts, const json_t *run)
{
    json_t *names = json_array(), *node;
    size_t i;

    json_array_foreach (json_object_get(run, "nodes"), i, node)
        json_array_append(names, json_object_get(node, "name"));
    note(facts, "nodes", UNLIKE, names);
    json_decref(names);
}

static void note_machines(struct facts *facts, const json_t *run)
{
    json_t *machine;
    size_t i;

    json_array_foreach (json_object_get(run, "machines"), i, machine) {
        note(facts, "hardware", UNLIKE, json_object_get(machine, "hardware"));
        note_members(facts, "versions", json_object_get(machine, "versions"));
        note_members(facts, "system", json_object_get(machine, "system"));
    }
}

/* Return the weight of a spec member. If the whole field affects figures, so does the
 * member. If only the member affects figures, it affects only its own series, so a
 * difference matters only if both sides set the member. */
static enum weight weight_of(const struct spec_field *field, const char *member)
{
    const struct spec_fields *members = field->members;

    if (field->uses & SPEC_SHAPES)
        return UNLIKE;
    for (size_t i = 0; members && i < members->count; i++)
        if (strcmp(members->at[i].name, member) == 0 && members->at[i].uses & SPEC_SHAPES)
            return UNLIKE_IF_BOTH_HAVE_IT;
    return ALIKE;
}

static void note_field(struct facts *facts, const struct spec_field *field, json_t *value)
{
    const char *member;
    json_t *one;

    if (!json_is_object(value))
        note(facts, field->name, weight_of(field, ""), value);
    json_object_foreach (value, member, one) {
        char path[NAME_MAX_BYTES];

        snprintf(path, sizeof(path), "%s.%s", field->name, member);
        note(facts, path, weight_of(field, member), one);
    }
}

static void note_spec(struct facts *facts, const json_t *spec)
{
    const struct spec_fields *fields = run_spec_fields();

    for (size_t i = 0; i < fields->count; i++)
        if (fields->at[i].uses & (SPEC_SHAPES | SPEC_SHOWN))
            note_field(facts, &fields->at[i], json_object_get(spec, fields->at[i].name));
}

/* Add the size and checksum of each file's content. */
static void note_files(struct facts *facts, const json_t *files)
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
        note(facts, path, ALIKE, text);
        json_decref(text);
    }
}

static struct facts facts_of(const struct compare_side *side)
{
    struct facts facts = {json_object(), json_object()};

    for (size_t i = 0; i < side->n; i++) {
        const struct compare_choice *one = &side->cases[i];
        const json_t *run = one->run->doc;

        note_members(&facts, "env", one->env);
        if (i > 0 && one->run == side->cases[i - 1].run)
            continue;
        note(&facts, "backend", UNLIKE, json_object_get(run, "backend"));
        note(&facts, "ranks", UNLIKE, json_object_get(run, "world_size"));
        note(&facts, "emulated", UNLIKE, json_object_get(run, "emulated"));
        note(&facts, "imported", UNLIKE, json_object_get(run, "imported"));
        note_nodes(&facts, run);
        note_machines(&facts, run);
        note_spec(&facts, json_object_get(run, "spec"));
        note_files(&facts, json_object_get(json_object_get(run, "spec"), "files"));
    }
    return facts;
}

static void release_facts(struct facts *facts)
{
    json_decref(facts->values);
    json_decref(facts->weights);
}

/* Return true if a fact is absent or null. */
static bool is_nothing(const json_t *values)
{
    return json_array_size(values) == 0 ||
           (json_array_size(values) == 1 && json_is_null(json_array_get(values, 0)));
}

/* Return a single value unchanged, several values as an array, and no value as null. */
static json_t *shown_value(const json_t *values)
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

/* Return true if the nodes' system facts were recorded. */
static bool has_system(const json_t *facts)
{
    const char *name;
    json_t *values;

    json_object_foreach ((json_t *)(uintptr_t)facts, name, values)
        if (strncmp(name, OF_SYSTEM, strlen(OF_SYSTEM)) == 0)
            return true;
    return false;
}

static void add_if_different(json_t *list, const char *name, enum weight weight,
                             const json_t *left, const json_t *right)
{
    bool both_have_it = !is_nothing(left) && !is_nothing(right);
    bool is_unlike =
        weight == UNLIKE || (weight == UNLIKE_IF_BOTH_HAVE_IT && both_have_it);

    if (!are_alike(left, right) && !(is_nothing(left) && is_nothing(right)))
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b}", "what", name,
                                              "base", shown_value(left), "head",
                                              shown_value(right), "alike", !is_unlike));
}

json_t *differences_json(const struct compare_side *base, const struct compare_side *head)
{
    struct facts of_base = facts_of(base), of_head = facts_of(head);
    json_t *list = json_array(), *all = json_object(), *weight;
    bool both_have_systems = has_system(of_base.values) && has_system(of_head.values);
    const char *name;

    /* Collect the names of both sides; base's names come first. */
    json_object_update_missing(all, of_base.weights);
    json_object_update_missing(all, of_head.weights);
    json_object_foreach (all, name, weight)
        if (both_have_systems || strncmp(name, OF_SYSTEM, strlen(OF_SYSTEM)) != 0)
            add_if_different(list, name, (enum weight)json_integer_value(weight),
                             json_object_get(of_base.values, name),
                             json_object_get(of_head.values, name));
    json_decref(all);
    release_facts(&of_base);
    release_facts(&of_head);
    return list;
}
