/* SPDX-License-Identifier: Apache-2.0 */
/* carried.c - decides if the nodes' network ports carried the bytes that a case's ranks
 * moved */
#include "server/analysis/carried.h"

#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/finding.h"

#define PORTS_MOST 48 /* per node; agents send no more ports */
/* Minimum size of a row in bytes; other traffic may exceed the bytes of smaller rows */
#define ROW_LEAST (INT64_C(1) << 20)
/* A call moves at least its size between nodes: with n nodes, (n - 1) / n of the size
 * leaves the nodes and as much enters them. A case makes many calls. Requiring only a
 * tenth of one call avoids false alarms where most ports have no readable counter. */
#define CALL_LEAST 0.1

/* Copy an agent's report about a port, or return NULL if it is invalid. */
static json_t *copy_port(const json_t *port)
{
    static const char *const kinds[] = {"infiniband", "roce", "efa", "net"};
    const char *kind = json_get_str(port, "kind", "");
    json_int_t sent = json_get_int(port, "sent_bytes", -1);
    json_int_t received = json_get_int(port, "received_bytes", -1);
    json_t *name = json_clean_string(json_get_str(port, "name", NULL));

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i]) == 0 && name && sent >= 0 && received >= 0)
            return json_pack("{s:s, s:o, s:I, s:I}", "kind", kind, "name", name,
                             "sent_bytes", sent, "received_bytes", received);
    json_decref(name);
    return NULL;
}

json_t *carried_ports(const json_t *ports)
{
    json_t *copy = json_is_array(ports) ? json_array() : NULL;

    for (size_t i = 0; i < json_array_size(ports) && i < PORTS_MOST; i++) {
        json_t *port = copy_port(json_array_get(ports, i));

        if (port)
            json_array_append_new(copy, port);
    }
    return copy;
}

static void begin_attempt(struct carried *carried, int64_t attempt)
{
    if (attempt != carried->attempt)
        *carried = (struct carried){.attempt = attempt};
}

void carried_add_node(struct carried *carried, const json_t *conditions)
{
    const json_t *ports = json_object_get(conditions, "ports"), *port;
    size_t i;

    begin_attempt(carried, json_get_int(conditions, "attempt", 0));
    if (!ports)
        return;
    carried->nodes++;
    json_array_foreach (ports, i, port)
        carried->bytes +=
            json_get_num(port, "sent_bytes", 0) + json_get_num(port, "received_bytes", 0);
}

void carried_add_row(struct carried *carried, int64_t attempt, int64_t size)
{
    begin_attempt(carried, attempt);
    if (size > carried->row_size)
        carried->row_size = size;
}

bool carried_is_little(const struct carried *carried, size_t n)
{
    return carried->nodes == n && carried->row_size >= ROW_LEAST &&
           carried->bytes < CALL_LEAST * (double)carried->row_size;
}

json_t *carried_verdict(const struct carried_case *cases, size_t n, const char *mark)
{
    struct finding finding;
    json_t *little = json_array();
    const struct carried_case *first = NULL;
    double bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += cases[i].bytes;
        if (!cases[i].is_little)
            continue;
        first = first ? first : &cases[i];
        json_array_append_new(little, json_integer((json_int_t)cases[i].number));
    }
    if (n == 0) {
        json_decref(little);
        return NULL;
    }
    finding = finding_begin();
    finding_put(&finding, "{s:I, s:f, s:o}", "cases", (json_int_t)n, "bytes", bytes,
                "without", little);
    if (first)
        finding_put(&finding, "{s:I, s:f, s:I, s:I}", "$case", (json_int_t)first->number,
                    "$bytes", first->bytes, "$size", (json_int_t)first->row_size,
                    "$others", (json_int_t)json_array_size(little) - 1);
    return finding_end(
        &finding, first ? MESSAGE_TRAFFIC_ANOTHER_WAY : MESSAGE_TRAFFIC_BY_NETWORK, mark);
}
