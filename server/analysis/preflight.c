/* preflight.c - the checks of nodes, put together to a verdict */
#include "server/analysis/preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/preflight_check.h"
#include "server/finding/finding.h"

#define ITEMS_MAX 32 /* different findings of one check */
#define COMMAND_MAX 600
#define NAMES_MAX 32 /* of one finding, where only findings are asked for */

/* A finding that several nodes may have. */
struct item {
    char sentence[PREFLIGHT_TEXT_MAX];
    enum verdict_answer answer;
    json_t *command; /* or NULL */
    size_t *nodes;   /* places, in rising order */
    size_t n;
};

/* One check. */
struct judging {
    const struct preflight_node *nodes;
    size_t n;
    bool is_whole;
    const struct preflight_use *use;
    const struct preflight_check *check;
    struct item items[ITEMS_MAX + 1]; /* the last is for all that there is no room for */
    size_t n_items, n_well;
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

/* ---- A check's findings ---- */

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

/* The item with the same sentence, or a new one. */
static struct item *item_of(struct judging *judging, const struct preflight_said *said)
{
    static const struct preflight_said others = {
        VERDICT_FINDING, "the same check finds something else", "NAME", "VALUE", false};
    struct item *item;

    for (size_t i = 0; i < judging->n_items; i++)
        if (strcmp(judging->items[i].sentence, said->sentence) == 0)
            return &judging->items[i];
    if (judging->n_items >= ITEMS_MAX && said != &others)
        return item_of(judging, &others);
    item = &judging->items[judging->n_items++];
    item->answer = said->answer;
    snprintf(item->sentence, sizeof(item->sentence), "%s", said->sentence);
    if (said->answer == VERDICT_FINDING && !said->is_split)
        item->command = command_json(judging->check->command, said);
    return item;
}

/* Nodes come in rising order. If a check could not be evaluated, that is said once. */
static void add(struct judging *judging, size_t node, const struct preflight_said *said)
{
    struct item *item;

    judging->n_well += said->answer == VERDICT_OK;
    if (said->answer == VERDICT_OK ||
        (said->answer == VERDICT_NOT_EVALUATED && judging->n_items > 0))
        return;
    item = item_of(judging, said);
    if (said->answer != VERDICT_FINDING)
        return;
    if (!item->nodes)
        item->nodes = memory_zeroed(judging->n, sizeof(*item->nodes), "a preflight");
    if (item->n == 0 || item->nodes[item->n - 1] != node)
        item->nodes[item->n++] = node;
}

static void look_at_all(struct judging *judging)
{
    for (size_t i = 0; i < judging->n; i++) {
        struct preflight_said said;

        preflight_look(judging->check, &judging->nodes[i], judging->use, &said);
        add(judging, i, &said);
    }
}

/* ---- Values that all nodes should have in common ---- */

struct fact {
    const char *what, *value, *subject; /* of the texts */
    size_t node, at;                    /* at: its place as it came */
    struct value *of;
};

/* All facts with one value of one thing. */
struct value {
    const struct fact *first;
    struct topic *topic;
    size_t n;
};

/* All values of one thing. */
struct topic {
    const struct value *most;
    size_t n, n_values;
    bool is_split; /* no value is right */
    bool is_told;
    char *split; /* what is said then */
};

struct gathering {
    struct preflight_facts facts; /* the first: it is what checks hand back */
    const struct judging *judging;
    size_t node;
    json_t *texts; /* owns those of the facts */
    struct fact *items;
    size_t n, room;
};

static const char *keep_text(struct gathering *gathering, const char *text)
{
    json_t *kept = json_clean_string(text);

    json_array_append_new(gathering->texts, kept);
    return json_string_value(kept);
}

static void take(struct preflight_facts *facts, const char *what, const char *value,
                 const char *subject, int port)
{
    struct gathering *gathering = (struct gathering *)facts;
    const struct judging *judging = gathering->judging;

    if (judging->check->concerns && json_object_size(judging->use->env) > 0 &&
        !judging->check->concerns(judging->use->env, subject, port))
        return;
    if (gathering->n == gathering->room) {
        gathering->room = 2 * gathering->room + 64;
        gathering->items =
            realloc(gathering->items, gathering->room * sizeof(*gathering->items));
        if (!gathering->items)
            memory_out("a preflight");
    }
    gathering->items[gathering->n] =
        (struct fact){.what = keep_text(gathering, what),
                      .value = keep_text(gathering, value),
                      .subject = keep_text(gathering, subject),
                      .node = gathering->node,
                      .at = gathering->n};
    gathering->n++;
}

static int by_value(const void *left, const void *right)
{
    const struct fact *a = *(struct fact *const *)left, *b = *(struct fact *const *)right;
    int order = strcmp(a->what, b->what);

    order = order ? order : strcmp(a->value, b->value);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Group sorted facts by thing and value. Of values that are equally frequent the first
 * that came counts. */
static void group(struct fact *const *sorted, size_t n, struct value *values,
                  struct topic *topics)
{
    struct value *value = values - 1;
    struct topic *topic = topics - 1;

    for (size_t i = 0; i < n; i++) {
        bool is_new_topic = i == 0 || strcmp(sorted[i]->what, sorted[i - 1]->what) != 0;

        topic += is_new_topic;
        if (is_new_topic || strcmp(sorted[i]->value, sorted[i - 1]->value) != 0) {
            *++value = (struct value){.first = sorted[i], .topic = topic};
            topic->n_values++;
        }
        sorted[i]->of = value;
        value->n++;
        topic->n++;
        if (!topic->most || value->n > topic->most->n ||
            (value->n == topic->most->n && value->first->at < topic->most->first->at))
            topic->most = value;
    }
}

/* What more than half of them have is right, unless the check knows better. */
static void decide(struct judging *judging, struct topic *topic)
{
    const char *good = judging->check->good;
    bool has_most = topic->most->n * 2 > topic->n;

    judging->n_well += topic->n > 1;
    if (topic->n_values < 2)
        return;
    topic->is_split = !has_most && (!good || judging->n > 1);
    topic->is_told =
        topic->is_split ||
        (has_most && (!good || strcmp(topic->most->first->value, good) == 0));
}

static bool is_named(const char *what, const char *subject)
{
    return !*subject || strstr(what, subject);
}

/* "WHAT differs: 1500 on a, 9000 on b and 2 more": nobody knows which is right. */
static void add_to_split(const struct judging *judging, const struct value *value)
{
    const struct fact *first = value->first;
    bool is_first = !value->topic->split, is_alone = judging->n == 1;
    char on[2 * PREFLIGHT_NAME_MAX], *out;
    int len;

    if (is_first) {
        value->topic->split = memory_zeroed(1, PREFLIGHT_TEXT_MAX, "a preflight");
        snprintf(value->topic->split, PREFLIGHT_TEXT_MAX, "%.80s differs", first->what);
    }
    out = value->topic->split;
    len = (int)strlen(out);
    if (len > PREFLIGHT_TEXT_MAX - PREFLIGHT_NAME_MAX)
        return;
    snprintf(
        on, sizeof(on),
        is_alone || is_named(first->what, first->subject) ? "%.60s" : "%.60s (%.60s)",
        is_alone ? first->subject : judging->nodes[first->node].name, first->subject);
    len += snprintf(out + len, PREFLIGHT_NAME_MAX, "%s %.20s on %.40s",
                    is_first ? ":" : ",", first->value, on);
    if (value->n > 1)
        snprintf(out + len, 24, " and %zu more", value->n - 1);
}

static void say(const struct fact *fact, struct preflight_said *said)
{
    const struct topic *topic = fact->of->topic;
    const char *most = topic->most->first->value;
    bool is_silent = is_named(fact->what, fact->subject);

    *said =
        (struct preflight_said){.answer = VERDICT_FINDING, .is_split = topic->is_split};
    snprintf(said->subject, sizeof(said->subject), "%s", fact->subject);
    if (topic->is_split) {
        snprintf(said->sentence, sizeof(said->sentence), "%s", topic->split);
        return;
    }
    snprintf(said->most, sizeof(said->most), "%s", most);
    snprintf(said->sentence, sizeof(said->sentence),
             "%s is %.80s%s%.80s%s, most have %.80s", fact->what, fact->value,
             is_silent ? "" : " (", is_silent ? "" : fact->subject, is_silent ? "" : ")",
             most);
}

static void say_all(struct judging *judging, const struct fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (facts[i].of->topic->is_split && facts[i].of->first == &facts[i])
            add_to_split(judging, facts[i].of);
    for (size_t i = 0; i < n; i++) {
        const struct topic *topic = facts[i].of->topic;
        struct preflight_said said;

        if (!topic->is_told || (!topic->is_split && topic->most == facts[i].of))
            continue;
        say(&facts[i], &said);
        add(judging, facts[i].node, &said);
    }
}

static void compare_all(struct judging *judging)
{
    struct gathering gathering = {
        .facts = {take, judging->n == 1}, .judging = judging, .texts = json_array()};
    struct fact **sorted;
    struct value *values;
    struct topic *topics;

    for (; gathering.node < judging->n; gathering.node++)
        judging->check->gather(&judging->nodes[gathering.node], &gathering.facts);
    sorted = memory_zeroed(gathering.n + 1, sizeof(*sorted), "a preflight");
    values = memory_zeroed(gathering.n + 1, sizeof(*values), "a preflight");
    topics = memory_zeroed(gathering.n + 1, sizeof(*topics), "a preflight");
    for (size_t i = 0; i < gathering.n; i++)
        sorted[i] = &gathering.items[i];
    qsort(sorted, gathering.n, sizeof(*sorted), by_value);
    group(sorted, gathering.n, values, topics);
    for (struct topic *topic = topics; topic->n > 0; topic++)
        decide(judging, topic);
    say_all(judging, gathering.items, gathering.n);
    for (struct topic *topic = topics; topic->n > 0; topic++)
        free(topic->split);
    free(topics);
    free(values);
    free(sorted);
    free(gathering.items);
    json_decref(gathering.texts);
}

/* ---- All checks ---- */

/* All; in a run's document some. */
static json_t *names_json(const struct judging *judging, const struct item *item)
{
    size_t most = judging->is_whole ? item->n : NAMES_MAX;
    json_t *names = json_array();

    for (size_t i = 0; i < item->n && i < most; i++)
        json_array_append_new(names, json_string(judging->nodes[item->nodes[i]].name));
    return names;
}

/* The sentence begins with the nodes, unless there is only one, or it names them itself.
 */
static json_t *sentence_json(const struct judging *judging, const struct item *item)
{
    char text[PREFLIGHT_TEXT_MAX + 400], more[32] = "";

    if (judging->n == 1 || !item->command)
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

/* One that found nothing: it is well, or why nobody knows. */
static json_t *well_json(const struct judging *judging)
{
    bool is_well = judging->n_well > 0;
    const char *why = judging->n_items ? judging->items[0].sentence
                                       : "there is no other node to compare it with";

    return json_pack("{s:s, s:s, s:s, s:o}", "check", judging->check->id, "severity",
                     judging->check->severity, "answer",
                     verdict_answer_name(is_well ? VERDICT_OK : VERDICT_NOT_EVALUATED),
                     "sentence", json_clean_string(is_well ? "nothing is wrong" : why));
}

/* Counts by answer; a check with findings counts by each of them. */
static void judge_check(struct judging *judging, json_t *findings, json_t *rest,
                        size_t counts[VERDICT_ANSWERS])
{
    size_t before = json_array_size(findings);

    if (judging->check->gather)
        compare_all(judging);
    else
        look_at_all(judging);
    for (size_t i = 0; i < judging->n_items; i++) {
        if (judging->items[i].answer == VERDICT_FINDING)
            json_array_append_new(findings, item_json(judging, &judging->items[i]));
        json_decref(judging->items[i].command);
        free(judging->items[i].nodes);
    }
    counts[VERDICT_FINDING] += json_array_size(findings) - before;
    if (json_array_size(findings) > before)
        return;
    counts[judging->n_well > 0 ? VERDICT_OK : VERDICT_NOT_EVALUATED]++;
    json_array_append_new(rest, well_json(judging));
}

json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    const char *backend = use->backend ? use->backend : usual_backend(nodes, n);
    json_t *checks = json_array(), *rest = json_array();
    size_t counts[VERDICT_ANSWERS] = {0};
    struct finding finding = finding_begin();

    for (size_t i = 0; i < preflight_n_checks; i++) {
        struct judging judging = {.nodes = nodes,
                                  .n = n,
                                  .is_whole = is_whole,
                                  .use = use,
                                  .check = &preflight_checks[i]};

        if (judging.check->backends & backend_of(backend))
            judge_check(&judging, checks, rest, counts);
    }
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
