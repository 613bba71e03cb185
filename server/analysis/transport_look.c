/* SPDX-License-Identifier: Apache-2.0 */
/* transport_look.c - detects problems in the transports of one process, from its log */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog.h"
#include "server/analysis/nccl_hca.h"
#include "server/analysis/transport_kind.h"
#include "server/analysis/transport_state.h"

#define WHAT_MAX 600
#define FOUND_MAX 128 /* maximum number of findings per process */

struct look {
    struct transport *t;
    struct transport_report *report;
    struct transport_node node;
    const json_t *log, *settings, *ways;
    bool only_sends; /* the current transport is used only for sending */
};

/* Add a finding. line: the log line that proves the finding, or NULL. what: an object;
 * the function takes the reference. */
static void add_found(struct look *look, const char *line, json_t *what)
{
    struct transport_report *report = look->report;

    if (report->n_found < FOUND_MAX) {
        report->found =
            memory_grown(report->found, report->n_found, &report->found_capacity,
                         sizeof(*report->found), "what a process found");
        report->found[report->n_found++] =
            (struct transport_found){.what = transport_kept(look->t, what),
                                     .line = transport_kept_text(look->t, line),
                                     .unless_receives = look->only_sends};
    }
    json_decref(what);
}

__attribute__((format(printf, 4, 5))) static void
found(struct look *look, const char *about, const char *line, const char *format, ...)
{
    char what[WHAT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    add_found(look, line,
              json_pack("{s:s, s:o}", "about", about, "text", json_clean_string(what)));
}

static const char *reason_about(const json_t *log, const char *about)
{
    const json_t *reason = json_find(json_object_get(log, "reasons"), "about", about);

    return reason ? json_get_str(reason, "text", "") : NULL;
}

static bool is_via(const json_t *way, const char *via)
{
    return strcmp(json_get_str(way, "via", ""), via) == 0;
}

/* ---- Sockets despite RDMA ---- */

/* Describe the sockets in use, as in "IP over InfiniBand ib0". Before there is a
 * connection, use the first interface. */
static void say_sockets(const struct look *look, char *out, size_t size)
{
    const char *name = NULL;

    for (size_t i = 0; !name && i < json_array_size(look->ways); i++)
        if (is_via(json_array_get(look->ways, i), "NET/Socket"))
            name = json_get_str(json_array_get(look->ways, i), "name", NULL);
    if (!name)
        name = json_get_str(json_array_get(json_object_get(look->log, "interfaces"), 0),
                            "name", NULL);
    if (name)
        snprintf(out, size, "%s %s",
                 transport_kind_text(transport_net_kind(&look->node, name)), name);
    else
        snprintf(out, size, "sockets");
}

static bool is_active(const json_t *port)
{
    return strcasecmp(json_get_str(port, "state", ""), "active") == 0;
}

static bool is_wanted(const char *hca, const json_t *port)
{
    return nccl_hca_allows(hca, json_get_str(port, "name", ""),
                           (int)json_get_int(port, "port", 1));
}

/* Return the first active port that NCCL_IB_HCA allows. */
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

/* Report an NCCL_IB_HCA that matches no active port. explain_hca() later looks up the
 * name among the ports of all nodes. */
static void check_hca(struct look *look, const char *value, const char *sockets)
{
    bool is_exact = *value == '=', is_interface;
    char name[64], text[WHAT_MAX];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(value + is_exact, ":,"),
             value + is_exact);
    is_interface = json_find(json_object_get(look->log, "interfaces"), "name", name);
    snprintf(text, sizeof(text), "NCCL_IB_HCA=%.100s names no active RDMA port", value);
    add_found(look, reason_about(look->log, "ib"),
              json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "about", "no_rdma", "text",
                        json_clean_string(text), "hca", json_clean_string(value), "name",
                        json_clean_string(name), "rest", json_clean_string(sockets),
                        "is_interface", (int)is_interface));
}

static void check_sockets(struct look *look)
{
    const char *disabled = json_get_str(look->settings, "NCCL_IB_DISABLE", "0");
    const char *hca = json_get_str(look->settings, "NCCL_IB_HCA", "");
    const char *net = json_get_str(look->settings, "NCCL_NET", "");
    const json_t *port = active_port(&look->node, hca);
    const char *ib = reason_about(look->log, "ib");
    const char *plugin = reason_about(look->log, "plugin");
    char sockets[120], beside[100] = "";

    if (!look->report->by_sockets || !look->report->is_spread)
        return;
    say_sockets(look, sockets, sizeof(sockets));
    if (port)
        snprintf(beside, sizeof(beside), ", while %.60s is active",
                 json_get_str(port, "name", "?"));
    if (atoi(disabled) != 0)
        found(look, "no_rdma", reason_about(look->log, "NCCL_IB_DISABLE"),
              "NCCL_IB_DISABLE=%.20s: %s%s", disabled, sockets, beside);
    else if (strcasecmp(net, "Socket") == 0)
        found(look, "no_rdma", reason_about(look->log, "NCCL_NET"),
              "NCCL_NET=%.20s: %s%s", net, sockets, beside);
    else if (port)
        found(look, "no_rdma", reason_about(look->log, "ib"),
              "NCCL uses no RDMA device, although %s is active: %s",
              json_get_str(port, "name", "?"), sockets);
    else if (*hca && *hca != '^')
        check_hca(look, hca, sockets);
    else if (active_port(&look->node, ""))
        found(look, "no_rdma", reason_about(look->log, "ib"),
              "NCCL_IB_HCA=%.100s excludes every active RDMA port: %s", hca, sockets);
    else if (plugin)
        found(look, "no_rdma", plugin, "a network plugin could not be used: %s", sockets);
    else if (ib && strstr(ib, "libibverbs"))
        found(look, "no_rdma", ib, "libibverbs could not be opened: %s", sockets);
}

/* ---- GPUDirect ---- */

static bool is_word_of(const char *words, const char *name, size_t len)
{
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == len && strncasecmp(at, name, len) == 0)
            return true;
    return false;
}

/* Return true if the level is stricter than NCCL's default, PXB. The level is a word or a
 * number. */
static bool is_restricted(const char *level)
{
    return is_word_of("loc nvl nvb c2c pix 0 1", level, strlen(level));
}

static bool receives_by_gdr(const struct look *look)
{
    for (size_t i = 0; i < json_array_size(look->ways); i++) {
        const json_t *way = json_array_get(look->ways, i);

        if (json_get_bool(way, "gdr", false) && json_object_get(way, "from") &&
            ncclog_is_of_ib(json_get_str(way, "via", "")))
            return true;
    }
    return false;
}

/* Return true if the transport only sends. On GPUs before sm80 without NVLink, NCCL sends
 * from host memory but receives into GPU memory, perhaps in another process of the node
 * (NCCL, src/graph/paths.cc, ncclTopoCheckGdr). */
static bool only_sends(const struct look *look, const json_t *way)
{
    return !json_object_get(way, "from") &&
           !json_get_str(look->settings, "NCCL_NET_GDR_READ", NULL);
}

/* Return true if the log reports GPUDirect for this kind of transport, as it does for
 * NET/IB and the EFA plugin. Other plugins use other names. */
static bool can_have_gdr(const char *via)
{
    return ncclog_is_of_ib(via) || strstr(via, "Libfabric") || strstr(via, "OFI");
}

static void check_gdr(struct look *look)
{
    const char *support = reason_about(look->log, "gdr_support");
    const char *distance = reason_about(look->log, "gdr_distance");
    const char *level = json_get_str(look->settings, "NCCL_NET_GDR_LEVEL", "");
    const json_t *modules = json_object_get(look->node.inventory, "modules");
    bool is_missing = json_is_object(modules) &&
                      !json_object_get(modules, "nvidia_peermem") &&
                      !json_object_get(modules, "nv_peer_mem");

    for (size_t i = 0; i < json_array_size(look->ways); i++) {
        const json_t *way = json_array_get(look->ways, i);
        const char *via = json_get_str(way, "via", "");
        const char *name =
            json_get_str(way, "name", ncclog_is_of_ib(via) ? "its HCA" : via);

        if (!can_have_gdr(via) || json_get_bool(way, "gdr", false))
            continue;
        look->only_sends = only_sends(look, way);
        if (support)
            found(look, "no_gdr", support, "GPUDirect is off over %s: %s", name,
                  is_missing ? "nvidia_peermem is not loaded"
                             : "NCCL finds neither nvidia_peermem nor DMA-BUF");
        else if (distance)
            found(look, "no_gdr", distance,
                  "GPUDirect is off over %s: it is too far from the GPU %s", name,
                  distance + strcspn(distance, "("));
        else if (is_missing)
            found(look, "no_gdr", NULL,
                  "GPUDirect is off over %s: nvidia_peermem is not loaded", name);
        else if (strcmp(json_get_str(look->settings, "NCCL_NET_GDR_READ", ""), "0") ==
                     0 &&
                 !json_object_get(way, "from"))
            found(look, "no_gdr", reason_about(look->log, "NCCL_NET_GDR_READ"),
                  "GPUDirect is off over %s to send: NCCL_NET_GDR_READ=0", name);
        else if (is_restricted(level))
            found(look, "no_gdr", reason_about(look->log, "NCCL_NET_GDR_LEVEL"),
                  "GPUDirect is off over %s: NCCL_NET_GDR_LEVEL=%s", name, level);
        else
            add_found(look, NULL,
                      json_pack("{s:s, s:o, s:o}", "about", "no_gdr", "text",
                                json_sprintf("GPUDirect is off over %s (the log gives "
                                             "no reason)",
                                             name),
                                "device", json_clean_string(name)));
    }
    look->only_sends = false;
}

/* ---- Settings ---- */

/* Report words that no version of NCCL knows. NCCL ignores such words silently. */
static void check_words(struct look *look, const char *setting, const char *words)
{
    const char *value = json_get_str(look->settings, setting, "");

    for (const char *at = value; *at; at += strspn(at, ",;:^ ")) {
        size_t len = strcspn(at, ",;:^ ");

        if (len > 0 && !is_word_of(words, at, len)) {
            found(look, "setting", reason_about(look->log, setting),
                  "%s=%.100s: NCCL does not know %.*s", setting, value,
                  (int)(len < 60 ? len : 60), at);
            return;
        }
        at += len;
    }
}

static void check_reasons(struct look *look)
{
    const json_t *reasons = json_object_get(look->log, "reasons");

    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *one = json_array_get(reasons, i);

        if (strcmp(json_get_str(one, "about", ""), "setting") == 0)
            found(look, "setting", json_get_str(one, "text", ""),
                  "a setting had no effect: %s", json_get_str(one, "text", ""));
    }
}

static void check_settings(struct look *look)
{
#define FUNCTIONS " broadcast reduce allgather reducescatter allreduce"
    check_words(
        look, "NCCL_ALGO",
        "tree ring collnet collnetdirect collnetchain nvls nvlstree pat" FUNCTIONS);
    check_words(look, "NCCL_PROTO", "ll ll128 simple" FUNCTIONS);
    check_reasons(look);
}

/* ---- Warnings ---- */

/* Return the number of digits after a label such as "opcode=", or 0. These digits differ
 * between completions. */
static size_t operation_digits(const char *text, size_t *label)
{
    static const char *const labels[] = {"opcode=", "opcode ", "len=", "len "};

    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        *label = strlen(labels[i]);
        if (strncmp(text, labels[i], *label) == 0)
            return strspn(text + *label, "0123456789");
    }
    return 0;
}

void transport_strip_numbers(const char *text, char *out, size_t size)
{
    size_t n = 0;

    while (*text && n + 10 < size) {
        size_t digits, label;

        if (text[0] == '0' && text[1] == 'x' &&
            (digits = strspn(text + 2, "0123456789abcdefABCDEF")) > 3) {
            n += (size_t)snprintf(out + n, size - n, "0x*");
            text += 2 + digits;
        } else if (text[0] == '<' && (digits = strspn(text + 1, "0123456789")) > 0 &&
                   text[1 + digits] == '>') {
            text += 2 + digits;
        } else if ((digits = operation_digits(text, &label)) > 0) {
            n += (size_t)snprintf(out + n, size - n, "%.*s*", (int)label, text);
            text += label + digits;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = '\0';
}

/* Add one finding for a process's warnings, and quote all of them as log lines. */
static void found_warnings(struct look *look, const char *about, const char *before,
                           const json_t *first)
{
    const char *name = json_get_str(look->settings, "NCCL_SOCKET_IFNAME", NULL);
    const char *cause = ncclog_cause(first);
    char text[NCCLOG_TEXT_MAX];

    if (!cause)
        return;
    if (name && strstr(cause, "no socket interface"))
        snprintf(text, sizeof(text),
                 "NCCL_SOCKET_IFNAME=%.60s names no interface that is up", name);
    else
        transport_strip_numbers(cause, text, sizeof(text));
    for (size_t i = 0; i < json_array_size(first); i++)
        add_found(look, json_string_value(json_array_get(first, i)),
                  json_pack("{s:s, s:o, s:b}", "about", about, "text",
                            json_sprintf("%s: %s", before, text), "is_echo",
                            ncclog_is_echo(cause)));
}

static const json_t *warnings_of(const struct look *look, const char *key)
{
    return json_object_get(json_object_get(look->log, key), "first");
}

/* Return true if any of the process's communicators has this init state. */
static bool has_init(const struct look *look, enum transport_init init)
{
    for (size_t i = 0; i < look->report->n_members; i++)
        if (look->report->members[i].init == init)
            return true;
    return false;
}

/* Return true if init completed. In a log without INIT lines, rings show that init
 * completed. */
static bool is_ready(const struct look *look)
{
    return strcmp(json_get_str(look->log, "init", ""), "complete") == 0 ||
           json_array_size(json_object_get(look->log, "connected")) > 0;
}

/* Report a failed init, or early warnings. Only NCCL's own trace proves that init failed.
 * An earlier warning may be about an optional feature, so it is quoted only if the log
 * shows no progress. */
static void check_early(struct look *look)
{
    const char *init = json_get_str(look->log, "init", "");
    const json_t *first = warnings_of(look, "early_warnings");
    bool has_failed =
        strcmp(init, "failed") == 0 || has_init(look, TRANSPORT_INIT_FAILED);

    if (has_failed && json_array_size(first) == 0)
        found(look, "init", NULL, "NCCL's init failed without a warning in NCCL's log");
    else if (has_failed)
        found_warnings(look, "init", "NCCL's init failed", first);
    else if (!is_ready(look) && json_array_size(look->ways) == 0)
        found_warnings(look, "warning", "NCCL warned", first);
}

/* Report each cause of late warnings, with the warnings that follow from the cause. */
static void check_late(struct look *look)
{
    const json_t *first = warnings_of(look, "late_warnings");
    size_t n = json_array_size(first);

    for (size_t i = 0; i < n;) {
        json_t *some = json_array();

        do
            json_array_append(some, json_array_get(first, i));
        while (++i < n && ncclog_is_echo(json_string_value(json_array_get(first, i))));
        if (!ncclog_is_optional(ncclog_cause(some)))
            found_warnings(look, "warning", "NCCL warned after its init", some);
        json_decref(some);
    }
}

static void check_devices(struct look *look)
{
    const json_t *reasons = json_object_get(look->log, "reasons");

    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *one = json_array_get(reasons, i);

        if (strcmp(json_get_str(one, "about", ""), "hca") == 0)
            found(look, "hca", json_get_str(one, "text", ""), "%s",
                  json_get_str(one, "text", ""));
    }
}

/* ---- Within a node ---- */

static bool goes_by_shm(const struct look *look)
{
    for (size_t i = 0; i < json_array_size(look->ways); i++)
        if (strncmp(json_get_str(json_array_get(look->ways, i), "via", ""), "SHM", 3) ==
            0)
            return true;
    return false;
}

static void check_p2p(struct look *look)
{
    const char *reason = reason_about(look->log, "p2p");

    if (atoi(json_get_str(look->settings, "NCCL_P2P_DISABLE", "0")) != 0 &&
        goes_by_shm(look))
        found(look, "no_p2p", reason_about(look->log, "NCCL_P2P_DISABLE"),
              "NCCL_P2P_DISABLE=1: GPUs exchange data through shared memory");
    else if (reason)
        found(look, "no_p2p", reason,
              "peer to peer is off between GPUs that are connected");
}

/* ---- Interfaces ---- */

/* Describe an interface that does not connect nodes, by its name or address. Return NULL
 * if the interface may connect nodes. */
static const char *why_local(const char *name, const char *address, bool is_ready)
{
    static const struct {
        const char *prefix, *what;
    } names[] = {
        {"docker", "a bridge of this host's containers"},
        {"veth", "a link to a container of this host"},
        {"virbr", "a bridge of this host's virtual machines"},
        {"br-", "a bridge of this host's containers"},
        {"cni", "a bridge of this host's containers"},
    };

    if (strcmp(name, "lo") == 0)
        return "the loopback interface";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i].prefix, strlen(names[i].prefix)) == 0)
            return names[i].what;
    /* Link-local addresses work between hosts on one link. Therefore, they are no finding
     * once init has completed. */
    if (!is_ready &&
        (strncmp(address, "169.254.", 8) == 0 || strncmp(address, "fe80:", 5) == 0))
        return "an interface with a link-local address";
    return NULL;
}

static void check_interface(struct look *look, const char *name, const char *address,
                            const char *what_for)
{
    const char *why = *name ? why_local(name, address, is_ready(look)) : NULL;

    if (why)
        found(look, "interface", NULL,
              "NCCL uses %s for %s, which is %s: select another interface with "
              "NCCL_SOCKET_IFNAME",
              name, what_for, why);
}

static void check_interfaces(struct look *look)
{
    const json_t *interfaces = json_object_get(look->log, "interfaces");
    const char *bootstrap = json_get_str(look->log, "bootstrap", "");

    if (json_get_int(look->log, "nodes", (int64_t)look->t->n_nodes) < 2)
        return;
    check_interface(look, bootstrap, json_get_str(look->log, "address", ""),
                    "its connections");
    for (size_t i = 0; i < json_array_size(look->ways); i++) {
        const json_t *way = json_array_get(look->ways, i);
        const char *name = json_get_str(way, "name", "");

        if (is_via(way, "NET/Socket") && strcmp(name, bootstrap) != 0)
            check_interface(
                look, name,
                json_get_str(json_find(interfaces, "name", name), "address", ""), "data");
    }
}

/* Record the HCAs that the process uses, and the number of HCAs on the node. */
static void note_hcas(struct look *look)
{
    const json_t *hcas = json_object_get(look->log, "hcas");
    struct transport_report *report = look->report;
    const char *used = NULL, *link = "";

    for (size_t i = 0; i < json_array_size(look->ways); i++) {
        const json_t *way = json_array_get(look->ways, i);
        const char *name = json_get_str(way, "name", NULL);

        if (!ncclog_is_of_ib(json_get_str(way, "via", "")) || !name)
            continue;
        report->has_more_hcas =
            report->has_more_hcas || (used && strcmp(used, name) != 0);
        report->n_channels += json_get_int(way, "channels", 0);
        link = json_get_str(way, "link", "");
        used = name;
    }
    if (!used)
        return;
    report->hca = transport_kept_text(look->t, used);
    for (size_t i = 0; i < json_array_size(hcas); i++)
        report->n_hcas +=
            strcmp(json_get_str(json_array_get(hcas, i), "link", ""), link) == 0;
}

/* Report that the host backend or UCX uses sockets, although UCX could use RDMA and the
 * user did not request sockets. */
static void check_host(struct look *look)
{
    const json_t *port = active_port(&look->node, "");

    if (!port || look->t->host->transport == HOST_TRANSPORT_TCP)
        return;
    for (size_t i = 0; i < json_array_size(look->ways); i++) {
        const json_t *way = json_array_get(look->ways, i);
        const char *name = json_get_str(way, "name", "?");
        bool is_ucx = is_via(way, "ucx/tcp");

        if (is_ucx || is_via(way, "tcp"))
            found(look, "no_rdma", NULL, "%s%s %s, while %s is active",
                  is_ucx ? "UCX uses " : "",
                  transport_kind_text(transport_net_kind(&look->node, name)), name,
                  json_get_str(port, "name", "?"));
    }
}

void transport_look(struct transport *t, struct transport_report *report,
                    const json_t *inventory, const json_t *log)
{
    struct look look = {.t = t,
                        .report = report,
                        .node = {.inventory = inventory},
                        .log = log,
                        .settings = json_object_get(log, "settings"),
                        .ways = json_object_get(log, "transports")};
    const char *network = json_get_str(log, "network", NULL);
    const char *why = reason_about(log, "ib");

    report->by_sockets = network && strcmp(network, "Socket") == 0;
    report->network = transport_kept_text(t, network);
    report->why = report->by_sockets ? transport_kept_text(t, why) : NULL;
    if (t->host) {
        check_host(&look);
        return;
    }
    report->receives = receives_by_gdr(&look);
    report->is_spread = json_get_int(log, "nodes", 2) > 1;
    report->local_ranks = json_get_int(log, "local_ranks", 0);
    note_hcas(&look);
    check_early(&look);
    check_late(&look);
    report->n_first = report->n_found;
    check_devices(&look);
    check_sockets(&look);
    check_interfaces(&look);
    check_gdr(&look);
    check_p2p(&look);
    check_settings(&look);
}
