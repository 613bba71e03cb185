/* SPDX-License-Identifier: Apache-2.0 */
/* run_edit.c - changes a run's labels and notes */
#include "server/runs/run_edit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/spec_value.h"

#define POINTER_MAX 256

static json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

json_t *run_editable(const json_t *run)
{
    json_t *labels = json_object_get(run, "labels");

    return json_pack("{s:o, s:s}", "labels", labels ? json_incref(labels) : json_object(),
                     "notes", json_get_str(run, "notes", ""));
}

/* Apply a JSON merge patch (RFC 7396) and return the result as a new reference. */
static json_t *merge(const json_t *target, const json_t *patch)
{
    json_t *out, *item;
    const char *key;

    if (!json_is_object(patch))
        return json_incref(unconst(patch));
    out = json_is_object(target) ? json_copy(unconst(target)) : json_object();
    json_object_foreach (unconst(patch), key, item)
        if (json_is_null(item))
            json_object_del(out, key);
        else
            json_object_set_new(out, key, merge(json_object_get(out, key), item));
    return out;
}

json_t *run_edit_apply(const json_t *editable, const json_t *patch)
{
    json_t *merged = merge(editable, patch), *out = run_editable(merged);

    json_decref(merged);
    return out;
}

/* Return the merge patch that turns `from` into `to`. */
static json_t *patch_between(const json_t *from, const json_t *to)
{
    json_t *patch = json_object(), *item;
    const char *key;

    json_object_foreach (unconst(to), key, item) {
        json_t *old = json_object_get(from, key);

        if (old && json_equal(old, item))
            continue;
        json_object_set_new(patch, key,
                            json_is_object(item) && json_is_object(old)
                                ? patch_between(old, item)
                                : json_incref(item));
    }
    json_object_foreach (unconst(from), key, item)
        if (!json_object_get(to, key))
            json_object_set_new(patch, key, json_null());
    return patch;
}

/* Check notes like a name, except that they may contain line breaks and tabs. */
static void check_notes(const json_t *notes, struct problems *problems)
{
    char *plain;

    if (!json_is_string(notes) || json_string_length(notes) > RUN_NOTES_MAX) {
        problems_add(problems, "/notes", "must be a string of at most %d bytes, or null",
                     RUN_NOTES_MAX);
        return;
    }
    plain = strdup(json_string_value(notes));
    if (!plain)
        memory_out("a run's notes");
    for (char *at = plain; (at = strpbrk(at, "\n\t"));)
        *at = ' ';
    spec_check_name(plain, "/notes", problems);
    free(plain);
}

static void check_members(const json_t *patch, struct problems *problems)
{
    char at[POINTER_MAX];
    json_t *item;
    const char *key;

    if (!json_is_object(patch))
        problems_add(problems, "", "must be an object with labels, notes or both");
    json_object_foreach (unconst(patch), key, item) {
        if (strcmp(key, "labels") == 0 || strcmp(key, "notes") == 0)
            continue;
        spec_child_pointer(at, sizeof(at), "", key);
        problems_add(problems, at, "cannot be changed; only labels and notes can");
    }
}

json_t *run_edit(const json_t *editable, const json_t *patch, struct problems *problems)
{
    json_t *merged, *edited, *labels, *notes, *changes = NULL;

    check_members(patch, problems);
    merged = merge(editable, patch);
    labels = json_object_get(merged, "labels");
    notes = json_object_get(merged, "notes");
    if (labels)
        spec_check_labels(labels, "/labels", problems);
    if (notes)
        check_notes(notes, problems);
    if (problems->count == 0) {
        edited = run_editable(merged);
        changes = json_pack("{s:o, s:o}", "before", patch_between(edited, editable),
                            "after", patch_between(editable, edited));
        json_decref(edited);
    }
    json_decref(merged);
    return changes;
}
