/* preflight_seen.c - what checks see of nodes by themselves, kept as numbers */
#include "server/analysis/preflight_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

#define KEY_MAX 512

/* ---- Texts ---- */

/* More room for as many as there are, all of it zeroed. */
static void *grown(void *items, size_t *room, size_t size)
{
    size_t more = *room ? *room : 16;
    char *larger = realloc(items, (*room + more) * size);

    if (!larger)
        return NULL;
    memset(larger + *room * size, 0, more * size);
    *room += more;
    return larger;
}

static int new_place(struct preflight_texts *texts)
{
    struct preflight_text *items;
    int *unused;
    size_t room = texts->room;

    if (texts->n_unused > 0)
        return texts->unused[--texts->n_unused];
    if (texts->n < texts->room)
        return (int)texts->n++;
    unused = realloc(texts->unused, 2 * (room + 16) * sizeof(*unused));
    if (!unused)
        return -1;
    texts->unused = unused;
    items = grown(texts->items, &room, sizeof(*items));
    if (!items)
        return -1;
    texts->items = items;
    texts->room = room;
    return (int)texts->n++;
}

/* Its place, for one more user; -1: memory is out. is_new: nobody had it. */
static int use_text(struct preflight_texts *texts, const char *key, bool *is_new)
{
    int64_t found = json_get_int(texts->places, key, -1);
    struct preflight_text *text;
    int place;

    *is_new = found < 0;
    if (found >= 0) {
        texts->items[found].n_users++;
        return (int)found;
    }
    if (!texts->places)
        texts->places = json_object();
    place = new_place(texts);
    if (place < 0)
        return -1;
    text = &texts->items[place];
    *text = (struct preflight_text){.key = strdup(key), .n_users = 1};
    text->word = text->key;
    json_object_set_new_nocheck(texts->places, key, json_integer(place));
    return place;
}

/* Whether it was the last user. */
static bool leave_text(struct preflight_texts *texts, int place)
{
    struct preflight_text *text = &texts->items[place];

    if (--text->n_users > 0)
        return false;
    json_object_del(texts->places, text->key ? text->key : "");
    free(text->key);
    text->key = NULL;
    texts->unused[texts->n_unused++] = place;
    return true;
}

static void release_texts(struct preflight_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->items[i].key);
    free(texts->items);
    free(texts->unused);
    json_decref(texts->places);
}

/* ---- Facts ---- */

/* A key is the places that it hangs on, and its word. */
static int use_word(struct preflight_texts *texts, int a, int b, const char *word,
                    bool *is_new)
{
    char key[KEY_MAX];
    int place, before = snprintf(key, sizeof(key), "%d %d ", a, b);

    *is_new = false;
    if (a < 0)
        return -1;
    snprintf(key + before, sizeof(key) - (size_t)before, "%s", word ? word : "");
    place = use_text(texts, key, is_new);
    if (place >= 0 && *is_new) {
        texts->items[place].word = texts->items[place].key + before;
        texts->items[place].a = a;
        texts->items[place].b = b;
    }
    return place;
}

static int use_fact(struct preflight_sights *sights, const json_t *list, size_t at)
{
    bool is_new;
    int what = use_word(&sights->whats, 0, 0, json_string_value(json_array_get(list, at)),
                        &is_new);
    int value = use_word(&sights->values, what, 0,
                         json_string_value(json_array_get(list, at + 1)), &is_new);
    int fact;

    /* Each value holds what it is of, each fact its value. */
    if (!is_new && what >= 0)
        leave_text(&sights->whats, what);
    fact = use_word(&sights->facts, value,
                    (int)json_integer_value(json_array_get(list, at + 3)),
                    json_string_value(json_array_get(list, at + 2)), &is_new);
    if (!is_new && value >= 0)
        leave_text(&sights->values, value);
    return fact;
}

static void leave_fact(struct preflight_sights *sights, int fact)
{
    int value = sights->facts.items[fact].a, what = sights->values.items[value].a;

    if (leave_text(&sights->facts, fact) && leave_text(&sights->values, value))
        leave_text(&sights->whats, what);
}

/* ---- One check of one node ---- */

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

void preflight_look(const struct preflight_check *check,
                    const struct preflight_node *node, const struct preflight_use *use,
                    struct preflight_said *said)
{
    *said = (struct preflight_said){.answer = VERDICT_NOT_EVALUATED,
                                    .sentence = "the node's agent does not say"};
    check->look(node, use, said);
}

/* [answer, sentence, subject], or facts. */
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
    preflight_look(check, node, &use, &said);
    json_array_append_new(seeing.list, json_integer(said.answer));
    json_array_append_new(seeing.list, json_clean_string(said.sentence));
    json_array_append_new(seeing.list, json_clean_string(said.subject));
    return seeing.list;
}

static void keep_said(struct preflight_sight *sight, const json_t *list)
{
    const char *sentence = json_string_value(json_array_get(list, 1));
    const char *subject = json_string_value(json_array_get(list, 2));

    sight->answer = (enum verdict_answer)json_integer_value(json_array_get(list, 0));
    sight->sentence = strdup(sentence ? sentence : "");
    sight->subject = strdup(subject ? subject : "");
}

static void keep_facts(struct preflight_sights *sights, struct preflight_sight *sight,
                       const json_t *list)
{
    size_t n = json_array_size(list) / 4;

    sight->facts = calloc(n + 1, sizeof(*sight->facts));
    for (size_t i = 0; sight->facts && i < n; i++) {
        sight->facts[sight->n_facts] = use_fact(sights, list, 4 * i);
        sight->n_facts += sight->facts[sight->n_facts] >= 0;
    }
}

static int keep(struct preflight_sights *sights, const struct preflight_check *check,
                const json_t *list)
{
    char *key = json_dumps(list, JSON_COMPACT);
    bool is_new = false;
    int place = key ? use_text(&sights->all, key, &is_new) : -1;

    free(key);
    if (place < 0 || !is_new)
        return place;
    while ((size_t)place >= sights->room) {
        struct preflight_sight *more =
            grown(sights->sights, &sights->room, sizeof(*more));

        if (!more)
            return -1;
        sights->sights = more;
    }
    if (check->look)
        keep_said(&sights->sights[place], list);
    else
        keep_facts(sights, &sights->sights[place], list);
    return place;
}

static void release_sight(struct preflight_sight *sight)
{
    free(sight->sentence);
    free(sight->subject);
    free(sight->facts);
    *sight = (struct preflight_sight){.n_facts = 0};
}

/* ---- Of all nodes ---- */

struct preflight_memory *preflight_memory_create(void)
{
    struct preflight_memory *memory = calloc(1, sizeof(*memory));

    if (memory)
        memory->checks = calloc(preflight_n_checks, sizeof(*memory->checks));
    if (memory && memory->checks)
        return memory;
    free(memory);
    return NULL;
}

void preflight_memory_destroy(struct preflight_memory *memory)
{
    for (size_t i = 0; memory && i < preflight_n_checks; i++) {
        struct preflight_sights *sights = &memory->checks[i];

        for (size_t k = 0; k < sights->room; k++)
            release_sight(&sights->sights[k]);
        free(sights->sights);
        release_texts(&sights->all);
        release_texts(&sights->whats);
        release_texts(&sights->values);
        release_texts(&sights->facts);
    }
    if (memory)
        free(memory->checks);
    free(memory);
}

static size_t count_texts(const struct preflight_texts *texts)
{
    return texts->n - texts->n_unused;
}

size_t preflight_memory_count(const struct preflight_memory *memory)
{
    size_t n = 0;

    for (size_t i = 0; i < preflight_n_checks; i++) {
        const struct preflight_sights *sights = &memory->checks[i];

        n += count_texts(&sights->all) + count_texts(&sights->whats) +
             count_texts(&sights->values) + count_texts(&sights->facts);
    }
    return n;
}

struct preflight_seen *preflight_see_as(struct preflight_memory *memory,
                                        const struct preflight_node *node, bool is_alone)
{
    struct preflight_seen *seen =
        calloc(1, sizeof(*seen) + preflight_n_checks * sizeof(seen->sights[0]));

    if (!seen)
        return NULL;
    seen->memory = memory;
    for (size_t i = 0; i < preflight_n_checks; i++) {
        json_t *list = see_check(&preflight_checks[i], node, is_alone);

        seen->sights[i] = keep(&memory->checks[i], &preflight_checks[i], list);
        json_decref(list);
    }
    return seen;
}

struct preflight_seen *preflight_see(struct preflight_memory *memory,
                                     const struct preflight_node *node)
{
    return preflight_see_as(memory, node, false);
}

void preflight_forget(struct preflight_seen *seen)
{
    for (size_t i = 0; seen && i < preflight_n_checks; i++) {
        struct preflight_sights *sights = &seen->memory->checks[i];
        int place = seen->sights[i];

        if (place < 0 || !leave_text(&sights->all, place))
            continue;
        for (size_t k = 0; k < sights->sights[place].n_facts; k++)
            leave_fact(sights, sights->sights[place].facts[k]);
        release_sight(&sights->sights[place]);
    }
    free(seen);
}
