/* SPDX-License-Identifier: Apache-2.0 */
/* unmatched.c - explains which filters of a run match no node, and lists the existing
 * values */
#include "server/nodes/unmatched.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/utf8.h"
#include "common/spec/batch_group.h"

#define VALUES_NAMED_MAX 8

/* Arguments for "%.*s" that print at most 60 bytes of a text. */
#define NAMED(text) utf8_fit(text, 60), text

/* Distinct texts in order of appearance, with their counts. */
struct tally {
    const char *texts[VALUES_NAMED_MAX];
    size_t counts[VALUES_NAMED_MAX];
    size_t n;
    bool has_more;
};

static void count(struct tally *tally, const char *text)
{
    for (size_t i = 0; i < tally->n; i++) {
        if (strcmp(tally->texts[i], text) == 0) {
            tally->counts[i]++;
            return;
        }
    }
    if (tally->n == VALUES_NAMED_MAX) {
        tally->has_more = true;
        return;
    }
    tally->texts[tally->n] = text;
    tally->counts[tally->n++] = 1;
}

static void put_tally(const struct tally *tally, struct buf *out)
{
    for (size_t i = 0; i < tally->n; i++)
        buf_printf(out, "%s%.*s (%zu)", i ? ", " : "", NAMED(tally->texts[i]),
                   tally->counts[i]);
    if (tally->has_more)
        buf_append_str(out, " and more");
}

/* Count the live nodes for each value of the label `key`, or for each group if `key` is
 * NULL. Return true if a value or group equals `wanted`. */
static bool count_values(const struct node_registry *registry, const char *key,
                         const char *wanted, struct tally *tally)
{
    bool is_there = false;

    for (size_t i = 0; i < registry->count; i++) {
        const struct node *node = registry->nodes[i];
        const char *text = key ? json_get_str(node->labels, key, NULL) : node->group;

        if (node->state != NODE_ALIVE || !text)
            continue;
        is_there = is_there || strcmp(text, wanted) == 0;
        count(tally, text);
    }
    return is_there;
}

static void put_keys(const struct node_registry *registry, struct buf *out)
{
    struct tally tally = {.n = 0};
    const char *key;
    json_t *value;

    for (size_t i = 0; i < registry->count; i++) {
        if (registry->nodes[i]->state != NODE_ALIVE)
            continue;
        json_object_foreach (registry->nodes[i]->labels, key, value)
            count(&tally, key);
    }
    buf_append_str(out, tally.n ? ", existing labels: " : ", and no node has any label");
    put_tally(&tally, out);
}

static void explain_label(const struct node_registry *registry, const char *key,
                          const char *wanted, struct buf *out)
{
    struct tally tally = {.n = 0};

    if (count_values(registry, key, wanted, &tally))
        return;
    buf_printf(out, "; no node has the label %.*s=%.*s", NAMED(key), NAMED(wanted));
    if (tally.n > 0) {
        buf_printf(out, ", existing values of %.*s: ", NAMED(key));
        put_tally(&tally, out);
    } else {
        put_keys(registry, out);
    }
}

static void put_all(const struct run_spec *spec, struct buf *out)
{
    const char *key;
    json_t *wanted;

    buf_append_str(out, "; no node matches all filters:");
    if (spec->nodes.group)
        buf_printf(out, " group '%.*s'", NAMED(spec->nodes.group));
    json_object_foreach (spec->nodes.labels, key, wanted)
        buf_printf(out, " %.*s=%.*s", NAMED(key), NAMED(json_string_value(wanted)));
    if (spec->nodes.names)
        buf_append_str(out, " and one of the names");
}

void unmatched_explain(const struct run_spec *spec, const struct node_registry *registry,
                       struct buf *out)
{
    struct tally tally = {.n = 0};
    size_t before = out->len;
    const char *key;
    json_t *wanted;

    if (spec->nodes.group && !count_values(registry, NULL, spec->nodes.group, &tally)) {
        buf_printf(out, "; no node is in group '%.*s', existing groups: ",
                   NAMED(spec->nodes.group));
        put_tally(&tally, out);
        if (tally.n == 0)
            buf_append_str(out, "none");
    }
    json_object_foreach (spec->nodes.labels, key, wanted)
        explain_label(registry, key, json_string_value(wanted), out);
    if (out->len == before && (spec->nodes.group || spec->nodes.labels))
        put_all(spec, out);
}

static bool is_named(const json_t *names, const char *name)
{
    json_t *value;
    size_t i;

    json_array_foreach (names, i, value)
        if (strcmp(json_string_value(value), name) == 0)
            return true;
    return !names;
}

void unmatched_explain_launched(const struct run_spec *spec,
                                const struct node_registry *registry, struct buf *out)
{
    const char *group = spec->nodes.group;
    struct tally tally = {.n = 0};

    for (size_t i = 0; i < registry->count && !spec->launch.name; i++) {
        const struct node *node = registry->nodes[i];

        if (node->state == NODE_ALIVE && job_group(node->group) &&
            (!group || strcmp(group, node->group) == 0) &&
            is_named(spec->nodes.names, node->name) &&
            node_has_labels(node, spec->nodes.labels))
            count(&tally, node->group);
    }
    if (tally.n == 0)
        return;
    buf_append_str(out, "; nodes that were launched for one run serve no other run: ");
    put_tally(&tally, out);
}
