/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c - parses the lines of NCCL's log: all known forms of NCCL 2.18 to 2.30, and the
 * links and communicators of older versions and RCCL */
#include "common/ncclog/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/memory.h"
#include "common/ncclog/comms.h"
#include "common/ncclog/pattern.h"

/* Store the content of a log line. `about` comes from the form's table entry. */
typedef void taker(struct ncclog *log, const struct pieces *pieces, const char *about);

static void take_version(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    piece_copy(&pieces->at[0], log->version, sizeof(log->version));
    if (about)
        log->dialect = NCCLOG_RCCL;
}

static void take_driver(struct ncclog *log, const struct pieces *pieces,
                        const char *about)
{
    (void)about;
    log->driver = pieces->at[0].number;
}

static void take_bootstrap(struct ncclog *log, const struct pieces *pieces,
                           const char *about)
{
    size_t first =
        about ? 1 : 0; /* if `about` is set, a number in brackets precedes the name */

    piece_copy(&pieces->at[first], log->bootstrap, sizeof(log->bootstrap));
    piece_copy(&pieces->at[first + 1], log->address, sizeof(log->address));
    log->address[strcspn(log->address, "< \r")] = '\0';
}

static void take_network(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    (void)about;
    piece_copy(&pieces->at[0], log->network, sizeof(log->network));
    log->network[strcspn(log->network, "\r\n")] = '\0';
}

static void take_plugin(struct ncclog *log, const struct pieces *pieces,
                        const char *about)
{
    (void)about;
    piece_copy(&pieces->at[0], log->plugin, sizeof(log->plugin));
}

static json_t *text_of(const struct piece *piece)
{
    return clean_text_json(piece->text,
                           piece->len < NCCLOG_TEXT_MAX ? piece->len : NCCLOG_TEXT_MAX);
}

/* ---- Devices ---- */

/* Parse a device such as "mlx5_0:1/RoCE" or "ib0:20.20.20.25<0>". */
static json_t *device_of(const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);
    const char *slash = memchr(text, '/', len);
    size_t name = colon ? (size_t)(colon - text) : len;
    json_t *device = json_pack("{s:o}", "name", clean_text_json(text, name));

    if (slash && colon && slash > colon) {
        json_object_set_new(device, "port", json_integer(atol(colon + 1)));
        json_object_set_new(device, "link",
                            clean_text_json(slash + 1, len - (size_t)(slash + 1 - text)));
    } else if (colon) {
        json_object_set_new(device, "address",
                            clean_text_json(colon + 1, len - name - 1));
    }
    return device;
}

/* Merge two devices that NCCL uses as one: "={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}". */
static void join(json_t *into, const json_t *other)
{
    const char *a = json_string_value(json_object_get(into, "name"));
    const char *b = json_string_value(json_object_get(other, "name"));

    if (a && b)
        json_object_set_new(into, "name", json_sprintf("%s+%s", a, b));
}

/* Parse the words before the next bracketed number as one device. Braces enclose several
 * devices that NCCL uses as one. */
static const char *next_device(const char *at, const char *end, json_t **device)
{
    bool is_fused = memchr(at, '{', (size_t)(end - at) < 3 ? (size_t)(end - at) : 3);

    *device = NULL;
    while (at < end && *at != '}' && (is_fused || *at != '[')) {
        size_t blanks = strspn(at, is_fused ? " ,={" : " "), len;

        at += blanks;
        len = strcspn(at, is_fused ? " ,}[" : " [");
        if (is_fused && *at == '[') {
            at += strcspn(at, "]");
            at += *at == ']';
        } else if (at < end && len > 0 && memchr(at, ':', len)) {
            json_t *one = device_of(at, len);

            if (*device) {
                join(*device, one);
                json_decref(one);
            } else {
                *device = one;
            }
            at += len;
        } else {
            at += len ? len : !blanks;
        }
    }
    return at;
}

/* Parse a list such as "[0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [RO]". The i-th entry is device
 * i, regardless of the number in brackets. */
static void take_devices(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    json_t *list = strcmp(about, "hcas") == 0 ? log->hcas : log->interfaces;
    const char *at = pieces->at[0].text, *end = at + pieces->at[0].len;

    json_array_clear(list);
    while (at < end && json_array_size(list) < NCCLOG_LIST_MAX) {
        const char *number = at + 1 + strspn(at + (at < end), "0123456789");
        json_t *device = NULL;

        if (*at == '[' && number > at + 1 && *number == ']')
            at = next_device(number + 1, end, &device);
        else
            at++;
        if (device)
            json_array_append_new(list, device);
    }
}

static void take_virtual(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    (void)about;
    if ((size_t)pieces->at[0].number == json_array_size(log->hcas) &&
        json_array_size(log->hcas) < NCCLOG_LIST_MAX)
        json_array_append_new(log->hcas,
                              json_pack("{s:o}", "name", text_of(&pieces->at[1])));
}

/* ---- Settings, and features that NCCL does not use ---- */

static void take_setting(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    struct piece value = pieces->at[1];
    char name[NCCLOG_NAME_MAX];

    (void)about;
    piece_copy(&pieces->at[0], name, sizeof(name));
    while (value.len > 0 && strchr(" .\r", value.text[value.len - 1]))
        value.len--;
    if (strncmp(name, "NCCL_", 5) == 0 &&
        json_object_size(log->settings) < NCCLOG_LIST_MAX) {
        json_t *text = text_of(&value);
        json_t *key = clean_text_json(name, strlen(name));

        json_object_set(log->settings, json_string_value(key), text);
        json_decref(key);
        json_decref(text);
    }
}

/* Add a line as a reason for NCCL's choice of transports, unless the list already
 * contains it. */
static void add_reason(struct ncclog *log, const char *about, const struct piece *line)
{
    json_t *reason = json_pack("{s:s, s:o}", "about", about, "text", text_of(line));

    for (size_t i = 0; i < json_array_size(log->reasons); i++)
        if (json_equal(json_array_get(log->reasons, i), reason)) {
            json_decref(reason);
            return;
        }
    if (json_array_size(log->reasons) < NCCLOG_LIST_MAX)
        json_array_append_new(log->reasons, reason);
    else
        json_decref(reason);
}

/* Add the whole line as a reason for NCCL's choice of transports. */
static void take_reason(struct ncclog *log, const struct pieces *pieces,
                        const char *about)
{
    add_reason(log, about, &pieces->at[0]);
}

/* Add a reported setting as a reason if it determines the transports. */
static void quote_setting(struct ncclog *log, const struct piece *name, const char *text)
{
    static const char *const deciding[] = {
        "NCCL_IB_DISABLE",   "NCCL_IB_HCA",        "NCCL_NET",  "NCCL_NET_GDR_LEVEL",
        "NCCL_NET_GDR_READ", "NCCL_SOCKET_IFNAME", "NCCL_ALGO", "NCCL_PROTO"};
    const struct piece line = {.text = text, .len = strlen(text)};

    for (size_t i = 0; i < sizeof(deciding) / sizeof(deciding[0]); i++)
        if (name->len == strlen(deciding[i]) &&
            memcmp(name->text, deciding[i], name->len) == 0)
            add_reason(log, deciding[i], &line);
}

/* ---- Communicators ---- */

static struct ncclog_comm *turn_to(struct ncclog *log, const struct piece *at,
                                   const char *name)
{
    char id[24];

    piece_copy(&at[0], id, sizeof(id));
    return ncclog_turn_to(log, id, name, at[1].number, at[2].number);
}

static void take_comm(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    char name[NCCLOG_COMM_MAX];
    struct ncclog_comm *comm;

    piece_copy(&pieces->at[5], name, sizeof(name));
    comm = turn_to(log, &pieces->at[1], name);
    if (comm)
        comm->has_ended = comm->has_ended || strcmp(about, "complete") == 0;
}

static void take_destroyed(struct ncclog *log, const struct pieces *pieces,
                           const char *about)
{
    (void)pieces;
    (void)about;
    log->n_destroyed++;
}

/* Parse the form used before 2.18 and by RCCL, without a commId. */
static void take_old_comm(struct ncclog *log, const struct pieces *pieces,
                          const char *about)
{
    struct ncclog_comm *comm = turn_to(log, &pieces->at[1], "");

    if (log->dialect == NCCLOG_KNOWN)
        log->dialect = NCCLOG_OLD;
    if (comm)
        comm->has_ended = comm->has_ended || strcmp(about, "complete") == 0;
}

/* Parse the line of a split communicator. It contains no ID, but all its ranks have the
 * same parent, split number and color, which together serve as its name. */
static void take_split(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    const struct piece *at = pieces->at;
    char parent_id[24], name[NCCLOG_COMM_MAX] = "";
    const struct ncclog_comm *parent;
    struct ncclog_comm *comm;

    piece_copy(&at[5], parent_id, sizeof(parent_id));
    parent = ncclog_comm_at(log, parent_id);
    if (parent && parent->name[0])
        snprintf(name, sizeof(name), "%.30s/%ld.%ld", parent->name, at[6].number,
                 at[7].number);
    comm = turn_to(log, &at[1], name);
    if (comm)
        comm->has_ended = comm->has_ended || strcmp(about, "complete") == 0;
}

static void take_sizes(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    struct ncclog_comm *comm = turn_to(log, pieces->at, "");

    (void)about;
    if (!comm || pieces->at[3].number < 0 || pieces->at[4].number < 0)
        return;
    comm->nodes = pieces->at[3].number;
    comm->local_ranks = pieces->at[4].number;
}

/* ---- Transports ---- */

static void add_rank(struct ncclog_ranks *ranks, long rank)
{
    size_t word = (size_t)rank / 64;

    if (rank < 0 || rank >= NCCLOG_RANKS_MAX)
        return;
    if (word >= ranks->n_words)
        ranks->bits =
            memory_resized(ranks->bits, word + 1, sizeof(*ranks->bits), "NCCL's log");
    while (ranks->n_words <= word)
        ranks->bits[ranks->n_words++] = 0;
    ranks->bits[word] |= UINT64_C(1) << (rank % 64);
}

static bool is_same(const struct ncclog_way *a, const struct ncclog_way *b)
{
    return strcmp(a->via, b->via) == 0 && a->device == b->device &&
           a->is_gdr == b->is_gdr && a->is_pxn == b->is_pxn &&
           a->is_collnet == b->is_collnet;
}

static struct ncclog_way *find_way(struct ncclog_comm *comm,
                                   const struct ncclog_way *wanted)
{
    for (size_t i = 0; i < comm->n_ways; i++)
        if (is_same(&comm->ways[i], wanted))
            return &comm->ways[i];
    if (comm->n_ways == NCCLOG_WAYS_MAX)
        return NULL;
    comm->ways =
        memory_resized(comm->ways, comm->n_ways + 1, sizeof(*comm->ways), "NCCL's log");
    comm->ways[comm->n_ways] = *wanted;
    return &comm->ways[comm->n_ways++];
}

/* Parse a transport such as "NET/IB/0(3)/GDRDMA(PCI)/Shared", "P2P/indirect/2[2]" or
 * "P2P/CUMEM/read". */
static void read_via(const struct piece *piece, struct ncclog_way *way)
{
    char text[2 * NCCLOG_NAME_MAX];
    struct pieces net;

    piece_copy(piece, text, sizeof(text));
    text[strcspn(text, "\r")] = '\0';
    /* RCCL appends the communicator to the transport. */
    if (strstr(text, " comm 0x"))
        *strstr(text, " comm 0x") = '\0';
    way->device = -1;
    if (strncmp(text, "P2P/indirect", 12) == 0)
        text[12] = '\0';
    if (pattern_fits("$/*/#*", text, &net)) {
        const char *rest = net.at[3].text;

        way->device = net.at[2].number;
        way->is_pxn = rest[0] == '(' && rest[1] >= '0' && rest[1] <= '9';
        way->is_gdr = strstr(rest, "/GDRDMA") != NULL;
        snprintf(way->via, sizeof(way->via), "%.*s/%.*s", (int)net.at[0].len,
                 net.at[0].text, (int)net.at[1].len < 40 ? (int)net.at[1].len : 40,
                 net.at[1].text);
        return;
    }
    snprintf(way->via, sizeof(way->via), "%.*s", NCCLOG_NAME_MAX - 1, text);
}

struct link {
    long channel, connection, from, to;
    bool is_received, is_collnet;
    const struct piece *via;
};

static void add_link(struct ncclog *log, const struct link *link)
{
    struct ncclog_way wanted = {.is_collnet = link->is_collnet}, *way;
    long own = link->is_received ? link->to : link->from;
    long peer = link->is_received ? link->from : link->to;
    struct ncclog_comm *comm;

    read_via(link->via, &wanted);
    if (memmem(link->via->text, link->via->len, " comm 0x", 8))
        log->dialect = NCCLOG_RCCL;
    comm = ncclog_comm_of_link(log, own, peer, wanted.device >= 0);
    if (!comm || link->via->len == 0)
        return;
    way = find_way(comm, &wanted);
    if (!way)
        return;
    add_rank(link->is_received ? &way->from : &way->to, peer);
    if (link->channel >= 0 && link->channel < 64)
        way->channels[link->connection == 1] |= UINT64_C(1) << link->channel;
}

/* Parse "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA". */
static void take_link(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    const struct piece *at = pieces->at;
    struct link link = {.channel = at[0].number,
                        .connection = at[1].number,
                        .from = at[2].number,
                        .to = at[4].number,
                        .is_received = strcmp(about, "receive") == 0,
                        .via = &at[6]};

    add_link(log, &link);
}

/* Parse "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct". */
static void take_plain_link(struct ncclog *log, const struct pieces *pieces,
                            const char *about)
{
    const struct piece *at = pieces->at;
    struct link link = {
        .channel = at[0].number, .from = at[1].number, .to = at[3].number, .via = &at[5]};

    (void)about;
    add_link(log, &link);
}

/* Parse "Channel 00 : 1[20000] -> 2[10000] [send] via NET/IB/0", the form before 2.12. */
static void take_old_link(struct ncclog *log, const struct pieces *pieces,
                          const char *about)
{
    const struct piece *at = pieces->at;
    struct link link = {.channel = at[0].number,
                        .from = at[1].number,
                        .to = at[3].number,
                        .is_received = strcmp(about, "receive") == 0,
                        .via = &at[5]};

    if (log->dialect == NCCLOG_KNOWN)
        log->dialect = NCCLOG_OLD;
    add_link(log, &link);
}

/* Parse "Ring 00 : 7 -> 8 [receive] via NET/Socket/0", the form before 2.5. */
static void take_ring_link(struct ncclog *log, const struct pieces *pieces,
                           const char *about)
{
    const struct piece *at = pieces->at;
    struct link link = {.channel = at[0].number,
                        .from = at[1].number,
                        .to = at[2].number,
                        .is_received = strcmp(about, "receive") == 0,
                        .via = &at[3]};

    if (log->dialect == NCCLOG_KNOWN)
        log->dialect = NCCLOG_OLD;
    add_link(log, &link);
}

/* Parse "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA", a link to the network
 * itself. */
static void take_collnet(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    const struct piece *at = pieces->at;
    struct link link = {.channel = at[0].number,
                        .connection = at[1].number,
                        .from = strcmp(about, "receive") == 0 ? -1 : at[2].number,
                        .to = strcmp(about, "receive") == 0 ? at[2].number : -1,
                        .is_received = strcmp(about, "receive") == 0,
                        .is_collnet = true,
                        .via = &at[3]};

    add_link(log, &link);
}

/* ---- Results of init ---- */

/* Store the numbers of channels. The number of CollNet channels is ignored, because since
 * 2.21.5 it is a copy of the first number. */
static void take_channels(struct ncclog *log, const struct pieces *pieces,
                          const char *about)
{
    bool has_collnet = strcmp(about, "collnet") == 0;
    struct ncclog_comm *comm = ncclog_now(log);

    if (!comm)
        return;
    comm->channels[0] = pieces->at[0].number;
    comm->channels[1] = pieces->at[1 + has_collnet].number;
    comm->channels[2] = pieces->at[2 + has_collnet].number;
}

static void take_connected(struct ncclog *log, const struct pieces *pieces,
                           const char *about)
{
    struct ncclog_comm *comm = ncclog_now(log);

    (void)pieces;
    if (comm)
        comm->connected[about[0] - '0'] = true;
}

static void take_rings(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    struct ncclog_comm *comm = ncclog_now(log);

    take_connected(log, pieces, about);
    if (comm)
        comm->ring_gdr = pieces->at[1].number;
}

/* Store the duration of init. The line contains rank and size but no pointer, so it is
 * assigned to the selected communicator. */
static void take_timings(struct ncclog *log, const struct pieces *pieces,
                         const char *about)
{
    double seconds = strtod(pieces->at[3].text, NULL);
    struct ncclog_comm *comm = ncclog_now(log);

    (void)about;
    if (comm && seconds >= 0.0 && seconds < 1e6)
        comm->init_s = seconds;
}

/* Parse NCCL's trace of an error, such as "init.cc:84 -> 3". A trace before init is
 * complete means that init failed, except code 7, which means that init is in
 * progress. */
static void take_trace(struct ncclog *log, const struct pieces *pieces, const char *about)
{
    long code = pieces->at[1].number;
    struct ncclog_comm *comm = code > 0 && code != 7 ? ncclog_now(log) : NULL;

    (void)about;
    if (comm && !comm->has_ended)
        comm->has_failed = true;
}

#define LINK "Channel #/# : #[$] -> #[$] "
#define COMM "$ rank # nranks # *commId $ - Init "
#define OLD_COMM "$ rank # nranks # *- Init "
#define SPLIT "$ rank # nranks # *parent $ splitCount # color # *- Init "

/* The forms of lines; the first matching form wins. If a form has no function `take`, its
 * lines are recognized and ignored. */
static const struct {
    const char *pattern;
    taker *take;
    const char *about;
} forms[] = {
    {LINK "[receive] via *", take_link, "receive"},
    {LINK "[send] via *", take_link, "send"},
    {LINK "via *", take_link, "send"},
    {"Channel # : #[$] -> #[$] via *", take_plain_link, NULL},
    {"Channel # : #[$] -> #[$] [receive] via *", take_old_link, "receive"},
    {"Channel # : #[$] -> #[$] [send] via *", take_old_link, "send"},
    {"Ring # : #[$] -> #[$] via *", take_old_link, "send"},
    {"Ring # : #[$] -> #[$] [receive] via *", take_old_link, "receive"},
    {"Ring # : #[$] -> #[$] [send] via *", take_old_link, "send"},
    {"Ring # : # -> # [receive] via *", take_ring_link, "receive"},
    {"Ring # : # -> # [send] via *", take_ring_link, "send"},
    {"CollNet #/# : # [receive] via *", take_collnet, "receive"},
    {"CollNet #/# : # [send] via *", take_collnet, "send"},
    {"Connected all rings, use ring PXN # GDR #", take_rings, "0"},
    {"Connected all rings*", take_connected, "0"},
    {"Connected all trees*", take_connected, "1"},
    {"Connected NVLS tree*", take_connected, "2"},
    {"Connected binomial trees*", take_connected, "3"},
    {"Connected Collnet*", take_connected, "4"},
    {"# coll channels, # collnet channels, # nvls channels, # p2p channels*",
     take_channels, "collnet"},
    {"# coll channels, # nvls channels, # p2p channels*", take_channels, "nvls"},

    {"NCCL version *", take_version, NULL},
    {"RCCL version : *", take_version, "rccl"},
    {"RCCL version *", take_version, "rccl"},
    {"cudaDriverVersion #", take_driver, NULL},
    {"Bootstrap : Using [#]$:*", take_bootstrap, "numbered"},
    {"Bootstrap : Using $:*", take_bootstrap, NULL},
    {"Using network *", take_network, NULL},
    {"NET/Plugin : Loaded net plugin $ (*", take_plugin, NULL},
    {"Initialized NET plugin *", take_plugin, NULL},
    {"Assigned NET plugin * to comm", take_plugin, NULL},
    /* NCCL searches for this plugin by default, so its absence is normal. */
    {"NET/Plugin : Plugin load (libnccl-net.so) returned *", NULL, NULL},
    {"NET/Plugin : Plugin load (*) returned *", take_reason, "plugin"},
    {"NET/Plugin : Could not find: libnccl-net.so*", NULL, NULL},
    {"NET/Plugin : Could not find: *", take_reason, "plugin"},
    {"Failed to initialize NET plugin IB*", NULL, NULL},
    {"Failed to initialize NET plugin *", take_reason, "plugin"},
    {"NET/OFI *nitialization failed*", take_reason, "plugin"},
    {"NET/OFI *o provider*", take_reason, "plugin"},
    {"NET/IB : Using *; OOB *", take_devices, "hcas"},
    {"NET/IB : Made virtual device [#] name=$ *", take_virtual, NULL},
    {"NET/IB : No device found*", take_reason, "ib"},
    {"NET/Socket : Using *", take_devices, "interfaces"},
    {"NET/$ : GPU Direct RDMA Disabled for HCA # *", take_reason, "gdr_support"},
    {"GPU Direct RDMA Disabled for GPU *", take_reason, "gdr_distance"},
    {"Failed to open libibverbs*", take_reason, "ib"},
    {"Call to * returned *, retrying*", take_reason, "connect"},
    {"*: connect to * returned *", take_reason, "connect"},
    {"NET/IB : * speed change detected*", take_reason, "ib"},

    {"$ set by environment to *", take_setting, NULL},
    {"$ set to *", take_setting, NULL},
    {"Warning: ENV $ is unused*", take_reason, "setting"},
    {"Invalid value * for $, using default*", take_reason, "setting"},
    {"Unable to recognize $=*", take_reason, "setting"},
    {"No valid CTA policies found in *", take_reason, "setting"},
    {"Unknown CTA policy*", take_reason, "setting"},
    {"$ # is too low, leaving it *", take_reason, "setting"},
    {"$ # is not valid, leaving it *", take_reason, "setting"},
    {"failed to decode $=*", take_reason, "setting"},

    {"*comm " COMM "START", take_comm, "start"},
    {"*comm " COMM "COMPLETE", take_comm, "complete"},
    {"*comm " SPLIT "START", take_split, "start"},
    {"*comm " SPLIT "COMPLETE", take_split, "complete"},
    {"*comm " OLD_COMM "START", take_old_comm, "start"},
    {"*comm " OLD_COMM "COMPLETE", take_old_comm, "complete"},
    {"comm $ rank # nRanks # nNodes # localRanks # *", take_sizes, NULL},
    {"Init timings*: rank # nranks # total $ *", take_timings, NULL},
    {"comm $ rank # nranks # *Destroy COMPLETE*", take_destroyed, NULL},
    {"NVLS multicast support is not available on dev #*", take_reason, "nvls"},
    {"P2P is disabled between connected GPUs *", take_reason, "p2p"},
    {"init.cc:# -> #*", take_trace, NULL},
    {"group.cc:# -> #*", take_trace, NULL},
    {"bootstrap.cc:# -> #*", take_trace, NULL},
};

static const struct {
    const char *pattern,
        /* if `about` is NULL, the warning does not explain the transports */
        *about;
    bool is_optional; /* true if NCCL continues without the feature */
} warnings[] = {
    {"Failed to open libibverbs*", "ib", true},
    {"NET/IB : Unable to open device *", "hca", true},
    {"NET/IB : *Got non-fatal async event*", NULL, true},
    {"NET/OFI *", "plugin", false},
    {"P2P is disabled between connected GPUs *", "p2p", true},
};

bool ncclog_is_optional(const char *warning)
{
    struct pieces pieces;

    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
        if (warnings[i].is_optional &&
            pattern_fits(warnings[i].pattern, warning, &pieces))
            return true;
    return false;
}

void ncclog_take_warning(struct ncclog *log, const char *text)
{
    const struct piece line = {.text = text, .len = strlen(text)};
    struct pieces pieces;

    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
        if (warnings[i].about && pattern_fits(warnings[i].pattern, text, &pieces))
            add_reason(log, warnings[i].about, &line);
}

bool ncclog_take(struct ncclog *log, const char *text)
{
    struct pieces pieces;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (!pattern_fits(forms[i].pattern, text, &pieces))
            continue;
        if (forms[i].take == take_reason) {
            pieces.at[0].text = text;
            pieces.at[0].len = strlen(text);
        }
        if (forms[i].take == take_setting)
            quote_setting(log, &pieces.at[0], text);
        if (forms[i].take)
            forms[i].take(log, &pieces, forms[i].about);
        return true;
    }
    return false;
}
