/* section_about.c - what ran where: cases, nodes, the spec and its environment, and what
 * the numbers mean */
#include <stdlib.h>
#include <string.h>

#include "common/collective.h"
#include "common/json_util.h"
#include "server/report/sections.h"

#define CASES_SHOWN_MAX 1000
#define RANKS_SHOWN_MAX 24

static void put_env(struct html *html, json_t *env)
{
    const char *name;
    json_t *value;

    json_object_foreach(env, name, value)
    {
        html_raw(html, "<div><code>");
        html_text(html, name);
        if (json_is_string(value)) {
            html_text(html, "=");
            html_text(html, json_string_value(value));
        }
        html_raw(html, json_is_string(value) ? "</code></div>" : "</code> unset</div>");
    }
}

static void put_case_row(struct html *html, const json_t *item)
{
    const char *state = json_get_str(item, "state", "?");
    bool is_bad = strcmp(state, "failed") == 0;

    html_rawf(html, "<tr%s>", is_bad ? " class=\"bad\"" : "");
    put_integer(html, json_get_int(item, "case", 0));
    put_integer(html, json_get_int(item, "repeat", 0));
    put_integer(html, json_get_int(item, "attempt", 0));
    html_raw(html, "<td>");
    put_env(html, json_object_get(item, "env"));
    html_raw(html, "</td>");
    html_element(html, "td", is_bad ? "bad" : NULL, state);
    html_element(html, "td", "n", json_get_str(item, "started", "-"));
    html_element(html, "td", "n", json_get_str(item, "ended", "-"));
    html_element(html, "td", "wide", json_get_str(item, "reason", ""));
    html_raw(html, "</tr>\n");
}

/* The ranks that ended badly, each with its reason. */
static void put_failed_ranks(const struct report *report, const json_t *item)
{
    struct html *html = report->html;
    json_t *rank;
    size_t i, shown = 0;

    json_array_foreach(json_object_get(item, "ranks"), i, rank)
    {
        const char *reason = json_get_str(rank, "reason", NULL);

        if (!reason || shown == RANKS_SHOWN_MAX)
            continue;
        shown++;
        html_raw(html, "<tr class=\"bad\"><td></td><td colspan=\"7\">");
        html_textf(html, "rank %lld on %s: %s", (long long)json_get_int(rank, "rank", -1),
                   json_get_str(rank, "node", "?"), reason);
        html_raw(html, "</td></tr>\n");
    }
}

void section_cases(const struct report *report)
{
    static const char *const names[] = {
        "#case",  "#repeat", "#attempt", "environment of the matrix", "state", "#started",
        "#ended", "reason",  NULL};
    const json_t *cases = json_object_get(report->facts->run, "cases");
    json_t *item;
    size_t i;

    if (json_array_size(cases) == 0)
        return;
    html_raw(report->html, "<section><h2>Cases</h2>\n<p class=\"muted\">Each is a group "
                           "of new processes: libraries read their environment once."
                           "</p>\n");
    put_table(report->html, "Cases", NULL, names);
    json_array_foreach(cases, i, item)
    {
        if (i == CASES_SHOWN_MAX)
            break;
        put_case_row(report->html, item);
        put_failed_ranks(report, item);
    }
    end_table(report->html);
    html_raw(report->html, "</section>\n");
}

static const json_t *known_node(const struct facts *facts, const char *name)
{
    json_t *node;
    size_t i;

    json_array_foreach(facts->nodes, i, node)
    {
        if (strcmp(json_get_str(node, "name", ""), name) == 0)
            return node;
    }
    return NULL;
}

static void put_backends(const struct report *report, const json_t *inventory)
{
    struct html *html = report->html;
    const char *used = json_get_str(report->facts->run, "backend", "");
    const json_t *backend = json_object_get(json_object_get(inventory, "backends"), used);
    static const char *const keys[] = {"nccl_version", "cuda_runtime", "cuda_driver"};
    json_t *device;
    size_t i;

    html_raw(html, "<td>");
    json_array_foreach(json_object_get(backend, "devices"), i, device)
    {
        html_raw(html, "<div>");
        html_text(html, json_get_str(device, "name", "?"));
        html_raw(html, "</div>");
    }
    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *version = json_get_str(backend, keys[i], NULL);

        if (version)
            html_textf(html, "%s %s; ", keys[i], version);
    }
    html_raw(html, "</td>");
}

static void put_memory(struct html *html, const json_t *inventory)
{
    double bytes = json_get_num(inventory, "memory_bytes", 0.0);
    char text[HTML_NUMBER_MAX];

    html_rawf(html, "<td class=\"n\">%s</td>",
              bytes > 0.0 ? html_figure(bytes / (1024.0 * 1024 * 1024), 3, text) : "-");
}

static void put_known_node(const struct report *report, const json_t *node)
{
    struct html *html = report->html;
    const json_t *inventory = json_object_get(node, "inventory");
    const json_t *cpu = json_object_get(inventory, "cpu");
    const char *ended = json_get_str(report->facts->run, "ended", NULL);
    const char *registered = json_get_str(node, "registered", "");

    html_element(html, "td", NULL, json_get_str(node, "address", ""));
    html_raw(html, "<td>");
    html_text(html, json_get_str(inventory, "host", "?"));
    /* Both are RFC 3339 in UTC with the same digits: text compares as time does. */
    if (ended && strcmp(registered, ended) > 0)
        html_raw(html, "<div class=\"warn\">registered again after the run: this may not "
                       "be what it ran on</div>");
    html_raw(html, "</td><td>");
    html_textf(html, "%s, Linux %s", json_get_str(inventory, "os", "?"),
               json_get_str(inventory, "kernel", "?"));
    html_raw(html, "</td><td>");
    html_textf(html, "%s, %lld cores", json_get_str(cpu, "model", "?"),
               (long long)json_get_int(cpu, "cores", 0));
    html_raw(html, "</td>");
    put_memory(html, inventory);
    put_backends(report, inventory);
    html_element(html, "td", NULL, json_get_str(node, "version", ""));
}

static void put_node(const struct report *report, const json_t *placed)
{
    struct html *html = report->html;
    const char *name = json_get_str(placed, "name", "?");
    const json_t *node = known_node(report->facts, name);

    html_raw(html, "<tr><th scope=\"row\">");
    html_text(html, name);
    html_raw(html, "</th>");
    put_integer(html, json_get_int(placed, "ranks", 0));
    if (node)
        put_known_node(report, node);
    else
        html_raw(html, "<td colspan=\"7\" class=\"muted\">the server does not know this "
                       "node any more</td>");
    html_raw(html, "</tr>\n");
}

/* What carried the bytes, as the ranks said when they had connected. */
static char *transport_text(json_t *transport)
{
    json_t *seen, *value;
    const char *peer;
    struct buf text;

    if (json_is_string(transport))
        return strdup(json_string_value(transport));
    seen = json_object();
    buf_init(&text, (size_t)1 << 16);
    json_object_foreach(transport, peer, value)
    {
        const char *name = json_is_string(value) ? json_string_value(value) : "?";

        if (json_object_get(seen, name))
            continue;
        json_object_set_new(seen, name, json_true());
        buf_printf(&text, "%s%s", text.len ? ", " : "", name);
    }
    json_decref(seen);
    return buf_detach(&text, NULL);
}

static void put_transports(const struct report *report)
{
    json_t *counts = json_object(), *event, *count;
    struct html *html = report->html;
    const char *text;
    size_t i;

    json_array_foreach(report->facts->connected, i, event)
    {
        char *key = transport_text(json_object_get(event, "transport"));

        if (key)
            json_object_set_new(counts, key,
                                json_integer(json_get_int(counts, key, 0) + 1));
        free(key);
    }
    if (json_object_size(counts) > 0) {
        html_raw(html, "<p>What carried the bytes, as the ranks of all cases said when "
                       "they had connected:</p><ul>");
        json_object_foreach(counts, text, count)
        {
            html_raw(html, "<li>");
            html_textf(html, "%s: %lld", text, (long long)json_integer_value(count));
            html_raw(html, "</li>");
        }
        html_raw(html, "</ul>\n");
    }
    if (report->facts->connected_left_out > 0)
        html_rawf(html, "<p>%llu more ranks are left out.</p>\n",
                  (unsigned long long)report->facts->connected_left_out);
    json_decref(counts);
}

void section_nodes(const struct report *report)
{
    static const char *const names[] = {"node",   "#ranks", "address",      "host",
                                        "system", "CPU",    "#memory, GiB", "devices",
                                        "agent",  NULL};
    const json_t *nodes = json_object_get(report->facts->run, "nodes");
    json_t *placed;
    size_t i;

    if (json_array_size(nodes) == 0)
        return;
    html_raw(report->html, "<section><h2>Nodes</h2>\n<p class=\"muted\">As the server "
                           "knew them when this file was made. All that it knew stands "
                           "in the data of this file.</p>\n");
    put_table(report->html, "Nodes", NULL, names);
    json_array_foreach(nodes, i, placed)
    {
        put_node(report, placed);
    }
    end_table(report->html);
    put_transports(report);
    html_raw(report->html, "</section>\n");
}

/* JSON with a line for each member, so that lists of sizes stay short. */
static void put_json_block(struct html *html, json_t *object)
{
    const char *name, *separator = "{";
    json_t *value;

    html_raw(html, "<pre>");
    json_object_foreach(object, name, value)
    {
        char *text = json_dumps(value, JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
        json_t *key = json_string(name);
        char *key_text = json_dumps(key, JSON_ENCODE_ANY);

        html->is_failed = html->is_failed || !text || !key_text;
        html_textf(html, "%s\n  %s: %s", separator, key_text ? key_text : "",
                   text ? text : "");
        separator = ",";
        json_decref(key);
        free(key_text);
        free(text);
    }
    html_raw(html, "\n}</pre>");
}

void section_spec(const struct report *report)
{
    struct html *html = report->html;
    json_t *spec = json_object_get(report->facts->run, "spec");
    json_t *env = json_object_get(spec, "env");

    if (!spec)
        return;
    html_raw(html, "<section><h2>Environment</h2>\n");
    if (json_object_size(env) > 0) {
        html_raw(html, "<p>Variables that the run set for every rank");
        html_raw(html, json_object_get(spec, "matrix")
                           ? ", beside those of its cases above:</p>\n"
                           : ":</p>\n");
        put_env(html, env);
    } else {
        html_raw(html, "<p>The run set no variables for all of its ranks.</p>\n");
    }
    html_raw(html,
             "<p class=\"muted\">Whatever else applied came from the environment of "
             "each node's agent.</p></section>\n"
             "<section><h2>Spec</h2>\n<p class=\"muted\">What was asked for, with "
             "every default filled in: posted again, it asks for the same.</p>\n");
    put_json_block(html, spec);
    html_raw(html, "</section>\n");
}

static void put_meaning(struct html *html, const char *name, const char *text)
{
    html_element(html, "dt", NULL, name);
    html_element(html, "dd", NULL, text);
}

static void put_factors(const struct report *report)
{
    static const char *const names[] = {"collective", "factor", "#here", NULL};
    const json_t *spec = json_object_get(report->facts->run, "spec");
    const json_t *split = json_object_get(spec, "split");
    int n = (int)json_get_int(report->facts->run, "world_size", 0);

    /* Rows of groups have the factor of their own group's size. */
    if (split && strcmp(json_get_str(spec, "split", ""), "none") != 0) {
        html_raw(report->html, "<p>The ranks were split into groups: n is the number of "
                               "ranks of a row's own group.</p>\n");
        n = 0;
    }

    put_table(report->html, "Bus factors", NULL, names);
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        html_raw(report->html, "<tr><th scope=\"row\">");
        html_text(report->html, collective_name((enum collective_kind)kind));
        html_raw(report->html, "</th>");
        html_element(report->html, "td", NULL,
                     collective_facts((enum collective_kind)kind)->factor->formula);
        if (n > 0)
            put_figure(report->html, collective_bus_factor((enum collective_kind)kind, n),
                       4);
        else
            html_raw(report->html, "<td></td>");
        html_raw(report->html, "</tr>\n");
    }
    end_table(report->html);
}

void section_meaning(const struct report *report)
{
    struct html *html = report->html;

    html_raw(html, "<section><h2>What the numbers mean</h2>\n<dl class=\"meanings\">");
    put_meaning(html, "time",
                "How long one call takes: the wall time of the timed calls over their "
                "number, as the mean over the ranks; min and max are the fastest and the "
                "slowest rank. In a collective that synchronises, the rank that comes "
                "late has the shortest time, since the others wait for it.");
    put_meaning(html, "first",
                "The very first call of this series and size, on the "
                "slowest rank. It includes what is done once, and is never "
                "part of the time.");
    put_meaning(html, "algbw",
                "Algorithm bandwidth: size over time. How fast the "
                "operation looks to the program; it falls as ranks are "
                "added.");
    put_meaning(html, "busbw",
                "Bus bandwidth: algbw times the factor below, as nccl-tests defines it. "
                "It estimates what each rank's link carries when the operation is done "
                "optimally on a flat fabric, so it can be held against a link's rate and "
                "compared between collectives and numbers of ranks. It is a re-scaling, "
                "no measurement of wires.");
    put_meaning(html, "size",
                "Bytes of the larger of the send and the receive buffer of "
                "a rank, after rounding to whole elements for each rank. K, "
                "M and G are powers of 1024; GB/s are 1,000,000,000 bytes "
                "in a second.");
    put_meaning(html, "in place",
                "Send and receive buffer are one. Out of place, the "
                "result goes to a buffer of its own.");
    put_meaning(html, "wrong",
                "Elements that differ from what they must be, over all "
                "ranks, checked outside of the timed calls. A dash: not "
                "checked.");
    html_raw(html, "</dl>\n<h3>Factor from algbw to busbw, for n ranks</h3>\n");
    put_factors(report);
    html_raw(html, "</section>\n");
}
