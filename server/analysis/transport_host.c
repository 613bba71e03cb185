/* transport_host.c - the ways of the host backend: its sockets, UCX, shared memory */
#include "server/analysis/transport_host.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/transport_kind.h"

/* UCX's transports by what their names begin with; of others it is not known. */
static const char *ucx_kind(const struct transport_node *node, const json_t *way,
                            const char *transport)
{
    static const char *const rdma[] = {"rc_", "dc_", "ud_"};
    static const char *const memory[] = {"sysv", "posix", "xpmem", "cma", "knem"};

    if (strcmp(transport, "tcp") == 0)
        return transport_net_kind(node, json_get_str(way, "name", ""));
    for (size_t i = 0; i < sizeof(rdma) / sizeof(rdma[0]); i++)
        if (strncmp(transport, rdma[i], strlen(rdma[i])) == 0)
            return transport_rdma_kind(node, way);
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        if (strcmp(transport, memory[i]) == 0)
            return "shm";
    return "other";
}

const char *transport_host_kind(const struct transport_node *node, const json_t *way)
{
    const char *via = json_get_str(way, "via", "");

    if (strcmp(via, "tcp") == 0)
        return transport_net_kind(node, json_get_str(way, "name", ""));
    if (strncmp(via, "ucx/", 4) == 0)
        return ucx_kind(node, way, via + 4);
    return strcmp(via, "shm") == 0 ? "shm" : strcmp(via, "ucx") == 0 ? "other" : NULL;
}

json_t *transport_host_text(const json_t *way)
{
    const char *via = json_get_str(way, "via", ""), *kind = json_get_str(way, "kind", "");
    const char *name = json_get_str(way, "name", ""), *what = transport_kind_text(kind);

    if (strcmp(via, "shm") == 0)
        return json_string(what);
    if (strcmp(via, "ucx") == 0)
        return json_string("UCX");
    if (strncmp(via, "ucx/", 4) == 0)
        return strcmp(kind, "shm") == 0
                   ? json_sprintf("%s, UCX %.60s", what, via + 4)
                   : json_sprintf("%s %.90s, UCX %.60s", what, name, via + 4);
    if (strcmp(via, "tcp") != 0)
        return NULL;
    return json_sprintf("%s %.90s, %ld per pair of ranks", what, name[0] ? name : "?",
                        (long)json_get_int(way, "sockets", 1));
}

bool transport_host_leaves(const json_t *way)
{
    return strcmp(json_get_str(way, "kind", ""), "shm") != 0;
}
