/* preflight.c - the checks of nodes, put together to a verdict */
#include "server/analysis/preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/preflight_check.h"

#define ITEMS_MAX 32 /* of one check: what nodes say each in words of its own */
#define COMMAND_MAX 600
#define NAMES_MAX 32 /* of one finding, where only findings are asked for */

/* One check. */
struct judging {
    const struct preflight_node *nodes;
    size_t n;
    const struct preflight_use *use;
    const struct preflight_check *check;
    json_t *items; /* of the check: what several nodes say alike is one */
    size_t n_well;
    json_t *counted; /* {WHAT: {VALUE: {"n", "on": who has it first}}} */
};

static unsigned backend_of(const char *name)
{
    if (strcmp(name, "nccl") == 0)
        return PREFLIGHT_NCCL;
    return strcmp(name, "sim") == 0 ? PREFLIGHT_SIM : PREFLIGHT_HOST;
}

/* What nobody said that the nodes are to do. */
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

/* ---- A check's items ---- */

/* Names come from agents, and commands go into somebody's shell. */
static const char *safe(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.:@-";

    return name[strspn(name, plain)] ? "NAME" : name;
}

static json_t *command_json(const char *form, const struct preflight_said *said)
{
    char text[COMMAND_MAX] = "";
    size_t len = 0;

    while (*form && len < sizeof(text) - PREFLIGHT_NAME_MAX - 1) {
        bool is_subject = strncmp(form, "{}", 2) == 0;
        bool is_most = strncmp(form, "{most}", 6) == 0;

        if (is_subject || is_most)
            len += (size_t)snprintf(text + len, PREFLIGHT_NAME_MAX, "%s",
                                    safe(is_subject ? said->subject : said->most));
        else
            text[len++] = *form;
        form += is_subject ? 2 : is_most ? 6 : 1;
    }
    text[len] = '\0';
    return json_clean_string(text);
}

static json_t *same_item(const struct judging *judging, const char *sentence)
{
    json_t *item, *found = NULL, *text = json_clean_string(sentence);
    size_t i;

    json_array_foreach (judging->items, i, item)
        if (json_equal(json_object_get(item, "sentence"), text))
            found = item;
    json_decref(text);
    return found;
}

/* The item that says the same, or a new one; the last is of all that there are too many
 * of. */
static json_t *item_of(struct judging *judging, const struct preflight_said *said)
{
    static const struct preflight_said others = {
        VERDICT_FINDING, "the same check finds something else", "NAME", "VALUE", false};
    const struct preflight_check *check = judging->check;
    bool is_found = said->answer == VERDICT_FINDING;
    json_t *item = same_item(judging, said->sentence);

    if (item)
        return item;
    if (json_array_size(judging->items) >= ITEMS_MAX && said != &others)
        return item_of(judging, &others);
    item = json_pack(
        "{s:s, s:s, s:s, s:o, s:o*, s:[]}", "check", check->id, "severity",
        check->severity, "answer", verdict_answer_name(said->answer), "sentence",
        json_clean_string(said->sentence), "command",
        is_found && !said->is_split ? command_json(check->command, said) : NULL, "nodes");
    json_array_append_new(judging->items, item);
    return item;
}

/* Of two devices of a node the same may be said. */
static void add(struct judging *judging, const struct preflight_node *node,
                const struct preflight_said *said)
{
    json_t *names;
    const char *last;

    judging->n_well += said->answer == VERDICT_OK;
    if (said->answer == VERDICT_OK)
        return;
    names = json_object_get(item_of(judging, said), "nodes");
    last = json_string_value(json_array_get(names, json_array_size(names) - 1));
    if (!last || strcmp(last, node->name) != 0)
        json_array_append_new(names, json_string(node->name));
}

/* ---- What all nodes are to have in common ---- */

/* The facts of all nodes are counted; then those are told that differ. */
struct comparing {
    struct preflight_facts facts; /* the first: it is what checks hand back */
    struct judging *judging;
    const struct preflight_node *node;
    json_t *decided; /* {WHAT: "most" | ["what is said of all"]} */
};

static json_t *object_in(json_t *object, const char *key)
{
    json_t *inner = json_object_get(object, key);

    if (inner)
        return inner;
    json_object_set_new_nocheck(object, key, json_object());
    return json_object_get(object, key);
}

static bool is_named(const char *what, const char *subject)
{
    return !*subject || strstr(what, subject);
}

static void count(struct preflight_facts *facts, const char *what, const char *value,
                  const char *subject)
{
    const struct comparing *comparing = (const struct comparing *)facts;
    json_t *entry = object_in(object_in(comparing->judging->counted, what), value);
    bool is_alone = facts->is_alone;
    char on[2 * PREFLIGHT_NAME_MAX];

    json_object_set_new(entry, "n", json_integer(json_get_int(entry, "n", 0) + 1));
    if (json_object_get(entry, "on"))
        return;
    snprintf(on, sizeof(on),
             is_alone || is_named(what, subject) ? "%.60s" : "%.60s (%.60s)",
             is_alone ? subject : comparing->node->name, subject);
    json_object_set_new(entry, "on", json_clean_string(on));
}

static void tell(struct preflight_facts *facts, const char *what, const char *value,
                 const char *subject)
{
    const struct comparing *comparing = (const struct comparing *)facts;
    const json_t *decided = json_object_get(comparing->decided, what);
    const char *most = json_string_value(decided);
    const char *split = json_string_value(json_array_get(decided, 0));
    bool is_silent = is_named(what, subject);
    struct preflight_said said = {.answer = VERDICT_FINDING, .is_split = split != NULL};

    if (!decided || (most && strcmp(value, most) == 0))
        return;
    snprintf(said.subject, sizeof(said.subject), "%s", subject);
    snprintf(said.most, sizeof(said.most), "%s", most ? most : "");
    if (split)
        snprintf(said.sentence, sizeof(said.sentence), "%s", split);
    else
        snprintf(said.sentence, sizeof(said.sentence),
                 "%s is %.80s%s%.80s%s, most have %.80s", what, value,
                 is_silent ? "" : " (", is_silent ? "" : subject, is_silent ? "" : ")",
                 most);
    add(comparing->judging, comparing->node, &said);
}

/* "WHAT differs: 1500 on a, 9000 on b and 2 more": nobody knows which is right. */
static json_t *split_json(const char *what, json_t *values)
{
    char text[PREFLIGHT_TEXT_MAX];
    int len = snprintf(text, sizeof(text), "%.80s differs", what);
    const char *value, *before = ":";
    json_t *entry;

    json_object_foreach (values, value, entry) {
        int more = (int)json_get_int(entry, "n", 1) - 1;

        if (len > (int)sizeof(text) - PREFLIGHT_NAME_MAX)
            break;
        len += snprintf(text + len, PREFLIGHT_NAME_MAX, "%s %.20s on %.40s", before,
                        value, json_get_str(entry, "on", ""));
        if (more > 0)
            len += snprintf(text + len, 24, " and %d more", more);
        before = ",";
    }
    return json_pack("[o]", json_clean_string(text));
}

/* What more than half of them have is right, where no check knows better. */
static void decide(struct comparing *comparing, const char *what, json_t *values)
{
    const char *value, *most = NULL, *good = comparing->judging->check->good;
    json_int_t n = 0, best = 0;
    json_t *entry, *decided = NULL;

    json_object_foreach (values, value, entry) {
        json_int_t own = json_get_int(entry, "n", 0);

        most = own > best ? value : most;
        best = own > best ? own : best;
        n += own;
    }
    comparing->judging->n_well += n > 1;
    if (json_object_size(values) < 2)
        return;
    if (best * 2 <= n && (!good || comparing->judging->n > 1))
        decided = split_json(what, values);
    else if (most && best * 2 > n && (!good || strcmp(most, good) == 0))
        decided = json_string_nocheck(most);
    if (decided)
        json_object_set_new_nocheck(comparing->decided, what, decided);
}

static void compare_all(struct judging *judging)
{
    struct comparing comparing = {
        .facts = {tell, judging->n == 1}, .judging = judging, .decided = json_object()};
    const char *what;
    json_t *values;

    json_object_foreach (judging->counted, what, values)
        decide(&comparing, what, values);
    for (size_t i = 0; json_object_size(comparing.decided) > 0 && i < judging->n; i++) {
        comparing.node = &judging->nodes[i];
        judging->check->gather(comparing.node, &comparing.facts);
    }
    json_decref(comparing.decided);
}

/* ---- All checks ---- */

static void look_at(struct judging *judging, const struct preflight_node *node)
{
    struct comparing comparing = {
        .facts = {count, judging->n == 1}, .judging = judging, .node = node};
    struct preflight_said said = {.answer = VERDICT_NOT_EVALUATED,
                                  .sentence = "the node's agent does not say"};

    if (!judging->check->look) {
        judging->check->gather(node, &comparing.facts);
        return;
    }
    judging->check->look(node, judging->use, &said);
    add(judging, node, &said);
}

/* Whom a sentence is of, where it is not of the only node, or names them itself. */
static void name_nodes(const struct judging *judging, json_t *item)
{
    const json_t *nodes = json_object_get(item, "nodes");
    char text[PREFLIGHT_TEXT_MAX + 400], more[32] = "";

    if (judging->n == 1 || !json_object_get(item, "command"))
        return;
    if (json_array_size(nodes) > 1)
        snprintf(more, sizeof(more), " and %zu more", json_array_size(nodes) - 1);
    snprintf(text, sizeof(text), "%s%s: %s", json_string_value(json_array_get(nodes, 0)),
             more, json_get_str(item, "sentence", ""));
    json_object_set_new(item, "sentence", json_clean_string(text));
}

static bool is_finding(const json_t *item)
{
    return strcmp(json_get_str(item, "answer", ""),
                  verdict_answer_name(VERDICT_FINDING)) == 0;
}

/* Findings; else that it is well, or why nobody knows. */
static json_t *judge_check(struct judging *judging)
{
    json_t *found = json_array(), *item;
    size_t i;

    compare_all(judging);
    json_array_foreach (judging->items, i, item) {
        if (!is_finding(item))
            continue;
        name_nodes(judging, item);
        json_array_append(found, item);
    }
    if (json_array_size(found) == 0) {
        const char *why = json_get_str(json_array_get(judging->items, 0), "sentence",
                                       "there is nothing to hold it against");
        bool is_well = judging->n_well > 0;

        json_array_append_new(
            found,
            json_pack("{s:s, s:s, s:s, s:s}", "check", judging->check->id, "severity",
                      judging->check->severity, "answer",
                      verdict_answer_name(is_well ? VERDICT_OK : VERDICT_NOT_EVALUATED),
                      "sentence", is_well ? "nothing is wrong" : why));
    }
    json_decref(judging->items);
    json_decref(judging->counted);
    return found;
}

static json_t *conclude(const char *backend, json_t *checks,
                        const size_t n[VERDICT_ANSWERS])
{
    enum verdict_answer answer = VERDICT_NOT_EVALUATED;
    const json_t *first = json_array_get(checks, 0);
    char sentence[PREFLIGHT_TEXT_MAX + 600];

    if (n[VERDICT_FINDING] > 0)
        answer = VERDICT_FINDING;
    else if (n[VERDICT_OK] > 0)
        answer = VERDICT_OK;
    if (answer == VERDICT_FINDING)
        snprintf(sentence, sizeof(sentence), "%zu finding%s: %s: %s", n[VERDICT_FINDING],
                 n[VERDICT_FINDING] == 1 ? "" : "s", json_get_str(first, "check", ""),
                 json_get_str(first, "sentence", ""));
    else
        snprintf(sentence, sizeof(sentence),
                 "no finding: %zu checks are well, %zu could not be evaluated",
                 n[VERDICT_OK], n[VERDICT_NOT_EVALUATED]);
    return verdict_json(VERDICT_PREFLIGHT, answer, sentence, NULL,
                        json_pack("{s:s, s:i, s:i, s:O}", "backend", backend, "ok",
                                  (int)n[VERDICT_OK], "not_evaluated",
                                  (int)n[VERDICT_NOT_EVALUATED], "checks", checks));
}

/* Of a run's document: of thousands of nodes not all names. */
static void shorten(json_t *checks)
{
    json_t *check;
    size_t i;

    json_array_foreach (checks, i, check) {
        json_t *nodes = json_object_get(check, "nodes");

        json_object_set_new(check, "n_nodes",
                            json_integer((json_int_t)json_array_size(nodes)));
        while (json_array_size(nodes) > NAMES_MAX)
            json_array_remove(nodes, json_array_size(nodes) - 1);
    }
}

/* Node by node: an inventory is large, and all checks read it while it is at hand. */
static size_t look_at_all(struct judging *all, const struct judging *of, unsigned backend)
{
    size_t n = 0;

    for (size_t i = 0; i < preflight_n_checks; i++) {
        if (!(preflight_checks[i].backends & backend))
            continue;
        all[n] = *of;
        all[n].check = &preflight_checks[i];
        all[n].items = json_array();
        all[n++].counted = json_object();
    }
    for (size_t i = 0; i < of->n; i++)
        for (size_t k = 0; k < n; k++)
            look_at(&all[k], &of->nodes[i]);
    return n;
}

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    const char *backend = use->backend ? use->backend : usual_backend(nodes, n);
    const struct judging of = {.nodes = nodes, .n = n, .use = use};
    struct judging *all = calloc(preflight_n_checks, sizeof(*all));
    size_t count[VERDICT_ANSWERS] = {0};
    size_t n_checks = all ? look_at_all(all, &of, backend_of(backend)) : 0;
    json_t *checks = json_array(), *rest = json_array(), *verdict;

    for (size_t i = 0; i < n_checks; i++) {
        json_t *said = judge_check(&all[i]);

        if (is_finding(json_array_get(said, 0))) {
            count[VERDICT_FINDING] += json_array_size(said);
            json_array_extend(checks, said);
        } else {
            count[all[i].n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
            json_array_extend(rest, said);
        }
        json_decref(said);
    }
    if (is_whole)
        json_array_extend(checks, rest);
    else
        shorten(checks);
    verdict = all ? conclude(backend, checks, count) : NULL;
    free(all);
    json_decref(checks);
    json_decref(rest);
    return verdict;
}
