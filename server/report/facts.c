/* facts.c - what a report is made of */
#include "server/report/facts.h"

#include <stdlib.h>
#include <string.h>

#include "common/json_util.h"
#include "server/report/figures.h"

struct facts *facts_create(json_t *run, json_t *nodes, const char *address,
                           int64_t generated_ms)
{
    struct facts *facts = calloc(1, sizeof(*facts));

    if (!facts) {
        json_decref(run);
        json_decref(nodes);
        return NULL;
    }
    facts->run = run;
    facts->nodes = nodes;
    facts->rows = json_array();
    facts->messages = json_array();
    facts->connected = json_array();
    facts->generated_ms = generated_ms;
    facts->address = address ? strdup(address) : NULL;
    if (facts->run && facts->nodes && facts->rows && facts->messages &&
        facts->connected && (facts->address || !address))
        return facts;
    facts_destroy(facts);
    return NULL;
}

void facts_destroy(struct facts *facts)
{
    if (!facts)
        return;
    json_decref(facts->run);
    json_decref(facts->nodes);
    json_decref(facts->rows);
    json_decref(facts->messages);
    json_decref(facts->connected);
    figures_destroy(facts->figures);
    free(facts->address);
    free(facts);
}

bool facts_is_full(const struct facts *facts)
{
    return json_array_size(facts->rows) >= FACTS_ROWS_MAX;
}

/* By the run's own count: what is left out need not be read. Figures of a program are no
 * rows to it. */
uint64_t facts_rows_left_out(const struct facts *facts)
{
    const json_t *summary = json_object_get(facts->run, "summary");
    uint64_t all = (uint64_t)json_get_int(facts->run, "rows_done", 0);
    size_t have = json_array_size(facts->rows), i;
    json_t *metric;

    if (!facts_is_full(facts))
        return 0;
    json_array_foreach(json_object_get(summary, "metrics"), i, metric)
    {
        if (json_object_get(facts->run, "program"))
            all += (uint64_t)json_get_int(metric, "count", 0);
    }
    return all > have ? all - have : 0;
}

static int add_row(struct facts *facts, json_t *event)
{
    if (facts_is_full(facts))
        return 0;
    json_object_del(event, "id");
    json_object_del(event, "time");
    json_object_del(event, "type");
    return json_array_append(facts->rows, event);
}

static int add_message(struct facts *facts, json_t *event)
{
    if (json_array_size(facts->messages) >= FACTS_MESSAGES_MAX) {
        json_array_remove(facts->messages, 0);
        facts->messages_left_out++;
    }
    return json_array_append(facts->messages, event);
}

static int add_connected(struct facts *facts, json_t *event)
{
    size_t links = 1 + json_object_size(json_object_get(event, "transport"));

    if (facts->connected_left_out > 0 || facts->links + links > FACTS_LINKS_MAX) {
        facts->connected_left_out++;
        return 0;
    }
    facts->links += links;
    return json_array_append(facts->connected, event);
}

static int add_event(struct facts *facts, json_t *event)
{
    const char *type = json_get_str(event, "type", "");

    if (strcmp(type, "result") == 0)
        return add_row(facts, event);
    if (strcmp(type, "message") == 0)
        return add_message(facts, event);
    if (strcmp(type, "rank") == 0 && json_object_get(event, "transport"))
        return add_connected(facts, event);
    return 0;
}

int facts_add_events(struct facts *facts, const char *text, size_t len)
{
    const char *end = text + len;
    int result = 0;

    while (text < end && !result) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        json_t *event = json_parse(text, (size_t)(stop - text), NULL);

        result = event ? add_event(facts, event) : -1;
        json_decref(event);
        text = stop + 1;
    }
    return result;
}

const char *facts_unreal(const struct facts *facts)
{
    json_t *row;
    size_t i;

    if (strcmp(json_get_str(facts->run, "backend", ""), "sim") == 0)
        return "simulated";
    json_array_foreach(facts->rows, i, row)
    {
        if (json_get_bool(row, "simulated", false))
            return "simulated";
        if (json_get_bool(row, "emulated", false))
            return "emulated";
    }
    return NULL;
}

bool facts_has_ended(const struct facts *facts)
{
    return json_is_string(json_object_get(facts->run, "ended"));
}

const char *facts_rank_node(const struct facts *facts, int64_t case_no, int64_t rank)
{
    json_t *item, *place;
    size_t i, j;

    json_array_foreach(json_object_get(facts->run, "cases"), i, item)
    {
        if (json_get_int(item, "case", -1) != case_no)
            continue;
        json_array_foreach(json_object_get(item, "ranks"), j, place)
        {
            if (json_get_int(place, "rank", -1) == rank)
                return json_get_str(place, "node", NULL);
        }
    }
    return NULL;
}
