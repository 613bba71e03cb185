/* preflight.c - the checks of nodes, put together to a verdict */
#include "server/analysis/preflight.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/preflight_check.h"

#define ITEMS_MAX 32 /* of one check: what nodes say each in words of its own */
#define COMMAND_MAX 600
#define NAMES_MAX 32 /* of one finding, where only findings are asked for */

/* Nodes of which the same was seen: most of thousands. */
struct crowd {
    const json_t *seen;    /* of preflight_see(), or one check of it */
    const size_t *members; /* places among the nodes, the first one first */
    size_t n;
};

/* Of what one check has seen. */
struct crowds {
    struct crowd *items;
    size_t n;
    size_t *places; /* all members */
};

/* One check. */
struct judging {
    const struct preflight_node *nodes;
    size_t n;
    struct crowds crowds;
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

/* Of so many nodes, by their places, which put_names() makes names of. That nothing is
 * known is told once, and of nobody. */
static void add(struct judging *judging, const size_t *members, size_t n,
                const struct preflight_said *said)
{
    json_t *places;

    judging->n_well += said->answer == VERDICT_OK ? n : 0;
    if (said->answer == VERDICT_OK ||
        (said->answer == VERDICT_NOT_EVALUATED && json_array_size(judging->items) > 0))
        return;
    places = json_object_get(item_of(judging, said), "nodes");
    for (size_t i = 0; said->answer == VERDICT_FINDING && i < n; i++)
        json_array_append_new(places, json_integer((json_int_t)members[i]));
}

static int by_place(const void *a, const void *b)
{
    const size_t *one = a, *other = b;

    return *one < *other ? -1 : *one > *other;
}

/* Of two devices of a node the same may be said. */
static void put_names(const struct judging *judging, json_t *item)
{
    const json_t *list = json_object_get(item, "nodes");
    size_t n = json_array_size(list), *places = calloc(n + 1, sizeof(*places));
    json_t *names = json_array();

    for (size_t i = 0; places && i < n; i++)
        places[i] = (size_t)json_integer_value(json_array_get(list, i));
    if (places)
        qsort(places, n, sizeof(*places), by_place);
    for (size_t i = 0; places && i < n; i++)
        if (i == 0 || places[i] != places[i - 1])
            json_array_append_new(names, json_string(judging->nodes[places[i]].name));
    free(places);
    json_object_set_new(item, "nodes", names);
}

/* ---- What is seen of a node by itself ---- */

/* Who writes down what all nodes are to have in common. */
struct seeing {
    struct preflight_facts facts; /* the first: it is what checks hand back */
    json_t *list;                 /* [what, value, subject, port], one after the other */
};

static void write_down(struct preflight_facts *facts, const char *what, const char *value,
                       const char *subject, int port)
{
    const struct seeing *seeing = (const struct seeing *)facts;

    json_array_append_new(seeing->list, json_clean_string(what));
    json_array_append_new(seeing->list, json_clean_string(value));
    json_array_append_new(seeing->list, json_clean_string(subject));
    json_array_append_new(seeing->list, json_integer(port));
}

static void look(const struct preflight_check *check, const struct preflight_node *node,
                 const struct preflight_use *use, struct preflight_said *said)
{
    *said = (struct preflight_said){.answer = VERDICT_NOT_EVALUATED,
                                    .sentence = "the node's agent does not say"};
    check->look(node, use, said);
}

static json_t *see_check(const struct preflight_check *check,
                         const struct preflight_node *node, bool is_alone)
{
    static const struct preflight_use use = {NULL, NULL};
    struct seeing seeing = {{write_down, is_alone}, json_array()};
    struct preflight_said said;

    if (check->is_of_now)
        return seeing.list;
    if (!check->look) {
        check->gather(node, &seeing.facts);
        return seeing.list;
    }
    look(check, node, &use, &said);
    json_array_append_new(seeing.list, json_integer(said.answer));
    json_array_append_new(seeing.list, json_clean_string(said.sentence));
    json_array_append_new(seeing.list, json_clean_string(said.subject));
    return seeing.list;
}

static json_t *see(const struct preflight_node *node, bool is_alone)
{
    json_t *seen = json_array();

    for (size_t i = 0; i < preflight_n_checks; i++)
        json_array_append_new(seen, see_check(&preflight_checks[i], node, is_alone));
    return seen;
}

json_t *preflight_see(const struct preflight_node *node)
{
    return see(node, false);
}

static void read_said(const json_t *seen, struct preflight_said *said)
{
    *said = (struct preflight_said){
        .answer = (enum verdict_answer)json_integer_value(json_array_get(seen, 0))};
    snprintf(said->sentence, sizeof(said->sentence), "%s",
             json_string_value(json_array_get(seen, 1)));
    snprintf(said->subject, sizeof(said->subject), "%s",
             json_string_value(json_array_get(seen, 2)));
}

/* Of one of a crowd's facts: the n-th of [what, value, subject, port]. */
static const json_t *part(const json_t *facts, size_t fact, size_t n)
{
    return json_array_get(facts, 4 * fact + n);
}

static const char *word(const json_t *facts, size_t fact, size_t n)
{
    return json_string_value(part(facts, fact, n));
}

static size_t n_facts(const json_t *facts)
{
    return json_array_size(facts) / 4;
}

/* ---- What all nodes are to have in common ---- */

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

static bool concerns(const struct judging *judging, const json_t *facts, size_t fact)
{
    return !judging->check->concerns ||
           judging->check->concerns(judging->use->env, word(facts, fact, 2),
                                    (int)json_integer_value(part(facts, fact, 3)));
}

static void count(struct judging *judging, const struct crowd *crowd, const json_t *facts,
                  size_t fact)
{
    const char *what = word(facts, fact, 0), *subject = word(facts, fact, 2);
    bool is_alone = judging->n == 1;
    char on[2 * PREFLIGHT_NAME_MAX];
    json_t *entry;

    if (!concerns(judging, facts, fact))
        return;
    entry = object_in(object_in(judging->counted, what), word(facts, fact, 1));
    json_object_set_new(entry, "n",
                        json_integer(json_get_int(entry, "n", 0) + (json_int_t)crowd->n));
    if (json_object_get(entry, "on"))
        return;
    snprintf(on, sizeof(on),
             is_alone || is_named(what, subject) ? "%.60s" : "%.60s (%.60s)",
             is_alone ? subject : judging->nodes[crowd->members[0]].name, subject);
    json_object_set_new(entry, "on", json_clean_string(on));
}

/* decided: {WHAT: "most" | ["what is said of all"]} */
static void tell(struct judging *judging, const json_t *decided,
                 const struct crowd *crowd, const json_t *facts, size_t fact)
{
    const char *what = word(facts, fact, 0), *value = word(facts, fact, 1);
    const char *subject = word(facts, fact, 2);
    const json_t *right = json_object_get(decided, what);
    const char *most = json_string_value(right);
    const char *split = json_string_value(json_array_get(right, 0));
    bool is_silent = is_named(what, subject);
    struct preflight_said said = {.answer = VERDICT_FINDING, .is_split = split != NULL};

    if (!right || (most && strcmp(value, most) == 0) || !concerns(judging, facts, fact))
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
    add(judging, crowd->members, crowd->n, &said);
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
static json_t *decide(struct judging *judging, const char *what, json_t *values)
{
    const char *value, *most = NULL, *good = judging->check->good;
    json_int_t n = 0, best = 0;
    json_t *entry;

    json_object_foreach (values, value, entry) {
        json_int_t own = json_get_int(entry, "n", 0);

        most = own > best ? value : most;
        best = own > best ? own : best;
        n += own;
    }
    judging->n_well += n > 1;
    if (json_object_size(values) < 2)
        return NULL;
    if (best * 2 <= n && (!good || judging->n > 1))
        return split_json(what, values);
    if (most && best * 2 > n && (!good || strcmp(most, good) == 0))
        return json_string_nocheck(most);
    return NULL;
}

static void compare_all(struct judging *judging)
{
    json_t *all = json_object(), *values, *decided;
    const char *what;

    json_object_foreach (judging->counted, what, values) {
        decided = decide(judging, what, values);
        if (decided)
            json_object_set_new_nocheck(all, what, decided);
    }
    for (size_t i = 0; json_object_size(all) > 0 && i < judging->crowds.n; i++) {
        const json_t *facts = judging->crowds.items[i].seen;

        for (size_t k = 0; k < n_facts(facts); k++)
            tell(judging, all, &judging->crowds.items[i], facts, k);
    }
    json_decref(all);
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
    const json_t *seen = crowd->seen;
    struct preflight_said said;

    if (!judging->check->look) {
        for (size_t i = 0; i < n_facts(seen); i++)
            count(judging, crowd, seen, i);
    } else if (!is_asked_anew(judging)) {
        read_said(seen, &said);
        add(judging, crowd->members, crowd->n, &said);
    } else {
        for (size_t i = 0; i < crowd->n; i++) {
            look(judging->check, &judging->nodes[crowd->members[i]], judging->use, &said);
            add(judging, &crowd->members[i], 1, &said);
        }
    }
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
        put_names(judging, item);
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
    free(judging->crowds.items);
    free(judging->crowds.places);
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

/* ---- Crowds ---- */

/* The nodes, so that those of a crowd stand side by side. */
struct grouping {
    struct grouped {
        const json_t *seen;
        size_t place;
    } * nodes;
    size_t *places;
    struct crowd *crowds;
    size_t n_crowds;
    json_t *own; /* what nobody had seen before */
};

static int by_seen(const void *a, const void *b)
{
    const struct grouped *one = a, *other = b;

    if (one->seen != other->seen)
        return (uintptr_t)one->seen < (uintptr_t)other->seen ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static int by_first(const void *a, const void *b)
{
    const struct crowd *one = a, *other = b;

    return one->members[0] < other->members[0] ? -1 : 1;
}

static void release_grouping(struct grouping *grouping)
{
    free(grouping->nodes);
    free(grouping->places);
    free(grouping->crowds);
    json_decref(grouping->own);
}

static int group(struct grouping *grouping, const struct preflight_node *nodes, size_t n)
{
    *grouping = (struct grouping){.nodes = calloc(n + 1, sizeof(*grouping->nodes)),
                                  .places = calloc(n + 1, sizeof(*grouping->places)),
                                  .crowds = calloc(n + 1, sizeof(*grouping->crowds)),
                                  .own = json_array()};
    if (!grouping->nodes || !grouping->places || !grouping->crowds || !grouping->own)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *seen = n > 1 ? nodes[i].seen : NULL;

        if (!seen) {
            json_t *own = see(&nodes[i], n == 1);

            json_array_append_new(grouping->own, own);
            seen = own;
        }
        grouping->nodes[i] = (struct grouped){seen, i};
    }
    qsort(grouping->nodes, n, sizeof(*grouping->nodes), by_seen);
    for (size_t i = 0; i < n; i++) {
        grouping->places[i] = grouping->nodes[i].place;
        if (i == 0 || grouping->nodes[i].seen != grouping->nodes[i - 1].seen)
            grouping->crowds[grouping->n_crowds++] =
                (struct crowd){grouping->nodes[i].seen, &grouping->places[i], 0};
        grouping->crowds[grouping->n_crowds - 1].n++;
    }
    qsort(grouping->crowds, grouping->n_crowds, sizeof(*grouping->crowds), by_first);
    return 0;
}

static size_t slot_of(const size_t *table, size_t n_slots, const struct crowds *among,
                      const json_t *seen)
{
    size_t at = ((uintptr_t)seen >> 4) * 2654435761u % n_slots;

    while (table[at] && among->items[table[at] - 1].seen != seen)
        at = (at + 1) % n_slots;
    return at;
}

/* Those of whom check `check` has seen the same, in the order of their first ones: nodes
 * that differ, even all of them, do so in few checks. */
static int merge(const struct grouping *grouping, size_t n, size_t check,
                 struct crowds *out)
{
    size_t n_slots = 2 * grouping->n_crowds + 1, filled = 0;
    size_t *table = calloc(n_slots, sizeof(*table));
    size_t *merged = calloc(grouping->n_crowds + 1, sizeof(*merged));
    bool has_memory;

    *out = (struct crowds){
        .items = calloc(grouping->n_crowds + 1, sizeof(*out->items)),
        .places = calloc(n + 1, sizeof(*out->places)),
    };
    has_memory = table && merged && out->items && out->places;
    for (size_t i = 0; has_memory && i < grouping->n_crowds; i++) {
        const json_t *seen = json_array_get(grouping->crowds[i].seen, check);
        size_t slot = slot_of(table, n_slots, out, seen);

        if (!table[slot]) {
            out->items[out->n].seen = seen;
            table[slot] = ++out->n;
        }
        merged[i] = table[slot] - 1;
        out->items[merged[i]].n += grouping->crowds[i].n;
    }
    for (size_t i = 0; i < out->n; i++) {
        out->items[i].members = out->places + filled;
        filled += out->items[i].n;
        out->items[i].n = 0;
    }
    for (size_t i = 0; has_memory && i < grouping->n_crowds; i++) {
        const struct crowd *from = &grouping->crowds[i];
        struct crowd *to = &out->items[merged[i]];

        memcpy(out->places + (to->members - out->places) + to->n, from->members,
               from->n * sizeof(*from->members));
        to->n += from->n;
    }
    free(table);
    free(merged);
    return has_memory ? 0 : -1;
}

static size_t look_at_all(struct judging *all, const struct judging *of,
                          const struct grouping *grouping, unsigned backend)
{
    size_t n = 0;

    for (size_t i = 0; i < preflight_n_checks; i++) {
        if (!(preflight_checks[i].backends & backend))
            continue;
        all[n] = *of;
        all[n].check = &preflight_checks[i];
        all[n].items = json_array();
        all[n].counted = json_object();
        if (merge(grouping, of->n, i, &all[n].crowds))
            all[n].crowds.n = 0;
        for (size_t k = 0; k < all[n].crowds.n; k++)
            look_at(&all[n], &all[n].crowds.items[k]);
        n++;
    }
    return n;
}

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    const char *backend = use->backend ? use->backend : usual_backend(nodes, n);
    struct grouping grouping;
    bool is_grouped = group(&grouping, nodes, n) == 0;
    const struct judging of = {.nodes = nodes, .n = n, .use = use};
    struct judging *all = is_grouped ? calloc(preflight_n_checks, sizeof(*all)) : NULL;
    size_t counts[VERDICT_ANSWERS] = {0};
    size_t n_checks = all ? look_at_all(all, &of, &grouping, backend_of(backend)) : 0;
    json_t *checks = json_array(), *rest = json_array(), *verdict;

    for (size_t i = 0; i < n_checks; i++) {
        json_t *said = judge_check(&all[i]);

        if (is_finding(json_array_get(said, 0))) {
            counts[VERDICT_FINDING] += json_array_size(said);
            json_array_extend(checks, said);
        } else {
            counts[all[i].n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
            json_array_extend(rest, said);
        }
        json_decref(said);
    }
    if (is_whole)
        json_array_extend(checks, rest);
    else
        shorten(checks);
    verdict = all ? conclude(backend, checks, counts) : NULL;
    free(all);
    release_grouping(&grouping);
    json_decref(checks);
    json_decref(rest);
    return verdict;
}
