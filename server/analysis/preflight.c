/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.c - combines the checks of nodes into a verdict */
#include "server/analysis/preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "server/analysis/preflight_check.h"
#include "server/finding/finding.h"

#define WHAT "a preflight" /* names the allocation in out-of-memory errors */
#define ITEMS_MAX 32       /* maximum number of different findings of one check */
#define COMMAND_MAX 600
/* Maximum number of names per finding, if only findings are requested */
#define NAMES_MAX 32

/* A finding that may apply to several nodes. */
struct item {
    char sentence[PREFLIGHT_TEXT_MAX];
    enum verdict_answer answer;
    json_t *command; /* fix for the problem, or NULL */
    size_t *nodes;   /* indexes of the nodes, ascending */
    size_t n;
};

/* The state of one check. */
struct judging {
    /* Must be the first member, because the check's callbacks receive its address. */
    struct preflight_facts facts;
    const struct preflight_node *nodes;
    size_t n, of; /* number of nodes; index of the requested node, or n for all nodes */
    bool is_whole;
    const struct preflight_use *use;
    const struct preflight_check *check;
    struct fact *all; /* in order of arrival */
    size_t n_all, room;
    json_t *splits; /* sentences about values without a majority */
    size_t node;    /* index of the node whose facts are being collected */
    /* the last item collects the findings that do not fit */
    struct item items[ITEMS_MAX + 1];
    size_t n_items, n_well;
};

static unsigned backend_of(const char *name)
{
    if (strcmp(name, "nccl") == 0)
        return PREFLIGHT_NCCL;
    return strcmp(name, "sim") == 0 ? PREFLIGHT_SIM : PREFLIGHT_HOST;
}

/* Return the default backend for which nodes are checked. */
static const char *usual_backend(const struct preflight_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *inventory = nodes[i].inventory;
        const json_t *backends = json_object_get(inventory, "backends");

        if (json_array_size(json_object_get(inventory, "gpus")) > 0 ||
            json_get_bool(json_object_get(backends, "nccl"), "available", false))
            return "nccl";
    }
    return "host";
}

/* ---- A check's findings ---- */

/* Replace names that a shell could interpret. The names come from agents, and users run
 * the commands in a shell. */
static const char *safe(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.:@-";

    return name[strspn(name, plain)] ? "NAME" : name;
}

static json_t *command_json(const char *form, const struct preflight_result *result)
{
    char text[COMMAND_MAX] = "";
    size_t len = 0;

    while (*form && len < sizeof(text) - PREFLIGHT_NAME_MAX - 1) {
        bool is_subject = strncmp(form, "{}", 2) == 0;
        bool is_most = strncmp(form, "{most}", 6) == 0;

        if (is_subject || is_most)
            len += (size_t)snprintf(text + len, PREFLIGHT_NAME_MAX, "%s",
                                    safe(is_subject ? result->subject : result->most));
        else
            text[len++] = *form;
        form += is_subject ? 2 : is_most ? 6 : 1;
    }
    text[len] = '\0';
    return json_clean_string(text);
}

/* Return the item with the same sentence, or a new one. */
static struct item *item_of(struct judging *judging,
                            const struct preflight_result *result)
{
    static const struct preflight_result others = {
        VERDICT_FINDING, "the same check found other problems", "NAME", "VALUE", false};
    struct item *item;

    for (size_t i = 0; i < judging->n_items; i++)
        if (strcmp(judging->items[i].sentence, result->sentence) == 0)
            return &judging->items[i];
    if (judging->n_items >= ITEMS_MAX && result != &others)
        return item_of(judging, &others);
    item = &judging->items[judging->n_items++];
    item->answer = result->answer;
    snprintf(item->sentence, sizeof(item->sentence), "%s", result->sentence);
    if (result->answer == VERDICT_FINDING && !result->is_split)
        item->command = command_json(judging->check->command, result);
    return item;
}

/* Add a node's result. Nodes arrive in ascending order. Only the first "not evaluated" is
 * recorded. */
static void add(struct judging *judging, size_t node,
                const struct preflight_result *result)
{
    struct item *item;

    if (judging->of < judging->n && node != judging->of)
        return;
    judging->n_well += result->answer == VERDICT_OK;
    if (result->answer == VERDICT_OK ||
        (result->answer == VERDICT_NOT_EVALUATED && judging->n_items > 0))
        return;
    item = item_of(judging, result);
    if (result->answer != VERDICT_FINDING)
        return;
    if (!item->nodes)
        item->nodes = memory_zeroed(judging->n, sizeof(*item->nodes), WHAT);
    if (item->n == 0 || item->nodes[item->n - 1] != node)
        item->nodes[item->n++] = node;
}

/* ---- Values that all nodes should share ---- */

/* A value reported by a node, and the value with which it is compared. */
struct fact {
    char *what, *text;
    const char *subject; /* borrowed from the inventory */
    size_t node;
    /* Number of equal facts, set in the first of these; 0 in the others */
    size_t n_alike;
    const char *most;  /* the majority's value, set only if the fact is a problem */
    const char *split; /* the sentence if no value has a majority, or NULL */
};

static void take(struct preflight_facts *facts, const char *what, const char *text,
                 const char *subject, int port)
{
    struct judging *judging = (struct judging *)facts;
    struct fact *fact;

    if (judging->check->concerns && json_object_size(judging->use->env) > 0 &&
        !judging->check->concerns(judging->use->env, subject, port))
        return;
    judging->all = memory_grown(judging->all, judging->n_all, &judging->room,
                                sizeof(*judging->all), WHAT);
    fact = &judging->all[judging->n_all++];
    *fact = (struct fact){.what = memory_text(what, WHAT),
                          .text = memory_text(text, WHAT),
                          .subject = subject,
                          .node = judging->node};
    utf8_trim(fact->what);
    utf8_clean(fact->what);
}

static bool is_named(const struct fact *fact)
{
    return !*fact->subject || strstr(fact->what, fact->subject);
}

/* Return a sentence such as "WHAT differs: 1500 on a, 9000 on b and 2 more", from facts
 * in order of arrival. */
static const char *split_text(struct judging *judging, struct fact *const *facts,
                              size_t n)
{
    bool is_alone =
        judging->n == 1 || (judging->of < judging->n && !judging->check->is_hardware);
    char on[2 * PREFLIGHT_NAME_MAX], text[PREFLIGHT_TEXT_MAX];
    const char *before = ":";
    int len = snprintf(text, sizeof(text), "%.80s differs", facts[0]->what);
    json_t *split;

    for (size_t i = 0; i < n && len <= PREFLIGHT_TEXT_MAX - PREFLIGHT_NAME_MAX; i++) {
        const struct fact *fact = facts[i];

        if (fact->n_alike == 0)
            continue;
        snprintf(on, sizeof(on), is_alone || is_named(fact) ? "%.60s" : "%.60s (%.60s)",
                 is_alone ? fact->subject : judging->nodes[fact->node].name,
                 fact->subject);
        len += snprintf(text + len, PREFLIGHT_NAME_MAX, "%s %.20s on %.40s", before,
                        fact->text, on);
        if (fact->n_alike > 1)
            len += snprintf(text + len, 24, " and %zu more", fact->n_alike - 1);
        before = ",";
    }
    split = json_clean_string(text);
    json_array_append_new(judging->splits, split);
    return json_string_value(split);
}

static int compare_order(const void *a, const void *b)
{
    const struct fact *x = *(struct fact *const *)a, *y = *(struct fact *const *)b;

    return (x > y) - (x < y);
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact *x = *(struct fact *const *)a, *y = *(struct fact *const *)b;
    int order = strcmp(x->what, y->what);

    order = order ? order : strcmp(x->text, y->text);
    return order ? order : compare_order(a, b);
}

/* Judge the facts about one subject, sorted by value. The majority's value is considered
 * correct unless the check defines another value. */
static void judge_thing(struct judging *judging, struct fact **facts, size_t n)
{
    const char *good = judging->check->good, *most = "", *split = NULL;
    size_t n_most = 0, n_values = 0;

    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(facts[end]->text, facts[i]->text) == 0;)
            end++;
        facts[i]->n_alike = end - i;
        n_values++;
        if (end - i > n_most) {
            n_most = end - i;
            most = facts[i]->text;
        }
    }
    judging->n_well += n > 1;
    if (n_values < 2 || (good && 2 * n_most <= n && judging->n == 1) ||
        (good && 2 * n_most > n && strcmp(most, good) != 0))
        return;
    qsort(facts, n, sizeof(*facts), compare_order);
    if (2 * n_most <= n)
        split = split_text(judging, facts, n);
    for (size_t i = 0; i < n; i++)
        if (split || strcmp(facts[i]->text, most) != 0) {
            facts[i]->most = most;
            facts[i]->split = split;
        }
}

static void say(const struct fact *fact, struct preflight_result *result)
{
    bool is_silent = is_named(fact);

    *result =
        (struct preflight_result){.answer = VERDICT_FINDING, .is_split = fact->split};
    snprintf(result->subject, sizeof(result->subject), "%s", fact->subject);
    if (fact->split) {
        snprintf(result->sentence, sizeof(result->sentence), "%s", fact->split);
        return;
    }
    snprintf(result->most, sizeof(result->most), "%s", fact->most);
    snprintf(result->sentence, sizeof(result->sentence),
             "%s is %.80s%s%.80s%s, but %.80s on most nodes", fact->what, fact->text,
             is_silent ? "" : " (", is_silent ? "" : fact->subject, is_silent ? "" : ")",
             fact->most);
}

static void compare_all(struct judging *judging)
{
    size_t n = judging->n_all;
    struct fact **sorted = memory_zeroed(n + 1, sizeof(struct fact *), WHAT);

    judging->splits = json_array();
    for (size_t i = 0; i < n; i++)
        sorted[i] = &judging->all[i];
    qsort(sorted, n, sizeof(*sorted), compare_facts);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(sorted[end]->what, sorted[i]->what) == 0;)
            end++;
        judge_thing(judging, sorted + i, end - i);
    }
    free(sorted);
    for (size_t i = 0; i < n; i++) {
        struct preflight_result result;

        if (!judging->all[i].most)
            continue;
        say(&judging->all[i], &result);
        add(judging, judging->all[i].node, &result);
    }
}

static void forget_facts(struct judging *judging)
{
    for (size_t i = 0; i < judging->n_all; i++) {
        free(judging->all[i].what);
        free(judging->all[i].text);
    }
    free(judging->all);
    json_decref(judging->splits);
}

/* ---- All checks ---- */

/* List all nodes of a finding, or only the first ones for a run's document. */
static json_t *names_json(const struct judging *judging, const struct item *item)
{
    size_t most = judging->is_whole ? item->n : NAMES_MAX;
    json_t *names = json_array();

    for (size_t i = 0; i < item->n && i < most; i++)
        json_array_append_new(names, json_string(judging->nodes[item->nodes[i]].name));
    return names;
}

/* Return the sentence, preceded by the nodes. The nodes are omitted if there is only one
 * node or the sentence names them. */
static json_t *sentence_json(const struct judging *judging, const struct item *item)
{
    char text[PREFLIGHT_TEXT_MAX + 400], more[32] = "";

    if (judging->n == 1 || judging->of < judging->n || !item->command)
        return json_clean_string(item->sentence);
    if (item->n > 1)
        snprintf(more, sizeof(more), " and %zu more", item->n - 1);
    snprintf(text, sizeof(text), "%s%s: %s", judging->nodes[item->nodes[0]].name, more,
             item->sentence);
    return json_clean_string(text);
}

static json_t *item_json(const struct judging *judging, const struct item *item)
{
    json_t *n_nodes = judging->is_whole ? NULL : json_integer((json_int_t)item->n);

    return json_pack("{s:s, s:s, s:s, s:o, s:O*, s:o, s:o*}", "check", judging->check->id,
                     "severity", judging->check->severity, "answer",
                     verdict_answer_name(item->answer), "sentence",
                     sentence_json(judging, item), "command", item->command, "nodes",
                     names_json(judging, item), "n_nodes", n_nodes);
}

/* Return the object of a check without findings: passed, or not evaluated with the
 * reason. */
static json_t *well_json(const struct judging *judging)
{
    bool is_well = judging->n_well > 0;
    const char *why = judging->n_items ? judging->items[0].sentence
                                       : "there is no other node to compare with";

    return json_pack("{s:s, s:s, s:s, s:o}", "check", judging->check->id, "severity",
                     judging->check->severity, "answer",
                     verdict_answer_name(is_well ? VERDICT_OK : VERDICT_NOT_EVALUATED),
                     "sentence", json_clean_string(is_well ? "no problem found" : why));
}

static void look_at(struct judging *judging, size_t node)
{
    struct preflight_result result;

    judging->node = node;
    if (judging->of < judging->n && node != judging->of && !judging->check->is_hardware)
        return;
    if (preflight_gather(judging->check, &judging->nodes[node], &judging->facts))
        return;
    preflight_look(judging->check, &judging->nodes[node], judging->use, &result);
    add(judging, node, &result);
}

/* Run a check and count its result, or each of its findings. Mark nodes with findings in
 * is_named. */
static void judge_check(struct judging *judging, json_t *findings, json_t *rest,
                        size_t counts[VERDICT_ANSWERS], bool *is_named)
{
    size_t before = json_array_size(findings);

    for (size_t node = 0; node < judging->n; node++)
        look_at(judging, node);
    compare_all(judging);
    forget_facts(judging);
    for (size_t i = 0; i < judging->n_items; i++) {
        if (judging->items[i].answer == VERDICT_FINDING)
            json_array_append_new(findings, item_json(judging, &judging->items[i]));
        for (size_t k = 0; k < judging->items[i].n; k++)
            is_named[judging->items[i].nodes[k]] = true;
        json_decref(judging->items[i].command);
        free(judging->items[i].nodes);
    }
    counts[VERDICT_FINDING] += json_array_size(findings) - before;
    if (json_array_size(findings) > before)
        return;
    counts[judging->n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
    json_array_append_new(rest, well_json(judging));
}

static json_t *marked_json(const struct preflight_node *nodes, size_t n,
                           const bool *is_marked, size_t most)
{
    json_t *names = json_array();

    for (size_t i = 0; i < n && json_array_size(names) < most; i++)
        if (is_marked[i])
            json_array_append_new(names, json_string(nodes[i].name));
    return names;
}

static size_t place_of(const struct preflight_node *nodes, size_t n, const char *name)
{
    size_t i = 0;

    while (name && i < n && strcmp(nodes[i].name, name) != 0)
        i++;
    return name ? i : n;
}

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    size_t of = place_of(nodes, n, use->of);
    const char *backend = use->backend ? use->backend
                          : of < n     ? usual_backend(&nodes[of], 1)
                                       : usual_backend(nodes, n);
    json_t *checks = json_array(), *rest = json_array();
    size_t counts[VERDICT_ANSWERS] = {0};
    struct finding finding = finding_begin();
    struct judging *judging = memory_zeroed(1, sizeof(*judging), WHAT);
    bool *is_named = memory_zeroed(n + 1, sizeof(*is_named), WHAT);

    for (size_t i = 0; i < preflight_n_checks; i++) {
        if (!(preflight_checks[i].backends & backend_of(backend)))
            continue;
        *judging = (struct judging){.facts = {take, n == 1},
                                    .nodes = nodes,
                                    .n = n,
                                    .of = of,
                                    .is_whole = is_whole,
                                    .use = use,
                                    .check = &preflight_checks[i]};
        judge_check(judging, checks, rest, counts, is_named);
    }
    free(judging);
    finding.nodes = marked_json(nodes, n, is_named, is_whole ? n : NAMES_MAX);
    free(is_named);
    if (is_whole)
        json_array_extend(checks, rest);
    json_decref(rest);
    finding_put(&finding, "{s:s, s:I, s:I, s:o, s:I, s:O*}", "backend", backend, "ok",
                (json_int_t)counts[VERDICT_OK], "not_evaluated",
                (json_int_t)counts[VERDICT_NOT_EVALUATED], "checks", checks, "$findings",
                (json_int_t)counts[VERDICT_FINDING], "$first", json_array_get(checks, 0));
    return finding_end(&finding,
                       counts[VERDICT_FINDING] > 0 ? MESSAGE_PREFLIGHT_FINDING
                       : counts[VERDICT_OK] > 0    ? MESSAGE_PREFLIGHT_OK
                                                   : MESSAGE_PREFLIGHT_NOT_EVALUATED,
                       NULL);
}
