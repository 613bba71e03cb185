/* nccl_log.c - NCCL's own log that a job printed */
#include "server/import/nccl_log.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/ncclog/ncclog_set.h"
#include "common/ncclog/pattern.h"
#include "server/analysis/transport.h"

#define PORTS_MAX 64
#define PROCESSES_MAX 4096
#define LINE_SIZE 200

/* "mlx5_0 port 1 ==> ens13np0 (Up)" */
static void take_port(json_t *ports, const char *line, size_t len)
{
    char text[LINE_SIZE];
    struct pieces pieces;
    const struct piece *at = &pieces.at[1];
    json_t *port;

    if (len >= sizeof(text) || !memmem(line, len, " ==> ", 5) ||
        json_array_size(ports) == PORTS_MAX)
        return;
    memcpy(text, line, len);
    text[len] = '\0';
    if (!pattern_fits("*$ port # ==> $ ($)", text, &pieces))
        return;
    port = json_pack("{s:o, s:i, s:o, s:s}", "name",
                     clean_text_json(at[0].text, at[0].len), "port", (int)at[1].number,
                     "netdev", clean_text_json(at[2].text, at[2].len), "state",
                     at[3].text[0] == 'U' ? "active" : "down");
    for (size_t i = 0; i < json_array_size(ports); i++)
        if (json_equal(json_array_get(ports, i), port)) {
            json_decref(port);
            return;
        }
    json_array_append_new(ports, port);
}

/* The place of a host among the nodes; a new one when it is not there. */
static size_t place_of(struct transport_node *nodes, size_t *n, const char *host)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(nodes[i].name, host) == 0)
            return i;
    nodes[*n] = (struct transport_node){.name = host};
    return (*n)++;
}

/* logs: by their places in the set. */
static json_t *fold(const struct ncclog_set *set, const json_t *logs,
                    const json_t *inventory)
{
    struct transport_node *nodes = calloc(set->n, sizeof(*nodes));
    struct transport_input input = {.nodes = nodes, .mark = " (imported)"};
    struct transport *transport;
    json_t *out;

    for (size_t i = 0; nodes && i < set->n; i++) {
        size_t place = place_of(nodes, &input.n_nodes, set->items[i]->host);

        if (json_get_int(json_array_get(logs, i), "rank", -1) == 0)
            nodes[place].inventory = inventory;
    }
    transport = nodes ? transport_create(input.n_nodes, set->n, NULL) : NULL;
    for (size_t i = 0; transport && i < set->n; i++) {
        size_t place = place_of(nodes, &input.n_nodes, set->items[i]->host);
        struct transport_speaker speaker = {(int)i, (int)place, nodes[place].inventory};

        if (json_is_object(json_array_get(logs, i)))
            transport_take(transport, &speaker, json_array_get(logs, i));
    }
    out = transport_fold(transport, &input);
    transport_destroy(transport);
    free(nodes);
    return out;
}

/* ports: of the node of rank 0. */
static json_t *fold_set(const struct ncclog_set *set, json_t *ports)
{
    json_t *inventory =
        json_array_size(ports) > 0 ? json_pack("{s:O}", "rdma", ports) : NULL;
    json_t *logs = json_array(), *out;

    for (size_t i = 0; i < set->n; i++) {
        json_t *log = ncclog_set_json(set, i);

        json_array_append_new(logs, log ? log : json_null());
    }
    out = fold(set, logs, inventory);
    json_decref(inventory);
    json_decref(logs);
    return out;
}

json_t *nccl_log_read(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    json_t *ports = json_array(), *out = NULL;
    struct ncclog_set set;

    ncclog_set_init(&set, PROCESSES_MAX);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);

        ncclog_set_line(&set, at, length);
        take_port(ports, at, length);
        at += length + 1;
    }
    if (set.n > 0)
        out = fold_set(&set, ports);
    ncclog_set_release(&set);
    json_decref(ports);
    return out;
}
