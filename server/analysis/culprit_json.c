/* culprit_json.c - what was found, as a sentence and its evidence */
#include <math.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/culprit_model.h"
#include "server/analysis/gate_check.h"
#include "server/finding/verdict.h"

#define SENTENCE_MAX ((size_t)16 << 10)
#define LISTED_MAX 4
#define UNEXPLAINED_MAX 0.1 /* of the groups; more of them slow leave no answer */

static const char *const kind_names[] = {"rack", "node", "link"};
static const char *const state_names[] = {"open", "cleared", "guilty"};

static const enum verdict_answer answers[] = {
    [SUSPECT_RACK] = VERDICT_SLOW_RACK,
    [SUSPECT_NODE] = VERDICT_SLOW_NODE,
    [SUSPECT_LINK] = VERDICT_SLOW_LINK,
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

static bool all_are_pairs(const struct culprit_model *model)
{
    return model->n_pairs == model->n_ran;
}

/* As many pairs as there are links, whatever the others are. */
static bool has_met_all(const struct culprit_model *model)
{
    return 2 * model->n_pairs >= model->fleet->n_nodes * (model->fleet->n_nodes - 1);
}

/* ---- The sentence ---- */

static int put_name(const struct culprit_model *model, const struct suspect *suspect,
                    struct buf *out)
{
    if (suspect->kind == SUSPECT_NODE)
        return buf_append_str(out, name_of(model, suspect->a));
    if (suspect->kind == SUSPECT_LINK)
        return buf_printf(out, "the link between %s and %s", name_of(model, suspect->a),
                          name_of(model, suspect->b));
    if (suspect->is_boundary)
        return buf_printf(out, "what lies between %s %s and %s", suspect->key,
                          rack_of(model, suspect, suspect->a),
                          rack_of(model, suspect, suspect->b));
    return buf_printf(out, "%s %s", suspect->key, rack_of(model, suspect, suspect->a));
}

/* "31 of 46 GB/s" */
static int put_figures(const struct culprit_model *model, const struct suspect *suspect,
                       struct buf *out)
{
    char figure[32], reference[32];

    return buf_printf(out, "%s of %s %s", gate_number_text(suspect->figure, figure),
                      gate_number_text(suspect->reference, reference),
                      model->fleet->unit);
}

/* In how many measurements, of pairs with how many partners. */
static int put_extent(const struct culprit_model *model, const struct suspect *suspect,
                      struct buf *out)
{
    bool has_partners = suspect->kind == SUSPECT_NODE && all_are_pairs(model);

    if (!has_partners)
        return buf_printf(out, "in %zu of %zu measurements", suspect->slow,
                          suspect->measured);
    return buf_printf(out, "with %zu of %zu partners", suspect->slow - suspect->confirmed,
                      suspect->measured - suspect->tested);
}

/* What is normal beside it, where that was seen. */
static int put_contrast(const struct culprit_model *model, const struct suspect *suspect,
                        struct buf *out)
{
    if (suspect->kind == SUSPECT_RACK)
        return buf_append_str(
            out, suspect->is_slow_within ? "; its nodes are slow with each other too"
                 : suspect->is_boundary  ? "; within each of them all is normal"
                                         : "; within it all is normal");
    if (model->n_free == 0 || model->n_slow > 0)
        return 0;
    return buf_append_str(out, suspect->kind == SUSPECT_NODE
                                   ? "; its partners are normal with each other"
                                   : "; both are normal with others");
}

static int put_guilty(const struct culprit_model *model, const struct suspect *suspect,
                      struct buf *out)
{
    return put_name(model, suspect, out) || buf_append_str(out, " is slow ") ||
                   put_extent(model, suspect, out) || buf_append_str(out, " (") ||
                   put_figures(model, suspect, out) || buf_append_str(out, ")") ||
                   put_contrast(model, suspect, out)
               ? -1
               : 0;
}

static int put_all_guilty(const struct culprit_model *model, struct buf *out)
{
    size_t n = count(model, SUSPECT_GUILTY), told = 0;

    for (size_t i = 0; i < model->n_suspects && told < LISTED_MAX; i++) {
        if (model->suspects[i].state != SUSPECT_GUILTY)
            continue;
        if ((told > 0 && buf_append_str(out, "; ")) ||
            put_guilty(model, &model->suspects[i], out))
            return -1;
        told++;
    }
    return n > told ? buf_printf(out, "; and %zu more", n - told) : 0;
}

static int put_open(const struct culprit_model *model, struct buf *out)
{
    size_t n = count(model, SUSPECT_OPEN);

    for (size_t i = 0; i < model->n_suspects; i++) {
        const struct suspect *suspect = &model->suspects[i];

        if (suspect->state != SUSPECT_OPEN)
            continue;
        if (buf_append_str(out, "not enough data: ") || put_name(model, suspect, out))
            return -1;
        if (suspect->measured > 0 &&
            (buf_append_str(out, " looks slow (") || put_figures(model, suspect, out) ||
             buf_append_str(out, ")")))
            return -1;
        if (n > 1 && buf_printf(out, " and %zu more", n - 1))
            return -1;
        return buf_printf(out, ", and %s",
                          suspect->tested < CULPRIT_CONFIRM_MIN
                              ? "that is not confirmed"
                              : "as much is slow that it does not explain");
    }
    return 0;
}

/* What so far below means as a part of the reference. */
static double behind(double deviation)
{
    return deviation < 0 ? -expm1(deviation) : 0;
}

/* A node that a user lets be so far behind does not count. */
static bool is_blurred(const struct culprit_model *model)
{
    return model->resolution < culprit_margin(model) &&
           behind(model->resolution) > CULPRIT_RESOLVED;
}

static bool is_unexplained(const struct culprit_model *model)
{
    return model->together || model->n_slow > CULPRIT_LINKS_MAX ||
           (model->n_slow > 1 &&
            (double)model->n_slow >= UNEXPLAINED_MAX * (double)model->n_free);
}

static int put_together(const struct culprit_model *model, struct buf *out)
{
    const struct culprit_group *group = model->together;

    for (size_t i = 0; i < group->n && i < LISTED_MAX; i++)
        if (buf_printf(out, "%s%s", i > 0 ? ", " : "not enough data: ",
                       name_of(model, group->nodes[i])))
            return -1;
    if (group->n > LISTED_MAX && buf_printf(out, " and %zu more", group->n - LISTED_MAX))
        return -1;
    return buf_append_str(out,
                          " are slow together, and no node or pair of them is alone");
}

static int put_none(const struct culprit_model *model, struct buf *out)
{
    if (model->together)
        return put_together(model, out);
    if (is_unexplained(model))
        return buf_printf(out,
                          "not enough data: %zu of %zu measurements are slow, and no "
                          "node, link or rack accounts for them",
                          model->n_slow, model->n_free);
    if (is_blurred(model))
        return buf_printf(out,
                          "not enough data: measurements scatter so far that a node may "
                          "be %.0f %% behind and not stand out; larger sizes, more "
                          "repeats or nodes that do nothing else would tell",
                          100 * behind(model->resolution));
    if (buf_printf(out, "none stands out; the largest deviation is %.1f %%",
                   100 * behind(model->largest)))
        return -1;
    return has_met_all(model)
               ? 0
               : buf_append_str(out, "; a link that no group depends on would not show");
}

/* Nodes of which nothing is known, and measurements. */
static int put_gaps(const struct culprit_model *model, struct buf *out)
{
    size_t missing = model->fleet->n_nodes - model->n_measured;

    if (model->n_failed > 0 &&
        buf_printf(out, "; %zu of %zu measurements failed", model->n_failed,
                   model->n_failed + model->n_ran))
        return -1;
    for (size_t i = 0; i < model->fleet->n_nodes && missing > 0; i++) {
        bool ran = false;

        for (size_t k = model->starts[i]; k < model->starts[i + 1] && !ran; k++)
            ran = !isnan(model->deviations[model->lists[k]]);
        if (ran)
            continue;
        if (missing > 1)
            return buf_printf(out, "; %s and %zu more were not measured",
                              name_of(model, i), missing - 1);
        return buf_printf(out, "; %s was not measured", name_of(model, i));
    }
    return 0;
}

static int put_few(const struct culprit_model *model, struct buf *out)
{
    return buf_printf(out,
                      "not enough data: %zu of %zu nodes were measured, and %d at least "
                      "are needed to tell a node from a link",
                      model->n_measured, model->fleet->n_nodes, CULPRIT_NODES_MIN);
}

static enum verdict_answer answer_of(const struct culprit_model *model)
{
    for (size_t i = 0; i < model->n_suspects; i++)
        if (model->suspects[i].state == SUSPECT_GUILTY)
            return answers[model->suspects[i].kind];
    if (model->n_measured < CULPRIT_NODES_MIN ||
        model->n_measured < model->fleet->n_nodes || count(model, SUSPECT_OPEN) > 0 ||
        is_unexplained(model) || is_blurred(model))
        return VERDICT_NOT_ENOUGH_DATA;
    return VERDICT_NONE;
}

static int put_sentence(const struct culprit_model *model, struct buf *out)
{
    int result;

    if (count(model, SUSPECT_GUILTY) > 0)
        result = put_all_guilty(model, out);
    else if (model->n_measured < CULPRIT_NODES_MIN)
        result = put_few(model, out);
    else if (count(model, SUSPECT_OPEN) > 0)
        result = put_open(model, out);
    else
        result = put_none(model, out);
    if (result || model->n_measured < CULPRIT_NODES_MIN)
        return result;
    return put_gaps(model, out);
}

/* ---- The evidence ---- */

/* Of a rack that was cleared too, whose key is no longer the one that is looked at. */
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

static json_t *suspect_json(const struct culprit_model *model,
                            const struct suspect *suspect)
{
    json_t *out = json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "kind",
        kind_names[suspect->kind], "state", state_names[suspect->state], "nodes",
        names_json(model, suspect), "measured", (json_int_t)suspect->measured, "slow",
        (json_int_t)suspect->slow, "confirming", (json_int_t)suspect->tested, "confirmed",
        (json_int_t)suspect->confirmed, "controls", (json_int_t)suspect->controls,
        "slow_controls", (json_int_t)suspect->slow_controls, "expected_by_chance",
        suspect->by_chance);

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

static json_t *evidence_json(const struct culprit_model *model)
{
    json_t *suspects = json_array();

    for (size_t i = 0; i < model->n_suspects; i++)
        json_array_append_new(suspects, suspect_json(model, &model->suspects[i]));
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:{s:I, s:I}, s:o}", "unit",
        model->fleet->unit, "nodes", (json_int_t)model->fleet->n_nodes, "nodes_measured",
        (json_int_t)model->n_measured, "groups", (json_int_t)model->n_ran, "failed",
        (json_int_t)model->n_failed, "noise", model->noise, "level", CULPRIT_LEVEL,
        "largest_deviation", behind(model->largest), "resolution",
        behind(model->resolution), "unexplained", "slow", (json_int_t)model->n_slow, "of",
        (json_int_t)model->n_free, "suspects", suspects);
}

json_t *culprit_verdict(const struct culprit_fleet *fleet)
{
    struct culprit_model model;
    struct buf out;
    json_t *verdict = NULL;

    buf_init(&out, SENTENCE_MAX);
    if (!culprit_model_init(&model, fleet) && !culprit_find_suspects(&model) &&
        !put_sentence(&model, &out))
        verdict = verdict_json(VERDICT_CULPRIT, answer_of(&model), out.data, fleet->mark,
                               evidence_json(&model));
    buf_release(&out);
    culprit_model_release(&model);
    return verdict;
}
