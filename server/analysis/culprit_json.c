/* SPDX-License-Identifier: Apache-2.0 */
/* culprit_json.c - builds the sentence and the evidence of the culprit verdict */
#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/culprit_model.h"
#include "server/finding/finding.h"

#define LISTED_MAX 4
/* If more than this fraction of groups is slow without explanation, name no suspect. */
#define UNEXPLAINED_MAX 0.1

static const char *const kind_names[] = {"rack", "node", "link"};
static const char *const state_names[] = {"open", "cleared", "guilty"};

static const enum message_id slow[] = {
    [SUSPECT_RACK] = MESSAGE_RACK_SLOW,
    [SUSPECT_NODE] = MESSAGE_NODE_SLOW,
    [SUSPECT_LINK] = MESSAGE_LINK_SLOW,
};

static const char *name_of(const struct culprit_model *model, size_t node)
{
    return model->fleet->nodes[node].name;
}

static const char *rack_of(const struct culprit_model *model,
                           const struct suspect *suspect, size_t node)
{
    return json_get_str(model->fleet->nodes[node].labels, suspect->key, "?");
}

static size_t count(const struct culprit_model *model, enum suspect_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < model->n_suspects; i++)
        n += model->suspects[i].state == state;
    return n;
}

/* Return true if there are at least as many measurements as there are links. */
static bool has_met_all(const struct culprit_model *model)
{
    return 2 * model->n_ran >= model->fleet->n_nodes * (model->fleet->n_nodes - 1);
}

/* Convert a deviation into the fraction lost relative to the reference. */
static double behind(double deviation)
{
    return deviation < 0 ? -expm1(deviation) : 0;
}

/* Return true if noise could hide a very slow node. A deficit that the user tolerates is
 * not counted. */
static bool is_blurred(const struct culprit_model *model)
{
    return model->resolution < culprit_margin(model) &&
           behind(model->resolution) > CULPRIT_RESOLVED;
}

static bool is_unexplained(const struct culprit_model *model)
{
    return model->n_slow > CULPRIT_LINKS_MAX ||
           (model->n_slow > 1 &&
            (double)model->n_slow >= UNEXPLAINED_MAX * (double)model->n_free);
}

/* ---- Suspects ---- */

/* Return true if the node is in the rack of node `of`. Labels are compared instead of
 * model->racks, because a cleared rack's key may differ from the current key. */
static bool is_in(const struct culprit_model *model, const struct suspect *suspect,
                  size_t node, size_t of)
{
    return strcmp(json_get_str(model->fleet->nodes[node].labels, suspect->key, ""),
                  rack_of(model, suspect, of)) == 0;
}

static json_t *names_json(const struct culprit_model *model,
                          const struct suspect *suspect)
{
    json_t *out = json_array();

    for (size_t i = 0; i < model->fleet->n_nodes; i++)
        if (suspect->kind == SUSPECT_RACK ? is_in(model, suspect, i, suspect->a) ||
                                                is_in(model, suspect, i, suspect->b)
                                          : i == suspect->a || i == suspect->b)
            json_array_append_new(out, json_string(name_of(model, i)));
    return out;
}

static json_t *name_json(const struct culprit_model *model, const struct suspect *suspect)
{
    const char *key = suspect->key;

    if (suspect->kind == SUSPECT_NODE)
        return json_string(name_of(model, suspect->a));
    if (suspect->kind == SUSPECT_LINK)
        return json_sprintf("the link between %s and %s", name_of(model, suspect->a),
                            name_of(model, suspect->b));
    if (suspect->is_boundary)
        return json_sprintf("the network between %s %s and %s", key,
                            rack_of(model, suspect, suspect->a),
                            rack_of(model, suspect, suspect->b));
    return json_sprintf("%s %s", key, rack_of(model, suspect, suspect->a));
}

static json_t *suspect_json(const struct culprit_model *model,
                            const struct suspect *suspect)
{
    json_t *out = json_pack(
        "{s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "kind",
        kind_names[suspect->kind], "state", state_names[suspect->state], "name",
        name_json(model, suspect), "nodes", names_json(model, suspect), "measured",
        (json_int_t)suspect->measured, "slow", (json_int_t)suspect->slow, "confirming",
        (json_int_t)suspect->tested, "confirmed", (json_int_t)suspect->confirmed,
        "controls", (json_int_t)suspect->controls, "slow_controls",
        (json_int_t)suspect->slow_controls, "expected_by_chance", suspect->by_chance);

    if (suspect->measured > 0) {
        json_object_set_new(out, "figure", json_real(suspect->figure));
        json_object_set_new(out, "reference", json_real(suspect->reference));
    }
    if (suspect->kind == SUSPECT_RACK) {
        json_object_set_new(out, "key", json_string(suspect->key));
        json_object_set_new(out, "label",
                            json_string(rack_of(model, suspect, suspect->a)));
    }
    return out;
}

/* Return a phrase that contrasts the suspect with its surroundings, or NULL if these were
 * not normal or not measured. */
static const char *contrast_of(const struct culprit_model *model,
                               const struct suspect *suspect)
{
    if (suspect->kind == SUSPECT_RACK)
        return suspect->is_slow_within ? "its nodes are slow with each other too"
               : suspect->is_boundary  ? "the nodes of each are normal with each other"
                                       : "its nodes are normal with each other";
    if (model->n_free == 0 || model->n_slow > 0)
        return NULL;
    return suspect->kind == SUSPECT_NODE ? "its partners are normal with each other"
                                         : "both are normal with others";
}

/* Return the suspect's members that the sentence needs. */
static json_t *words_json(const struct culprit_model *model,
                          const struct suspect *suspect)
{
    json_t *out = suspect_json(model, suspect);

    json_object_update_new(
        out, json_pack("{s:b, s:I, s:I, s:s*}", "has_partners",
                       (int)(suspect->kind == SUSPECT_NODE), "slow_partners",
                       (json_int_t)(suspect->slow - suspect->confirmed), "partners",
                       (json_int_t)(suspect->measured - suspect->tested), "contrast",
                       contrast_of(model, suspect)));
    return out;
}

static json_t *suspects_json(const struct culprit_model *model)
{
    json_t *suspects = json_array();

    for (size_t i = 0; i < model->n_suspects; i++)
        json_array_append_new(suspects, suspect_json(model, &model->suspects[i]));
    return suspects;
}

/* ---- The sentence ---- */

static void put_evidence(const struct culprit_model *model, struct finding *finding)
{
    finding_put(finding,
                "{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:{s:I, s:I}, s:o}",
                "unit", model->fleet->unit, "nodes", (json_int_t)model->fleet->n_nodes,
                "nodes_measured", (json_int_t)model->n_measured, "groups",
                (json_int_t)model->n_ran, "failed", (json_int_t)model->n_failed, "noise",
                model->noise, "level", CULPRIT_LEVEL, "largest_deviation",
                behind(model->largest), "resolution", behind(model->resolution),
                "unexplained", "slow", (json_int_t)model->n_slow, "of",
                (json_int_t)model->n_free, "suspects", suspects_json(model));
}

/* Add the nodes without measurements and the number of failed measurements. */
static void put_gaps(const struct culprit_model *model, struct finding *finding)
{
    size_t missing = model->fleet->n_nodes - model->n_measured;
    bool ran = true;

    finding_put(finding, "{s:I}", "$groups",
                (json_int_t)model->n_failed + (json_int_t)model->n_ran);
    for (size_t i = 0; i < model->fleet->n_nodes && missing > 0 && ran; i++) {
        ran = false;
        for (size_t k = model->starts[i]; k < model->starts[i + 1] && !ran; k++)
            ran = !isnan(model->deviations[model->lists[k]]);
        if (!ran)
            finding_put(finding, "{s:[s], s:I}", "$missing", name_of(model, i),
                        "$n_missing", (json_int_t)missing);
    }
}

static enum message_id say_guilty(const struct culprit_model *model,
                                  struct finding *finding)
{
    enum message_id message = MESSAGES;
    json_t *guilty = json_array(), *names;

    for (size_t i = 0; i < model->n_suspects; i++) {
        const struct suspect *suspect = &model->suspects[i];

        if (suspect->state != SUSPECT_GUILTY)
            continue;
        if (message == MESSAGES)
            message = slow[suspect->kind];
        json_array_append_new(guilty, words_json(model, suspect));
        names = names_json(model, suspect);
        finding_name_all(finding, names);
        json_decref(names);
    }
    finding_set_phrases(
        finding, "$guilty", guilty, LISTED_MAX, "; ",
        "{name} is slow [{has_partners?}with {slow_partners} of {partners} partners|in "
        "{slow} of {measured} measurements] ({figure} of {reference} {unit})[; "
        "{contrast}]");
    json_decref(guilty);
    return message;
}

static enum message_id say_open(const struct culprit_model *model,
                                struct finding *finding)
{
    const struct suspect *suspect = model->suspects;

    while (suspect->state != SUSPECT_OPEN)
        suspect++;
    finding_put(finding, "{s:o, s:I, s:b}", "$open", words_json(model, suspect),
                "$others", (json_int_t)count(model, SUSPECT_OPEN) - 1, "$is_new",
                suspect->tested < CULPRIT_CONFIRM_MIN);
    return MESSAGE_SUSPECT_OPEN;
}

static enum message_id say_none(const struct culprit_model *model,
                                struct finding *finding)
{
    finding_put(finding, "{s:b}", "$has_met_all", (int)has_met_all(model));
    if (is_unexplained(model))
        return MESSAGE_SLOW_UNEXPLAINED;
    if (is_blurred(model))
        return MESSAGE_FLEET_BLURRED;
    if (model->n_measured < model->fleet->n_nodes)
        return MESSAGE_NONE_SLOW_SO_FAR;
    if (!model->fleet->slow_together)
        return MESSAGE_NONE_SLOW;
    finding_set_text(finding, "slow_together", model->fleet->slow_together);
    return MESSAGE_SLOW_TOGETHER;
}

static enum message_id say(const struct culprit_model *model, struct finding *finding)
{
    bool is_few = model->n_measured < CULPRIT_NODES_MIN;

    put_evidence(model, finding);
    finding_put(finding, "{s:I}", "$least", (json_int_t)CULPRIT_NODES_MIN);
    if (!is_few)
        put_gaps(model, finding);
    if (count(model, SUSPECT_GUILTY) > 0)
        return say_guilty(model, finding);
    if (is_few)
        return MESSAGE_FEW_NODES;
    return count(model, SUSPECT_OPEN) > 0 ? say_open(model, finding)
                                          : say_none(model, finding);
}

json_t *culprit_verdict(const struct culprit_fleet *fleet)
{
    struct finding finding = finding_begin();
    struct culprit_model model;
    enum message_id message;

    culprit_model_init(&model, fleet);
    culprit_find_suspects(&model);
    message = say(&model, &finding);
    culprit_model_release(&model);
    return finding_end(&finding, message, fleet->mark);
}
