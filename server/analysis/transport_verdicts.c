/* transport_verdicts.c - what speaks against the ways that were taken */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/ncclog/ncclog.h"
#include "server/analysis/nccl_hca.h"
#include "server/analysis/transport_host.h"
#include "server/analysis/transport_kind.h"
#include "server/analysis/verdict.h"

#define NODES_NAMED 4
#define LINES_QUOTED 4
#define WHAT_MAX 600
#define FINDINGS_MAX 64

/* What was found, each sentence once with the nodes that it holds for. */
struct findings {
    const struct transport_input *input;
    json_t *all;    /* [{"about","what","nodes":[place],"log":[line]}] */
    bool *receives; /* by GPUDirect, by node; NULL when memory is out */
};

/* One node's log. */
struct said {
    const struct transport_node *node;
    int place;
    const json_t *log, *settings, *ways;
};

static json_t *finding_of(struct findings *findings, const char *about, const char *what)
{
    json_t *new;

    for (size_t i = 0; i < json_array_size(findings->all); i++) {
        json_t *one = json_array_get(findings->all, i);

        if (strcmp(json_get_str(one, "what", ""), what) == 0)
            return one;
    }
    if (json_array_size(findings->all) == FINDINGS_MAX)
        return NULL;
    new = json_pack("{s:s, s:o, s:[], s:[]}", "about", about, "what",
                    json_clean_string(what), "nodes", "log");
    json_array_append_new(findings->all, new);
    return new;
}

/* Logs come by node. */
static void append_node(json_t *nodes, int place)
{
    size_t n = json_array_size(nodes);

    if (n == 0 || json_integer_value(json_array_get(nodes, n - 1)) != place)
        json_array_append_new(nodes, json_integer(place));
}

static void append_line(json_t *lines, const char *line)
{
    json_t *text = json_clean_string(line);
    bool has_it = json_array_size(lines) == LINES_QUOTED;

    for (size_t i = 0; i < json_array_size(lines); i++)
        has_it = has_it || json_equal(json_array_get(lines, i), text);
    if (!has_it)
        json_array_append(lines, text);
    json_decref(text);
}

/* line: of the log that says so, or NULL. */
__attribute__((format(printf, 5, 6))) static void found(struct findings *findings,
                                                        const char *about, int place,
                                                        const char *line,
                                                        const char *format, ...)
{
    char what[WHAT_MAX];
    json_t *one;
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    one = finding_of(findings, about, what);
    if (place >= 0)
        append_node(json_object_get(one, "nodes"), place);
    if (line)
        append_line(json_object_get(one, "log"), line);
}

static bool read_said(const struct transport_input *input, size_t i, struct said *said)
{
    const json_t *item = json_array_get(input->logs, i);
    int64_t place = json_get_int(item, "node", -1);

    if (place < 0 || place >= (int64_t)input->n_nodes)
        return false;
    said->place = (int)place;
    said->node = &input->nodes[place];
    said->log = json_object_get(item, "log");
    said->settings = json_object_get(said->log, "settings");
    said->ways = json_object_get(said->log, "transports");
    return true;
}

static const char *reason_about(const json_t *log, const char *about)
{
    const json_t *reasons = json_object_get(log, "reasons");

    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *one = json_array_get(reasons, i);

        if (strcmp(json_get_str(one, "about", ""), about) == 0)
            return json_get_str(one, "text", "");
    }
    return NULL;
}

static bool is_via(const json_t *way, const char *via)
{
    return strcmp(json_get_str(way, "via", ""), via) == 0;
}

/* ---- sockets where there could be more ---- */

/* "IP over InfiniBand ib0"; where nothing is connected yet of the first interface. */
static void say_sockets(const struct said *said, char *out, size_t size)
{
    const char *name = NULL;

    for (size_t i = 0; !name && i < json_array_size(said->ways); i++)
        if (is_via(json_array_get(said->ways, i), "NET/Socket"))
            name = json_get_str(json_array_get(said->ways, i), "name", NULL);
    if (!name)
        name = json_get_str(json_array_get(json_object_get(said->log, "interfaces"), 0),
                            "name", NULL);
    if (name)
        snprintf(out, size, "%s %s",
                 transport_kind_text(transport_net_kind(said->node, name)), name);
    else
        snprintf(out, size, "sockets");
}

static bool is_active(const json_t *port)
{
    return strcasecmp(json_get_str(port, "state", ""), "active") == 0;
}

static bool is_listed(const char *value, const json_t *port, bool is_whole)
{
    return nccl_hca_has(value, json_get_str(port, "name", ""),
                        (int)json_get_int(port, "port", 1), is_whole);
}

static bool is_wanted(const char *hca, const json_t *port)
{
    return nccl_hca_allows(hca, json_get_str(port, "name", ""),
                           (int)json_get_int(port, "port", 1));
}

/* The first that NCCL_IB_HCA lets NCCL take. */
static const json_t *active_port(const struct transport_node *node, const char *hca)
{
    const json_t *ports = json_object_get(node->inventory, "rdma");

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        if (is_active(port) && is_wanted(hca, port))
            return port;
    }
    return NULL;
}

/* What NCCL_IB_HCA names, `name` first, where it is known. */
static bool explain_hca(const struct transport_node *node, const char *hca,
                        const char *name, char *out, size_t size)
{
    const json_t *ports = json_object_get(node->inventory, "rdma");

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);
        const char *device = json_get_str(port, "name", "?");

        if (is_listed(hca, port, false) && !is_active(port))
            snprintf(out, size, "%s is %s", device, json_get_str(port, "state", "?"));
        else if (strcmp(json_get_str(port, "netdev", ""), name) == 0)
            snprintf(out, size, "%s is the network interface of %s", name, device);
        else
            continue;
        return true;
    }
    return false;
}

static bool is_interface(const struct said *said, const char *name)
{
    const json_t *list = json_object_get(said->log, "interfaces");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_get_str(json_array_get(list, i), "name", ""), name) == 0)
            return true;
    return false;
}

static void check_hca(struct findings *findings, const struct said *said,
                      const char *value, const char *sockets)
{
    const char *line = reason_about(said->log, "ib");
    bool is_exact = *value == '=';
    char name[64], why[200] = "";

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(value + is_exact, ":,"),
             value + is_exact);
    for (size_t i = 0; !why[0] && i < findings->input->n_nodes; i++)
        explain_hca(&findings->input->nodes[i], value, name, why, sizeof(why));
    if (!why[0] && is_interface(said, name))
        snprintf(why, sizeof(why), "%s is a network interface", name);
    found(findings, "no_rdma", said->place, line,
          "NCCL_IB_HCA=%.100s names no active RDMA port%s%s%s: %s", value,
          why[0] ? " (" : "", why, why[0] ? ")" : "", sockets);
}

static void check_sockets(struct findings *findings, const struct said *said)
{
    const char *disabled = json_get_str(said->settings, "NCCL_IB_DISABLE", "0");
    const char *hca = json_get_str(said->settings, "NCCL_IB_HCA", "");
    const char *net = json_get_str(said->settings, "NCCL_NET", "");
    const json_t *port = active_port(said->node, hca);
    char sockets[120], beside[100] = "";

    if (strcmp(json_get_str(said->log, "network", ""), "Socket") != 0 ||
        json_get_int(said->log, "nodes", 2) < 2)
        return;
    say_sockets(said, sockets, sizeof(sockets));
    if (port)
        snprintf(beside, sizeof(beside), ", while %.60s is active",
                 json_get_str(port, "name", "?"));
    if (atoi(disabled) != 0)
        found(findings, "no_rdma", said->place, NULL, "NCCL_IB_DISABLE=%.20s: %s%s",
              disabled, sockets, beside);
    else if (strcasecmp(net, "Socket") == 0)
        found(findings, "no_rdma", said->place, NULL, "NCCL_NET=%.20s: %s%s", net,
              sockets, beside);
    else if (port)
        found(findings, "no_rdma", said->place, reason_about(said->log, "ib"),
              "NCCL took no RDMA device, though %s is active: %s",
              json_get_str(port, "name", "?"), sockets);
    else if (*hca && *hca != '^')
        check_hca(findings, said, hca, sockets);
    else if (active_port(said->node, ""))
        found(findings, "no_rdma", said->place, reason_about(said->log, "ib"),
              "NCCL_IB_HCA=%.100s excludes every active RDMA port: %s", hca, sockets);
}

/* ---- ports ---- */

static void port_key(const json_t *port, char *out, size_t size)
{
    snprintf(out, size, "%.60s:%d", json_get_str(port, "name", "?"),
             (int)json_get_int(port, "port", 1));
}

/* By port, on how many nodes it is active. */
static json_t *count_active(const struct transport_input *input)
{
    json_t *counts = json_object();
    char key[80];

    for (size_t i = 0; i < input->n_nodes; i++) {
        const json_t *ports = json_object_get(input->nodes[i].inventory, "rdma");

        for (size_t k = 0; k < json_array_size(ports); k++) {
            port_key(json_array_get(ports, k), key, sizeof(key));
            if (is_active(json_array_get(ports, k)))
                json_object_set_new(counts, key,
                                    json_integer(json_get_int(counts, key, 0) + 1));
        }
    }
    return counts;
}

/* A card may lie unused: a port counts that was asked for by its name, or that most
 * others use. */
static void check_ports(struct findings *findings, int place, const char *hca,
                        const json_t *counts)
{
    const struct transport_input *input = findings->input;
    const json_t *ports = json_object_get(input->nodes[place].inventory, "rdma");
    char key[80];

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        port_key(port, key, sizeof(key));
        if (strcasecmp(json_get_str(port, "state", ""), "down") == 0 &&
            is_wanted(hca, port) &&
            ((*hca != '^' && is_listed(hca, port, true)) ||
             2 * json_get_int(counts, key, 0) > (int64_t)input->n_nodes - 1))
            found(findings, "port_down", place, NULL, "%s is DOWN",
                  json_get_str(port, "name", "?"));
    }
}

static void check_all_ports(struct findings *findings, const json_t *folded)
{
    const struct transport_input *input = findings->input;
    const char *hca = json_get_str(json_object_get(folded, "settings"), "NCCL_IB_HCA",
                                   json_get_str(input->env, "NCCL_IB_HCA", ""));
    json_t *counts = count_active(input);

    for (size_t i = 0; i < input->n_nodes; i++)
        check_ports(findings, (int)i, hca, counts);
    json_decref(counts);
}

/* ---- GPUDirect ---- */

static bool is_word_of(const char *words, const char *name, size_t len)
{
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == len && strncasecmp(at, name, len) == 0)
            return true;
    return false;
}

/* Nearer than NCCL's own, which is PXB; as words or as numbers. */
static bool is_restricted(const char *level)
{
    return is_word_of("loc nvl nvb c2c pix 0 1", level, strlen(level));
}

static bool receives_by_gdr(const struct said *said)
{
    for (size_t i = 0; i < json_array_size(said->ways); i++) {
        const json_t *way = json_array_get(said->ways, i);

        if (json_get_bool(way, "gdr", false) && json_object_get(way, "from") &&
            ncclog_is_of_ib(json_get_str(way, "via", "")))
            return true;
    }
    return false;
}

/* By node, once for all logs: each of thousands would look through all of them. */
static bool *find_receivers(const struct transport_input *input)
{
    bool *receives = calloc(input->n_nodes + 1, sizeof(*receives));
    struct said said;

    for (size_t i = 0; receives && i < json_array_size(input->logs); i++)
        if (read_said(input, i, &said))
            receives[said.place] = receives[said.place] || receives_by_gdr(&said);
    return receives;
}

/* Of GPUs before sm80 without NVLink NCCL reads host memory to send, and writes to the
 * GPU's when it receives, which another process of the node may do (NCCL,
 * src/graph/paths.cc, ncclTopoCheckGdr). */
static bool only_sends(const struct findings *findings, const struct said *said,
                       const json_t *way)
{
    return !json_object_get(way, "from") && findings->receives &&
           findings->receives[said->place] &&
           !json_get_str(said->settings, "NCCL_NET_GDR_READ", NULL);
}

static void check_gdr(struct findings *findings, const struct said *said)
{
    const char *support = reason_about(said->log, "gdr_support");
    const char *distance = reason_about(said->log, "gdr_distance");
    const char *level = json_get_str(said->settings, "NCCL_NET_GDR_LEVEL", "");
    const json_t *modules = json_object_get(said->node->inventory, "modules");
    bool is_missing = json_is_object(modules) &&
                      !json_object_get(modules, "nvidia_peermem") &&
                      !json_object_get(modules, "nv_peer_mem");

    for (size_t i = 0; i < json_array_size(said->ways); i++) {
        const json_t *way = json_array_get(said->ways, i);
        const char *name = json_get_str(way, "name", "its HCA");

        if (!ncclog_is_of_ib(json_get_str(way, "via", "")) ||
            json_get_bool(way, "gdr", false) || only_sends(findings, said, way))
            continue;
        if (support)
            found(findings, "no_gdr", said->place, support,
                  "GPUDirect is off over %s: %s", name,
                  is_missing ? "nvidia_peermem is not loaded"
                             : "NCCL finds neither nvidia_peermem nor DMA-BUF");
        else if (distance)
            found(findings, "no_gdr", said->place, distance,
                  "GPUDirect is off over %s: it is too far from the GPU %s", name,
                  distance + strcspn(distance, "("));
        else if (is_missing)
            found(findings, "no_gdr", said->place, NULL,
                  "GPUDirect is off over %s: nvidia_peermem is not loaded", name);
        else if (strcmp(json_get_str(said->settings, "NCCL_NET_GDR_READ", ""), "0") ==
                     0 &&
                 !json_object_get(way, "from"))
            found(findings, "no_gdr", said->place, NULL,
                  "GPUDirect is off over %s to send: NCCL_NET_GDR_READ=0", name);
        else if (is_restricted(level))
            found(findings, "no_gdr", said->place, NULL,
                  "GPUDirect is off over %s: NCCL_NET_GDR_LEVEL=%s", name, level);
        else
            found(findings, "no_gdr", said->place, NULL,
                  "GPUDirect is off over %s (the log does not say why)", name);
    }
}

/* ---- settings ---- */

/* Names that no version knows are passed over without a word. */
static void check_words(struct findings *findings, const struct said *said,
                        const char *setting, const char *words)
{
    const char *value = json_get_str(said->settings, setting, "");

    for (const char *at = value; *at; at += strspn(at, ",;:^ ")) {
        size_t len = strcspn(at, ",;:^ ");

        if (len > 0 && !is_word_of(words, at, len)) {
            found(findings, "setting", said->place, NULL, "%s=%.100s: NCCL knows no %.*s",
                  setting, value, (int)(len < 60 ? len : 60), at);
            return;
        }
        at += len;
    }
}

static void check_reasons(struct findings *findings, const struct said *said)
{
    const json_t *reasons = json_object_get(said->log, "reasons");

    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *one = json_array_get(reasons, i);

        if (strcmp(json_get_str(one, "about", ""), "setting") == 0)
            found(findings, "setting", said->place, json_get_str(one, "text", ""),
                  "a setting had no effect: %s", json_get_str(one, "text", ""));
    }
}

static void check_settings(struct findings *findings, const struct said *said)
{
#define FUNCTIONS " broadcast reduce allgather reducescatter allreduce"
    check_words(
        findings, said, "NCCL_ALGO",
        "tree ring collnet collnetdirect collnetchain nvls nvlstree pat" FUNCTIONS);
    check_words(findings, said, "NCCL_PROTO", "ll ll128 simple" FUNCTIONS);
    check_reasons(findings, said);
}

/* NCCL says of a variable that it takes it when it looks it up; some it does not tell. */
static bool is_told(const char *name)
{
    static const char *const silent[] = {"NCCL_DEBUG", "NCCL_CONF",   "NCCL_NET",
                                         "NCCL_RAS",   "NCCL_NVTX",   "NCCL_PROFILE",
                                         "NCCL_TUNER", "NCCL_HOSTID", "NCCL_NET_PLUGIN"};

    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        size_t len = strlen(silent[i]);

        if (strncmp(name, silent[i], len) == 0 &&
            (name[len] == '\0' || (name[len] == '_' && i != 2)))
            return false;
    }
    return strncmp(name, "NCCL_", 5) == 0;
}

/* With a setting in the log at all it is known that they are logged. */
static void check_unread(struct findings *findings, const json_t *folded)
{
    json_t *settings = json_object_get(folded, "settings"), *value;
    const char *name;

    if (json_object_size(settings) == 0)
        return;
    json_object_foreach (findings->input->env, name, value) {
        if (json_is_string(value) && is_told(name) && !json_object_get(settings, name))
            found(findings, "setting", -1, NULL,
                  "%s=%.100s was set, and NCCL's log does not mention it", name,
                  json_string_value(value));
    }
}

/* ---- who differs, and who failed ---- */

static bool goes_by_sockets(const json_t *log)
{
    return strcmp(json_get_str(log, "network", ""), "Socket") == 0;
}

/* The network of most logs, "NET/IB" for instance; NULL where that is sockets or none. */
static const char *usual_network(const struct transport_input *input)
{
    size_t n = 0, n_logs = json_array_size(input->logs);
    const char *usual = NULL;

    for (size_t i = 0; i < n_logs; i++) {
        const json_t *log = json_object_get(json_array_get(input->logs, i), "log");
        const char *network = json_get_str(log, "network", NULL);

        n += network && !goes_by_sockets(log);
        usual = network && !goes_by_sockets(log) ? network : usual;
    }
    return 2 * n > n_logs ? usual : NULL;
}

static void check_odd(struct findings *findings, const struct said *said,
                      const char *usual)
{
    if (usual && goes_by_sockets(said->log))
        found(findings, "odd_node", said->place, NULL,
              "by sockets, while most go by NET/%.60s", usual);
}

static void check_init(struct findings *findings, const struct said *said)
{
    const char *warning = json_get_str(said->log, "warning", NULL);
    const char *name = json_get_str(said->settings, "NCCL_SOCKET_IFNAME", NULL);
    bool is_ended = strcmp(json_get_str(said->log, "init", ""), "complete") == 0;

    if (!warning || (is_ended && !json_get_bool(said->log, "late_warning", false)))
        return;
    if (is_ended)
        found(findings, "warning", said->place, warning, "NCCL warned after its init: %s",
              warning);
    else if (name && strstr(warning, "no socket interface"))
        found(
            findings, "init", said->place, warning,
            "NCCL's init failed: NCCL_SOCKET_IFNAME=%.60s names no interface that is up",
            name);
    else
        found(findings, "init", said->place, warning, "NCCL's init failed: %s", warning);
}

/* Sockets of the host backend, its own or UCX's, where there is RDMA that UCX could take
 * and nobody asked for sockets. */
static void check_host(struct findings *findings, const struct said *said)
{
    const json_t *port = active_port(said->node, "");

    if (!port || findings->input->host->transport == HOST_TRANSPORT_TCP)
        return;
    for (size_t i = 0; i < json_array_size(said->ways); i++) {
        const json_t *way = json_array_get(said->ways, i);
        const char *name = json_get_str(way, "name", "?");
        bool is_ucx = is_via(way, "ucx/tcp");

        if (is_ucx || is_via(way, "tcp"))
            found(findings, "no_rdma", said->place, NULL, "%s%s %s, while %s is active",
                  is_ucx ? "UCX goes by " : "",
                  transport_kind_text(transport_net_kind(said->node, name)), name,
                  json_get_str(port, "name", "?"));
    }
}

static bool is_network(const struct transport_input *input, const json_t *way)
{
    return input->host ? transport_host_leaves(way)
                       : strncmp(json_get_str(way, "via", ""), "NET/", 4) == 0;
}

static bool crosses_nodes(const struct transport_input *input, const json_t *folded)
{
    const json_t *ways = json_object_get(folded, "ways");

    for (size_t i = 0; i < json_array_size(ways); i++)
        if (is_network(input, json_array_get(ways, i)))
            return true;
    return false;
}

static void look(struct findings *findings, const json_t *folded)
{
    const struct transport_input *input = findings->input;
    const char *usual = usual_network(input);
    size_t n = json_array_size(input->logs);
    struct said said;

    for (size_t i = 0; i < n; i++) {
        if (!read_said(input, i, &said))
            continue;
        if (input->host) {
            check_host(findings, &said);
            continue;
        }
        check_init(findings, &said);
        check_odd(findings, &said, usual);
        check_sockets(findings, &said);
        check_gdr(findings, &said);
        check_settings(findings, &said);
    }
    if (!input->host && crosses_nodes(input, folded))
        check_all_ports(findings, folded);
    check_unread(findings, folded);
}

/* ---- as verdicts ---- */

/* " on node-1, node-2 and 3 more": nothing where it is of no node. */
static json_t *name_nodes(const struct findings *findings, const json_t *places,
                          struct buf *out)
{
    size_t n = json_array_size(places);
    json_t *names = json_array();

    for (size_t i = 0; i < n; i++) {
        size_t place = (size_t)json_integer_value(json_array_get(places, i));
        json_t *name = json_clean_string(findings->input->nodes[place].name);

        if (i < NODES_NAMED)
            buf_printf(out, "%s%s", i == 0 ? "" : ", ", json_string_value(name));
        json_array_append_new(names, name);
    }
    if (n > NODES_NAMED)
        buf_printf(out, " and %zu more", n - NODES_NAMED);
    return names;
}

static json_t *finding_verdict(const struct findings *findings, const json_t *one)
{
    const char *about = json_get_str(one, "about", ""),
               *what = json_get_str(one, "what", "");
    struct buf nodes, sentence;
    json_t *names, *verdict;

    buf_init(&nodes, 4096);
    buf_init(&sentence, 8192);
    names = name_nodes(findings, json_object_get(one, "nodes"), &nodes);
    if (strcmp(about, "odd_node") == 0)
        buf_printf(&sentence, "%s %s %s", nodes.data ? nodes.data : "",
                   json_array_size(names) == 1 ? "goes" : "go", what);
    else
        buf_printf(&sentence, "%s%s%s", what, nodes.len ? " on " : "",
                   nodes.data ? nodes.data : "");
    verdict = verdict_json(VERDICT_TRANSPORT, VERDICT_FINDING,
                           sentence.data ? sentence.data : what, findings->input->mark,
                           json_pack("{s:s, s:o, s:O}", "about", about, "nodes", names,
                                     "log", json_object_get(one, "log")));
    buf_release(&nodes);
    buf_release(&sentence);
    return verdict;
}

/* Why there is no more than sockets, as the log says it. */
static void add_why(const struct transport_input *input, struct buf *sentence,
                    json_t *lines)
{
    for (size_t i = 0; i < json_array_size(input->logs); i++) {
        const json_t *log = json_object_get(json_array_get(input->logs, i), "log");
        const char *why = goes_by_sockets(log) ? reason_about(log, "ib") : NULL;

        if (why && json_array_size(lines) == 0)
            buf_printf(sentence, " (%.200s)", why);
        if (why)
            append_line(lines, why);
    }
}

/* The ways between nodes, else those inside of them. */
static json_t *good_verdict(const struct findings *findings, const json_t *folded)
{
    const json_t *ways = json_object_get(folded, "ways");
    const struct transport_input *input = findings->input;
    bool crosses = crosses_nodes(input, folded);
    json_t *verdict, *evidence;
    struct buf sentence;
    size_t n = 0;

    buf_init(&sentence, 8192);
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *way = json_array_get(ways, i);

        if (crosses && !is_network(input, way))
            continue;
        if (n++ < NODES_NAMED)
            buf_printf(&sentence, "%s%s",
                       n > 1         ? "; "
                       : input->host ? "ranks go by "
                                     : "NCCL goes by ",
                       json_get_str(way, "text", ""));
    }
    evidence = json_pack("{s:s, s:[], s:[]}", "about", "ways", "nodes", "log");
    add_why(input, &sentence, json_object_get(evidence, "log"));
    verdict = verdict_json(VERDICT_TRANSPORT, n ? VERDICT_OK : VERDICT_NOT_ENOUGH_DATA,
                           n && sentence.data ? sentence.data
                                              : "NCCL's log says nothing of its ways",
                           input->mark, evidence);
    buf_release(&sentence);
    return verdict;
}

json_t *transport_verdicts(const struct transport_input *input, const json_t *folded)
{
    struct findings findings = {input, json_array(), find_receivers(input)};
    json_t *verdicts = json_array();

    look(&findings, folded);
    for (size_t i = 0; i < json_array_size(findings.all); i++)
        json_array_append_new(
            verdicts, finding_verdict(&findings, json_array_get(findings.all, i)));
    if (json_array_size(verdicts) == 0)
        json_array_append_new(verdicts, good_verdict(&findings, folded));
    json_decref(findings.all);
    free(findings.receives);
    return verdicts;
}
