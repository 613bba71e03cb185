/* preflight.c - the checks of nodes, put together to a verdict */
#include "server/analysis/preflight.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/preflight_seen.h"

#define ITEMS_MAX 32 /* of one check: what nodes say each in words of its own */
#define COMMAND_MAX 600
#define AHEAD 8      /* crowds that are fetched before it is their turn */
#define NAMES_MAX 32 /* of one finding, where only findings are asked for */

/* Nodes of which a check has seen the same: most of thousands. */
struct crowd {
    const struct preflight_sight *sight;
    const size_t *members; /* places among the nodes, the first one first */
    size_t n;
};

/* In the order of their first nodes. */
struct crowds {
    struct crowd *items;
    size_t n;
    size_t *places; /* all members */
};

/* What nodes say alike. */
struct item {
    char sentence[PREFLIGHT_TEXT_MAX];
    enum verdict_answer answer;
    json_t *command; /* or NULL */
    bool *has;       /* by node; NULL: it is of nobody */
    size_t n;        /* nodes that it has */
};

/* One check. */
struct judging {
    const struct preflight_node *nodes;
    size_t n;
    struct preflight_seen *const *seen; /* by node */
    bool is_whole;
    const struct preflight_use *use;
    const struct preflight_check *check;
    const struct preflight_sights *sights;
    struct crowds crowds;
    struct item items[ITEMS_MAX + 1]; /* the last is of all that there are too many of */
    size_t n_items, n_well;
    json_t *found; /* in the end: findings; else that it is well, or why nobody knows */
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

static struct item *same_item(struct judging *judging, const char *sentence)
{
    for (size_t i = 0; i < judging->n_items; i++)
        if (strcmp(judging->items[i].sentence, sentence) == 0)
            return &judging->items[i];
    return NULL;
}

/* The item that says the same, or a new one. */
static struct item *item_of(struct judging *judging, const struct preflight_said *said)
{
    static const struct preflight_said others = {
        VERDICT_FINDING, "the same check finds something else", "NAME", "VALUE", false};
    struct item *item = same_item(judging, said->sentence);

    if (item)
        return item;
    if (judging->n_items >= ITEMS_MAX && said != &others)
        return item_of(judging, &others);
    item = &judging->items[judging->n_items++];
    item->answer = said->answer;
    snprintf(item->sentence, sizeof(item->sentence), "%s", said->sentence);
    if (said->answer == VERDICT_FINDING && !said->is_split)
        item->command = command_json(judging->check->command, said);
    return item;
}

static void add_members(const struct judging *judging, struct item *item,
                        const size_t *members, size_t n)
{
    if (!item->has)
        item->has = calloc(judging->n, sizeof(*item->has));
    for (size_t i = 0; item->has && i < n; i++) {
        item->n += !item->has[members[i]];
        item->has[members[i]] = true;
    }
}

/* Of so many nodes, by their places. That nothing is known is told once, and of nobody.
 */
static void add(struct judging *judging, const size_t *members, size_t n,
                const struct preflight_said *said)
{
    struct item *item;

    judging->n_well += said->answer == VERDICT_OK ? n : 0;
    if (said->answer == VERDICT_OK ||
        (said->answer == VERDICT_NOT_EVALUATED && judging->n_items > 0))
        return;
    item = item_of(judging, said);
    if (said->answer == VERDICT_FINDING)
        add_members(judging, item, members, n);
}

/* All; of a run's document some: of thousands of nodes not all names. */
static json_t *names_json(const struct judging *judging, const struct item *item)
{
    size_t most = judging->is_whole ? judging->n : NAMES_MAX;
    json_t *names = json_array();

    for (size_t i = 0; item->has && i < judging->n && json_array_size(names) < most; i++)
        if (item->has[i])
            json_array_append_new(names, json_string(judging->nodes[i].name));
    return names;
}

/* ---- What all nodes are to have in common ---- */

/* Of one value, and of what it is. */
struct counted {
    size_t n;     /* nodes that have it */
    int first;    /* fact that has it */
    size_t on;    /* node of that */
    int item;     /* that told it last, from 1; 0: none has */
    bool is_most; /* of what it is */
};

struct decided {
    size_t n, n_values, best;
    int most; /* value, from 1 */
    bool is_told, is_split;
    char *split; /* what is said of all */
    int item;
};

struct comparing {
    struct judging *judging;
    struct counted *values;
    int *order; /* of values, as they came */
    size_t n_values;
    struct decided *whats;
    char *concerns; /* facts: 1: yes; 2: no; 0: not asked yet */
    int *items;     /* that tell them, from 1; 0: none yet */
};

static bool is_named(const char *what, const char *subject)
{
    return !*subject || strstr(what, subject);
}

/* Most runs have no variables, and of each fact it is asked once. */
static bool concerns(const struct comparing *comparing, int fact)
{
    const struct judging *judging = comparing->judging;
    const struct preflight_text *text = &judging->sights->facts.items[fact];
    char *known = &comparing->concerns[fact];

    if (!judging->check->concerns || json_object_size(judging->use->env) == 0)
        return true;
    if (!*known)
        *known = judging->check->concerns(judging->use->env, text->word, text->b) ? 1 : 2;
    return *known == 1;
}

static void count(struct comparing *comparing, const struct crowd *crowd, int fact)
{
    int value = comparing->judging->sights->facts.items[fact].a;
    struct counted *counted = &comparing->values[value];

    if (!concerns(comparing, fact))
        return;
    if (counted->n == 0) {
        counted->first = fact;
        counted->on = crowd->members[0];
        comparing->order[comparing->n_values++] = value;
    }
    counted->n += crowd->n;
}

/* What more than half of them have is right, where no check knows better. */
static void decide(struct comparing *comparing)
{
    const struct preflight_sights *sights = comparing->judging->sights;
    const char *good = comparing->judging->check->good;

    for (size_t i = 0; i < comparing->n_values; i++) {
        int value = comparing->order[i];
        struct decided *what = &comparing->whats[sights->values.items[value].a];

        what->n_values++;
        what->n += comparing->values[value].n;
        if (comparing->values[value].n > what->best) {
            what->best = comparing->values[value].n;
            what->most = value + 1;
        }
    }
    for (size_t i = 0; i < sights->whats.n; i++) {
        struct decided *what = &comparing->whats[i];
        bool has_most = what->best * 2 > what->n;
        const char *most = what->most ? sights->values.items[what->most - 1].word : NULL;

        comparing->judging->n_well += what->n > 1;
        if (what->n_values < 2)
            continue;
        what->is_split = !has_most && (!good || comparing->judging->n > 1);
        what->is_told =
            what->is_split || (has_most && (!good || strcmp(most, good) == 0));
        if (what->is_told && has_most)
            comparing->values[what->most - 1].is_most = true;
    }
}

static void say_on(const struct comparing *comparing, const struct counted *counted,
                   const char *what, char *out, size_t size)
{
    const struct judging *judging = comparing->judging;
    const char *subject = judging->sights->facts.items[counted->first].word;
    bool is_alone = judging->n == 1;

    snprintf(out, size, is_alone || is_named(what, subject) ? "%.60s" : "%.60s (%.60s)",
             is_alone ? subject : judging->nodes[counted->on].name, subject);
}

/* "WHAT differs: 1500 on a, 9000 on b and 2 more": nobody knows which is right. */
static void add_to_split(const struct comparing *comparing, int value)
{
    const struct preflight_text *text = &comparing->judging->sights->values.items[value];
    const struct counted *counted = &comparing->values[value];
    struct decided *decided = &comparing->whats[text->a];
    const char *what = comparing->judging->sights->whats.items[text->a].word;
    char on[2 * PREFLIGHT_NAME_MAX], *out;
    bool is_first = !decided->split;
    int len;

    if (is_first)
        decided->split = calloc(1, PREFLIGHT_TEXT_MAX);
    out = decided->split;
    if (!out)
        return;
    if (is_first)
        snprintf(out, PREFLIGHT_TEXT_MAX, "%.80s differs", what);
    len = (int)strlen(out);
    if (len > PREFLIGHT_TEXT_MAX - PREFLIGHT_NAME_MAX)
        return;
    say_on(comparing, counted, what, on, sizeof(on));
    len += snprintf(out + len, PREFLIGHT_NAME_MAX, "%s %.20s on %.40s",
                    is_first ? ":" : ",", text->word, on);
    if (counted->n > 1)
        snprintf(out + len, 24, " and %zu more", counted->n - 1);
}

static void say(const struct comparing *comparing, int fact, struct preflight_said *said)
{
    const struct preflight_sights *sights = comparing->judging->sights;
    const struct preflight_text *own = &sights->facts.items[fact];
    const struct preflight_text *value = &sights->values.items[own->a];
    const struct decided *decided = &comparing->whats[value->a];
    const char *what = sights->whats.items[value->a].word;
    const char *most = sights->values.items[decided->most - 1].word;
    bool is_silent = is_named(what, own->word);

    *said =
        (struct preflight_said){.answer = VERDICT_FINDING, .is_split = decided->is_split};
    snprintf(said->subject, sizeof(said->subject), "%s", own->word);
    if (decided->is_split) {
        snprintf(said->sentence, sizeof(said->sentence), "%s",
                 decided->split ? decided->split : what);
        return;
    }
    snprintf(said->most, sizeof(said->most), "%s", most);
    snprintf(said->sentence, sizeof(said->sentence),
             "%s is %.80s%s%.80s%s, most have %.80s", what, value->word,
             is_silent ? "" : " (", is_silent ? "" : own->word, is_silent ? "" : ")",
             most);
}

/* The item that tells a fact, from 1. What comes when there are too many is not even put
 * into words. */
static int item_for(struct comparing *comparing, int fact, struct counted *counted,
                    struct decided *decided)
{
    struct judging *judging = comparing->judging;
    int *item = decided->is_split ? &decided->item : &comparing->items[fact];
    struct preflight_said said;

    if (*item == 0 && !decided->is_split && judging->n_items > ITEMS_MAX &&
        (counted->item == 0 || counted->item > ITEMS_MAX))
        *item = ITEMS_MAX + 1;
    if (*item == 0) {
        say(comparing, fact, &said);
        *item = (int)(item_of(judging, &said) - judging->items) + 1;
    }
    counted->item = *item;
    return *item;
}

static void tell(struct comparing *comparing, const struct crowd *crowd, int fact)
{
    struct judging *judging = comparing->judging;
    int value = judging->sights->facts.items[fact].a;
    struct counted *counted = &comparing->values[value];
    struct decided *decided = &comparing->whats[judging->sights->values.items[value].a];
    int item;

    if (!decided->is_told || counted->is_most || !concerns(comparing, fact))
        return;
    item = item_for(comparing, fact, counted, decided);
    add_members(judging, &judging->items[item - 1], crowd->members, crowd->n);
}

typedef void taking(struct comparing *comparing, const struct crowd *crowd, int fact);

static void each_fact(struct comparing *comparing, taking *take)
{
    const struct crowds *crowds = &comparing->judging->crowds;

    /* Of thousands that differ each lies somewhere else in memory. */
    for (size_t i = 0; i < crowds->n; i++) {
        if (i + 2 * AHEAD < crowds->n)
            __builtin_prefetch(crowds->items[i + 2 * AHEAD].sight);
        if (i + AHEAD < crowds->n)
            __builtin_prefetch(crowds->items[i + AHEAD].sight->facts);
        for (size_t k = 0; k < crowds->items[i].sight->n_facts; k++)
            take(comparing, &crowds->items[i], crowds->items[i].sight->facts[k]);
    }
}

static void compare_all(struct judging *judging)
{
    const struct preflight_sights *sights = judging->sights;
    struct comparing comparing = {
        .judging = judging,
        .values = calloc(sights->values.n + 1, sizeof(*comparing.values)),
        .order = calloc(sights->values.n + 1, sizeof(*comparing.order)),
        .whats = calloc(sights->whats.n + 1, sizeof(*comparing.whats)),
        .concerns = calloc(sights->facts.n + 1, 1),
        .items = calloc(sights->facts.n + 1, sizeof(*comparing.items))};

    if (comparing.values && comparing.order && comparing.whats && comparing.concerns &&
        comparing.items) {
        each_fact(&comparing, count);
        decide(&comparing);
        for (size_t i = 0; i < comparing.n_values; i++)
            if (comparing.whats[sights->values.items[comparing.order[i]].a].is_split)
                add_to_split(&comparing, comparing.order[i]);
        each_fact(&comparing, tell);
    }
    for (size_t i = 0; comparing.whats && i < sights->whats.n; i++)
        free(comparing.whats[i].split);
    free(comparing.values);
    free(comparing.order);
    free(comparing.whats);
    free(comparing.concerns);
    free(comparing.items);
}

/* ---- All checks ---- */

/* Whether what was seen when the node came does not say it. */
static bool is_asked_anew(const struct judging *judging)
{
    const struct preflight_check *check = judging->check;
    const json_t *env = judging->use->env;

    return check->is_of_now ||
           (check->variables[0] && (json_object_get(env, check->variables[0]) ||
                                    json_object_get(env, check->variables[1])));
}

static void look_at(struct judging *judging, const struct crowd *crowd)
{
    struct preflight_said said = {.answer = crowd->sight->answer};

    if (!is_asked_anew(judging)) {
        snprintf(said.sentence, sizeof(said.sentence), "%s",
                 crowd->sight->sentence ? crowd->sight->sentence : "");
        snprintf(said.subject, sizeof(said.subject), "%s",
                 crowd->sight->subject ? crowd->sight->subject : "");
        add(judging, crowd->members, crowd->n, &said);
        return;
    }
    for (size_t i = 0; i < crowd->n; i++) {
        preflight_look(judging->check, &judging->nodes[crowd->members[i]], judging->use,
                       &said);
        add(judging, &crowd->members[i], 1, &said);
    }
}

/* Whom it is of, where it is not of the only node, or names them itself. */
static json_t *sentence_json(const struct judging *judging, const struct item *item,
                             const json_t *names)
{
    char text[PREFLIGHT_TEXT_MAX + 400], more[32] = "";

    if (judging->n == 1 || !item->command)
        return json_clean_string(item->sentence);
    if (item->n > 1)
        snprintf(more, sizeof(more), " and %zu more", item->n - 1);
    snprintf(text, sizeof(text), "%s%s: %s", json_string_value(json_array_get(names, 0)),
             more, item->sentence);
    return json_clean_string(text);
}

static json_t *item_json(const struct judging *judging, const struct item *item)
{
    json_t *names = names_json(judging, item);
    json_t *sentence = sentence_json(judging, item, names);
    json_t *n_nodes = judging->is_whole ? NULL : json_integer((json_int_t)item->n);

    return json_pack("{s:s, s:s, s:s, s:o, s:O*, s:o, s:o*}", "check", judging->check->id,
                     "severity", judging->check->severity, "answer",
                     verdict_answer_name(item->answer), "sentence", sentence, "command",
                     item->command, "nodes", names, "n_nodes", n_nodes);
}

static json_t *judge_check(struct judging *judging)
{
    json_t *found = json_array();

    for (size_t i = 0; i < judging->n_items; i++)
        if (judging->items[i].answer == VERDICT_FINDING)
            json_array_append_new(found, item_json(judging, &judging->items[i]));
    if (json_array_size(found) == 0) {
        bool is_well = judging->n_well > 0;
        const char *why = judging->n_items ? judging->items[0].sentence
                                           : "there is nothing to hold it against";

        json_array_append_new(
            found,
            json_pack("{s:s, s:s, s:s, s:o}", "check", judging->check->id, "severity",
                      judging->check->severity, "answer",
                      verdict_answer_name(is_well ? VERDICT_OK : VERDICT_NOT_EVALUATED),
                      "sentence", json_clean_string(is_well ? "nothing is wrong" : why)));
    }
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

/* ---- Crowds ---- */

/* Those of whom the check has seen the same: nodes that differ, even all of them, do so
 * in few checks. */
static void group(struct judging *judging, size_t check)
{
    size_t n = judging->n, n_sights = judging->sights->all.n, filled = 0;
    size_t *crowd_of = calloc(n_sights + 1, sizeof(*crowd_of)); /* from 1 */
    struct crowds *crowds = &judging->crowds;

    crowds->items = calloc((n < n_sights ? n : n_sights) + 1, sizeof(*crowds->items));
    crowds->places = calloc(n + 1, sizeof(*crowds->places));
    for (size_t i = 0; crowd_of && crowds->items && crowds->places && i < n; i++) {
        int sight = judging->seen[i]->sights[check];

        if (sight < 0)
            continue;
        if (!crowd_of[sight]) {
            crowds->items[crowds->n].sight = &judging->sights->sights[sight];
            crowd_of[sight] = ++crowds->n;
        }
        crowds->items[crowd_of[sight] - 1].n++;
    }
    for (size_t i = 0; i < crowds->n; i++) {
        crowds->items[i].members = crowds->places + filled;
        filled += crowds->items[i].n;
        crowds->items[i].n = 0;
    }
    for (size_t i = 0; crowds->n > 0 && i < n; i++) {
        int sight = judging->seen[i]->sights[check];
        struct crowd *crowd = sight < 0 ? NULL : &crowds->items[crowd_of[sight] - 1];

        if (crowd)
            crowds->places[crowd->members - crowds->places + (ptrdiff_t)crowd->n++] = i;
    }
    free(crowd_of);
}

static void judge_one(struct judging *judging, size_t check)
{
    judging->check = &preflight_checks[check];
    if (judging->n > 0) {
        judging->sights = &judging->seen[0]->memory->checks[check];
        group(judging, check);
    }
    if (judging->n > 0 && !judging->check->look)
        compare_all(judging);
    else
        for (size_t k = 0; k < judging->crowds.n; k++)
            look_at(judging, &judging->crowds.items[k]);
    judging->found = judge_check(judging);
    for (size_t i = 0; i < judging->n_items; i++) {
        json_decref(judging->items[i].command);
        free(judging->items[i].has);
    }
    free(judging->crowds.items);
    free(judging->crowds.places);
}

static json_t *judge_all(const struct judging *of, const char *backend)
{
    struct judging *judging = malloc(sizeof(*judging));
    json_t *checks = json_array(), *rest = json_array(), *verdict;
    size_t counts[VERDICT_ANSWERS] = {0};

    for (size_t i = 0; judging && i < preflight_n_checks; i++) {
        if (!(preflight_checks[i].backends & backend_of(backend)))
            continue;
        *judging = *of;
        judge_one(judging, i);
        if (json_object_get(json_array_get(judging->found, 0), "nodes")) {
            counts[VERDICT_FINDING] += json_array_size(judging->found);
            json_array_extend(checks, judging->found);
        } else {
            counts[judging->n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
            json_array_extend(rest, judging->found);
        }
        json_decref(judging->found);
    }
    if (of->is_whole)
        json_array_extend(checks, rest);
    verdict = judging ? conclude(backend, checks, counts) : NULL;
    free(judging);
    json_decref(checks);
    json_decref(rest);
    return verdict;
}

/* What was seen of the nodes; all is seen anew where it was not kept of each, and of a
 * node that is alone. */
static struct preflight_memory *see_all(const struct preflight_node *nodes, size_t n,
                                        struct preflight_seen **seen)
{
    struct preflight_memory *own = NULL;
    bool is_kept = n > 1;

    for (size_t i = 0; i < n; i++) {
        is_kept = is_kept && nodes[i].seen;
        seen[i] = nodes[i].seen;
    }
    if (!is_kept)
        own = preflight_memory_create();
    for (size_t i = 0; own && i < n; i++)
        seen[i] = preflight_see_as(own, &nodes[i], n == 1);
    return own;
}

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    struct preflight_seen **seen = calloc(n + 1, sizeof(struct preflight_seen *));
    struct preflight_memory *own = seen ? see_all(nodes, n, seen) : NULL;
    const struct judging of = {
        .nodes = nodes, .n = n, .seen = seen, .is_whole = is_whole, .use = use};
    bool is_seen = seen != NULL;
    json_t *verdict = NULL;

    for (size_t i = 0; is_seen && i < n; i++)
        is_seen = seen[i] != NULL;
    if (is_seen)
        verdict = judge_all(&of, use->backend ? use->backend : usual_backend(nodes, n));
    for (size_t i = 0; own && i < n; i++)
        preflight_forget(seen[i]);
    preflight_memory_destroy(own);
    free(seen);
    return verdict;
}
