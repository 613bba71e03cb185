/* preflight.c - the checks of nodes, put together to a verdict */
#include "server/analysis/preflight.h"

#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/preflight_check.h"

#define ITEMS_MAX 32 /* of one check: nodes that say each something else */
#define COMMAND_MAX 600

struct judging {
    const struct preflight_node *nodes;
    size_t n;
    const struct preflight_use *use;
    const struct preflight_check *check;
    json_t *items; /* of the check: what several nodes say alike is one */
    size_t n_well;
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

/* The item that says the same, or a new one; NULL: there are too many. */
static json_t *item_of(struct judging *judging, const struct preflight_said *said)
{
    const struct preflight_check *check = judging->check;
    json_t *item, *text = json_clean_string(said->sentence);
    size_t i;

    json_array_foreach (judging->items, i, item) {
        if (!json_equal(json_object_get(item, "sentence"), text))
            continue;
        json_decref(text);
        return item;
    }
    item = json_pack("{s:s, s:s, s:s, s:o, s:o, s:[]}", "check", check->id, "severity",
                     check->severity, "answer", verdict_answer_name(said->answer),
                     "sentence", text, "command",
                     said->answer == VERDICT_FINDING ? command_json(check->command, said)
                                                     : json_null(),
                     "nodes");
    if (i == ITEMS_MAX) {
        json_decref(item);
        return NULL;
    }
    json_array_append_new(judging->items, item);
    return item;
}

static void add(struct judging *judging, const struct preflight_node *node,
                const struct preflight_said *said)
{
    json_t *item = NULL;

    judging->n_well += said->answer == VERDICT_OK;
    if (said->answer != VERDICT_OK)
        item = item_of(judging, said);
    if (item)
        json_array_append_new(json_object_get(item, "nodes"), json_string(node->name));
}

/* ---- What all nodes are to have in common ---- */

/* {WHAT: {VALUE: [[node, subject]]}} of all nodes. */
static json_t *gather_all(const struct judging *judging)
{
    json_t *all = json_object(), *fact;
    size_t k;

    for (size_t i = 0; i < judging->n; i++) {
        json_t *own = json_array();

        judging->check->gather(&judging->nodes[i], own);
        json_array_foreach (own, k, fact) {
            const char *what = json_string_value(json_array_get(fact, 0));
            const char *value = json_string_value(json_array_get(fact, 1));
            json_t *values = json_object_get(all, what), *who;

            if (!values)
                json_object_set_new(all, what, values = json_object());
            who = json_object_get(values, value);
            if (!who)
                json_object_set_new(values, value, who = json_array());
            json_array_append_new(who,
                                  json_pack("[i, O]", (int)i, json_array_get(fact, 2)));
        }
        json_decref(own);
    }
    return all;
}

/* The value that most have, the first of those as frequent. */
static const char *most_frequent(json_t *values, size_t *n)
{
    const char *value, *most = NULL;
    json_t *who;
    size_t best = 0;

    *n = 0;
    json_object_foreach (values, value, who) {
        *n += json_array_size(who);
        if (json_array_size(who) > best)
            most = value;
        if (most == value)
            best = json_array_size(who);
    }
    return most;
}

static void add_odd(struct judging *judging, const char *what, const char *value,
                    const char *most, json_t *who)
{
    json_t *one;
    size_t i;

    json_array_foreach (who, i, one) {
        size_t node = (size_t)json_integer_value(json_array_get(one, 0));
        const char *subject = json_string_value(json_array_get(one, 1));
        struct preflight_said said = {.answer = VERDICT_FINDING};

        snprintf(said.subject, sizeof(said.subject), "%s", subject);
        snprintf(said.most, sizeof(said.most), "%s", most);
        snprintf(said.sentence, sizeof(said.sentence),
                 "%s is %.80s%s%.80s%s, most have %.80s", what, value,
                 *subject ? " (" : "", subject, *subject ? ")" : "", most);
        add(judging, &judging->nodes[node], &said);
    }
}

static void compare_all(struct judging *judging)
{
    json_t *all = gather_all(judging), *values, *who;
    const char *what, *value;
    bool is_compared = false;

    json_object_foreach (all, what, values) {
        size_t n;
        const char *most = most_frequent(values, &n);

        is_compared = is_compared || n > 1;
        json_object_foreach (values, value, who)
            if (value != most)
                add_odd(judging, what, value, most, who);
    }
    if (is_compared)
        judging->n_well++;
    json_decref(all);
}

/* ---- All checks ---- */

static void look_at_all(struct judging *judging)
{
    for (size_t i = 0; i < judging->n; i++) {
        struct preflight_said said = {.answer = VERDICT_NOT_EVALUATED,
                                      .sentence = "the node's agent does not say"};

        judging->check->look(&judging->nodes[i], judging->use, &said);
        add(judging, &judging->nodes[i], &said);
    }
}

/* Whom a sentence is of, where it is not of the only node. */
static void name_nodes(const struct judging *judging, json_t *item)
{
    const json_t *nodes = json_object_get(item, "nodes");
    char text[PREFLIGHT_TEXT_MAX + 400], more[32] = "";

    if (judging->n == 1)
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

    judging->items = json_array();
    judging->n_well = 0;
    if (judging->check->look)
        look_at_all(judging);
    else
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

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    const char *backend = use->backend ? use->backend : usual_backend(nodes, n);
    struct judging judging = {.nodes = nodes, .n = n, .use = use};
    size_t count[VERDICT_ANSWERS] = {0};
    json_t *checks = json_array(), *rest = json_array(), *verdict;

    for (size_t i = 0; i < preflight_n_checks; i++) {
        json_t *said;

        judging.check = &preflight_checks[i];
        if (!(judging.check->backends & backend_of(backend)))
            continue;
        said = judge_check(&judging);
        if (is_finding(json_array_get(said, 0))) {
            count[VERDICT_FINDING] += json_array_size(said);
            json_array_extend(checks, said);
        } else {
            count[judging.n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
            json_array_extend(rest, said);
        }
        json_decref(said);
    }
    if (is_whole)
        json_array_extend(checks, rest);
    verdict = conclude(backend, checks, count);
    json_decref(checks);
    json_decref(rest);
    return verdict;
}
