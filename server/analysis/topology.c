/* topology.c - whether NCCL takes a run's nodes to be alike */
#include "server/analysis/topology.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/topology_read.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"

#define NAME_BYTES 300
#define SENTENCE_MAX ((size_t)16 << 10)
#define NAMES_MAX 8        /* of nodes that a sentence has */
#define TOLD_MAX 3         /* differences of a node that it has */
#define DIFFERENCES_MAX 64 /* of a node */

/* ---- What is compared of a node: its GPUs and NICs by name ---- */

/* On the way down to a part. */
struct place {
    const json_t *parts[TOPOLOGY_DEPTH_MAX + 1]; /* the system, a socket, switches */
    size_t n;
};

/* A part's name among all of the node: of several hosts' GPUs, the host's number too. */
static void name_part(const json_t *part, const struct place *place, char out[NAME_BYTES])
{
    int64_t host = json_get_int(place->parts[1], "host", 0);
    int n = host ? snprintf(out, NAME_BYTES, "host %d ", (int)host) : 0;

    snprintf(out + n, (size_t)(NAME_BYTES - n), "%s", json_get_str(part, "name", "?"));
}

static bool is_leaf(const json_t *part)
{
    const char *kind = json_get_str(part, "kind", "");

    return strcmp(kind, "gpu") == 0 || strcmp(kind, "nic") == 0;
}

/* The names of GPUs and NICs below a part, but for one of them. */
static void put_names(const json_t *part, const json_t *but, struct buf *out)
{
    const json_t *one;
    size_t i;

    if (is_leaf(part) && part != but)
        buf_printf(out, "%s%s", out->len ? ", " : "", json_get_str(part, "name", "?"));
    json_array_foreach (json_object_get(part, "parts"), i, one)
        put_names(one, but, out);
}

/* What stands above it: the links of switches, from it up, and who shares the first one.
 */
static void put_place(json_t *fact, const json_t *part, const struct place *place)
{
    struct buf links, names;

    buf_init(&links, SENTENCE_MAX);
    buf_init(&names, SENTENCE_MAX);
    for (size_t i = place->n; i-- > 2;)
        buf_printf(&links, "%s%s", links.len ? ", then " : "",
                   json_get_str(place->parts[i], "link", "unknown"));
    if (place->n > 2)
        put_names(place->parts[2], part, &names);
    json_object_set_new(fact, "socket",
                        json_string(json_get_str(place->parts[1], "name", "?")));
    json_object_set_new(fact, "switches", json_string(links.len ? links.data : "none"));
    json_object_set_new(fact, "switch_with",
                        json_string(names.len ? names.data : "nobody"));
    buf_release(&links);
    buf_release(&names);
}

/* Bus ids are each node's own, and so is where a name stands in the file. */
static void add_fact(json_t *facts, const json_t *part, const struct place *place)
{
    static const char *const keys[] = {"link", "speed", "nvlinks", "sm", "gdr", "device"};
    json_t *fact = json_object();
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *value = json_object_get(part, keys[i]);

        if (value)
            json_object_set(fact, keys[i], value);
    }
    put_place(fact, part, place);
    name_part(part, place, name);
    json_object_set_new(facts, name, fact);
}

static void add_facts(json_t *facts, const json_t *part, struct place *place)
{
    const json_t *one;
    size_t i;

    if (is_leaf(part))
        add_fact(facts, part, place);
    else if (strcmp(json_get_str(part, "kind", ""), "socket") == 0)
        json_object_set_new(
            facts, json_get_str(part, "name", "?"),
            json_pack("{s:O*}", "processor", json_object_get(part, "device")));
    if (place->n > TOPOLOGY_DEPTH_MAX)
        return;
    place->parts[place->n++] = part;
    json_array_foreach (json_object_get(part, "parts"), i, one)
        add_facts(facts, one, place);
    place->n--;
}

static json_t *facts_of(const json_t *tree)
{
    struct place place = {.n = 0};
    json_t *facts = json_object();

    add_facts(facts, tree, &place);
    return facts;
}

/* ---- Kinds of nodes ---- */

/* The kind of nodes with these facts, a new one if need be. */
static json_t *kind_of(json_t *kinds, const json_t *facts, json_t *tree)
{
    json_t *kind;
    size_t i;

    json_array_foreach (kinds, i, kind)
        if (json_equal(json_object_get(kind, "facts"), facts))
            return kind;
    kind = json_pack("{s:[], s:O, s:O}", "nodes", "tree", tree, "facts", facts);
    json_array_append_new(kinds, kind);
    return kind;
}

static size_t size_of(const json_t *kind)
{
    return json_array_size(json_object_get(kind, "nodes"));
}

static int by_size(const void *left, const void *right)
{
    size_t a = size_of(*(json_t *const *)left), b = size_of(*(json_t *const *)right);

    return (a < b) - (a > b);
}

/* The most frequent first; qsort need not keep the order of the others. */
static void sort_kinds(json_t *kinds)
{
    size_t n = json_array_size(kinds);
    json_t **items = calloc(n + 1, sizeof(*items));

    for (size_t i = 0; items && i < n; i++)
        items[i] = json_incref(json_array_get(kinds, i));
    if (items)
        qsort(items, n, sizeof(*items), by_size);
    for (size_t i = 0; items && i < n; i++)
        json_array_set_new(kinds, i, items[i]);
    free(items);
}

/* ---- In what they differ ---- */

/* The part of that name, for its bus id. */
static const json_t *find_part(const json_t *part, const char *name)
{
    const json_t *found = strcmp(json_get_str(part, "name", ""), name) == 0 ? part : NULL,
                 *one;
    size_t i;

    json_array_foreach (json_object_get(part, "parts"), i, one)
        found = found ? found : find_part(one, name);
    return found;
}

static void add_difference(json_t *list, const json_t *kind, const char *name,
                           const char *what, json_t *here, json_t *others)
{
    const json_t *part = find_part(json_object_get(kind, "tree"), name);

    if (json_array_size(list) < DIFFERENCES_MAX)
        json_array_append_new(list,
                              json_pack("{s:s, s:s?, s:s?, s:O?, s:O?}", "part", name,
                                        "bus", json_get_str(part, "bus", NULL), "what",
                                        what, "here", here, "others", others));
}

static void compare_parts(json_t *list, const json_t *kind, const char *name,
                          json_t *here, json_t *others)
{
    json_t *all, *value;
    const char *what;

    if (!here || !others) {
        add_difference(list, kind, name, NULL, here ? json_true() : NULL,
                       others ? json_true() : NULL);
        return;
    }
    all = json_copy(others);
    json_object_update_missing(all, here);
    json_object_foreach (all, what, value) {
        json_t *mine = json_object_get(here, what),
               *theirs = json_object_get(others, what);

        if (!mine || !theirs || !json_equal(mine, theirs))
            add_difference(list, kind, name, what, mine, theirs);
    }
    json_decref(all);
}

/* Who is on a switch with whom follows from most else in which nodes differ. */
static json_t *without_echo(json_t *list)
{
    json_t *rest = json_array(), *one;
    size_t i;

    json_array_foreach (list, i, one)
        if (strcmp(json_get_str(one, "what", ""), "switch_with") != 0)
            json_array_append(rest, one);
    if (json_array_size(rest) == 0) {
        json_decref(rest);
        return list;
    }
    json_decref(list);
    return rest;
}

/* In what a kind is not as another. A new array. */
static json_t *differences_of(const json_t *kind, const json_t *usual)
{
    json_t *here = json_object_get(kind, "facts"),
           *others = json_object_get(usual, "facts");
    json_t *list = json_array(), *all = json_copy(others), *value;
    const char *name;

    json_object_update_missing(all, here);
    json_object_foreach (all, name, value)
        compare_parts(list, kind, name, json_object_get(here, name),
                      json_object_get(others, name));
    json_decref(all);
    return without_echo(list);
}

/* ---- In words ---- */

static const char *word_for(const char *what)
{
    static const struct {
        const char *what, *word;
    } words[] = {{"link", "PCIe at"},    {"speed", "speed"},
                 {"nvlinks", "NVLinks"}, {"switches", "switches above it"},
                 {"socket", "on"},       {"switch_with", "on a switch with"},
                 {"gdr", "GPUDirect"},   {"sm", "compute capability"}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].what, what) == 0)
            return words[i].word;
    return what;
}

/* As a sentence has them, for each difference of a kind from `others`. */
static json_t *words_json(const json_t *differences, const char *others)
{
    json_t *out = json_array(), *one;
    size_t i;

    json_array_foreach (differences, i, one) {
        const char *what = json_get_str(one, "what", NULL);

        json_array_append_new(
            out,
            json_pack("{s:b, s:O, s:O, s:s*, s:s, s:s, s:s}", "is_absent",
                      !what && json_is_null(json_object_get(one, "here")), "part",
                      json_object_get(one, "part"), "bus", json_object_get(one, "bus"),
                      "what", what ? word_for(what) : NULL, "here",
                      json_get_str(one, "here", "none"), "there",
                      json_get_str(one, "others", "none"), "others", others));
    }
    return out;
}

/* "b, c differ: GPU 0 (0000:18:00.0) PCIe at 8 GT/s x8, others 16 GT/s x16; no NIC 1" */
static json_t *kind_text(const json_t *kind, const char *others)
{
    struct finding finding = finding_begin();
    json_t *words = words_json(json_object_get(kind, "differences"), others), *text;

    finding_put(&finding, "{s:O}", "nodes", json_object_get(kind, "nodes"));
    finding_set_phrases(&finding, "list", words, TOLD_MAX, "; ",
                        "[{is_absent?}no {part}|{part}[ ({bus})][ {what} {here}, "
                        "{others} {there}|, which {others} not have]]");
    text = template_text("{nodes:names 8} {nodes:differs/differ}: {list}", NULL,
                         finding.members);
    json_decref(words);
    json_decref(finding.members);
    return text;
}

/* The others are compared with the kind that most nodes are of, or else with any. */
static json_t *verdict_of(const json_t *kinds, size_t n, const char *mark)
{
    json_t *usual = json_object_get(json_array_get(kinds, 0), "nodes"), *kind;
    bool is_most = 2 * json_array_size(usual) > n;
    json_t *differences = json_array(), *texts = json_array();
    struct finding finding = finding_begin();
    size_t i, n_kinds = json_array_size(kinds);

    json_array_foreach (kinds, i, kind) {
        json_t *one;

        if (i == 0)
            continue;
        finding_name_all(&finding, json_object_get(kind, "nodes"));
        one = json_pack("{s:O, s:o}", "nodes", json_object_get(kind, "nodes"),
                        "differences", differences_of(kind, json_array_get(kinds, 0)));
        if (i <= NAMES_MAX)
            json_array_append_new(
                texts,
                json_pack("{s:o}", "text",
                          kind_text(one, is_most ? "others"
                                                 : json_string_value(
                                                       json_array_get(usual, 0)))));
        json_array_append_new(differences, one);
    }
    finding_put(&finding, "{s:I, s:o, s:I, s:I, s:I}", "nodes", (json_int_t)n, "kinds",
                differences, is_most ? "$usual" : "$unusual",
                (json_int_t)json_array_size(usual), "$kinds", (json_int_t)n_kinds,
                n > 0 ? "$one" : "$none", (json_int_t)1);
    finding_set_phrases(&finding, "$differences", texts, NAMES_MAX, ". ", "{text}");
    json_decref(texts);
    return finding_end(&finding,
                       n < 2         ? MESSAGE_TOPOLOGY_OPEN
                       : n_kinds > 1 ? MESSAGE_TOPOLOGY_DIFFERS
                                     : MESSAGE_TOPOLOGY_SAME,
                       mark);
}

json_t *topology_judge(const struct topology_text *texts, size_t n, const char *mark)
{
    json_t *kinds = json_array(), *unread = json_array(), *verdict, *kind;
    struct error err;
    size_t i;

    for (i = 0; i < n; i++) {
        json_t *tree = topology_read(texts[i].xml, texts[i].len, &err), *facts;

        if (!tree) {
            json_array_append_new(
                unread, json_pack("{s:s, s:s}", "node", texts[i].node, "why", err.text));
            continue;
        }
        facts = facts_of(tree);
        json_array_append_new(json_object_get(kind_of(kinds, facts, tree), "nodes"),
                              json_string(texts[i].node));
        json_decref(facts);
        json_decref(tree);
    }
    sort_kinds(kinds);
    verdict = verdict_of(kinds, n - json_array_size(unread), mark);
    json_array_foreach (kinds, i, kind)
        json_object_del(kind, "facts");
    return json_pack("{s:o, s:o, s:o}", "verdict", verdict, "kinds", kinds, "unread",
                     unread);
}
