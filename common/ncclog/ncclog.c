/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog.c - reads the transports from NCCL's log */
#include "common/ncclog/ncclog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/ncclog/comms.h"
#include "common/ncclog/forms.h"

#define LINE_MAX_BYTES 1100 /* NCCL truncates its lines to 1,024 bytes */
#define LABEL_MAX 80
#define RANKS_TEXT_MAX ((size_t)512 * 1024)

static const char *const dialect_names[] = {"", "old", "rccl"};
static const char *const channel_names[] = {"collective", "nvls", "point_to_point"};
static const char *const connection_names[] = {"ring", "tree", "nvls", "pat", "collnet"};

#define N_CHANNELS (sizeof(channel_names) / sizeof(channel_names[0]))
#define N_CONNECTIONS (sizeof(connection_names) / sizeof(connection_names[0]))

void ncclog_init(struct ncclog *log)
{
    memset(log, 0, sizeof(*log));
    log->hcas = json_array();
    log->interfaces = json_array();
    log->settings = json_object();
    log->reasons = json_array();
    log->unread = json_array();
    log->early.first = json_array();
    log->late.first = json_array();
}

void ncclog_release(struct ncclog *log)
{
    ncclog_release_comms(log);
    json_decref(log->hcas);
    json_decref(log->interfaces);
    json_decref(log->settings);
    json_decref(log->reasons);
    json_decref(log->unread);
    json_decref(log->early.first);
    json_decref(log->late.first);
    memset(log, 0, sizeof(*log));
}

static void take_info(struct ncclog *log, const char *text)
{
    log->n_lines++;
    /* Each NCCL release adds lines. An unknown line is a loss only if it describes a
     * link. */
    if (ncclog_take(log, text) || !strstr(text, " via "))
        return;
    log->n_unread++;
    if (json_array_size(log->unread) < NCCLOG_UNREAD_MAX)
        json_array_append_new(log->unread,
                              clean_text_json(text, strnlen(text, NCCLOG_TEXT_MAX)));
}

/* Return true if init is complete. Without INIT lines, connected rings prove it. */
static bool is_past_init(const struct ncclog *log)
{
    const struct ncclog_comm *comm = log->n_comms > 0 ? &log->comms[log->now] : NULL;

    return comm && (comm->has_ended || (!comm->id[0] && comm->connected[0]));
}

bool ncclog_is_echo(const char *warning)
{
    static const char *const echoes[] = {"Connection closed by remote peer",
                                         "Connection reset by peer",
                                         "Failed to execute operation",
                                         "Error encountered progressing operation",
                                         "while polling for opId",
                                         "Accept failed",
                                         "Could not receive type from localRank",
                                         "Proxy Call to rank"};

    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++)
        if (warning && strstr(warning, echoes[i]))
            return true;
    return false;
}

/* Keep the first distinct warnings, because they show the origin of a failure. */
static void take_warning(struct ncclog *log, const char *text)
{
    struct ncclog_warnings *kept = is_past_init(log) ? &log->late : &log->early;
    json_t *line = clean_text_json(text, strnlen(text, NCCLOG_TEXT_MAX));
    size_t n = json_array_size(kept->first);
    bool has_it = n == NCCLOG_WARNINGS_MAX;

    log->n_lines++;
    /* Peers normally close connections at the end of a job. */
    if (log->n_destroyed > 0 && log->n_destroyed >= log->n_comms &&
        ncclog_is_echo(text)) {
        json_decref(line);
        return;
    }
    ncclog_take_warning(log, text);
    kept->n++;
    for (size_t i = 0; i < n; i++)
        has_it = has_it || json_equal(json_array_get(kept->first, i), line);
    if (!has_it)
        json_array_append(kept->first, line);
    json_decref(line);
}

const char *ncclog_cause(const json_t *warnings)
{
    const char *cause = NULL;

    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *warning = json_string_value(json_array_get(warnings, i));

        if (!warning || ncclog_is_echo(warning))
            continue;
        if (!ncclog_is_optional(warning))
            return warning;
        cause = cause ? cause : warning;
    }
    return cause ? cause : json_string_value(json_array_get(warnings, 0));
}

const char *ncclog_failure(const struct ncclog *log)
{
    bool is_early = !is_past_init(log);

    for (size_t i = 0; i < log->n_comms; i++)
        is_early = is_early || log->comms[i].has_failed;
    return ncclog_cause(is_early && log->early.n > 0 ? log->early.first
                                                     : log->late.first);
}

const char *ncclog_find_version(const char *text)
{
    const char *at = strstr(text, "NCCL version ");

    return at ? at : strstr(text, "RCCL version ");
}

/* Return true if the text before a line is empty or a launcher's label. */
static bool is_label(const char *text, const char *end)
{
    if (end == text)
        return true;
    end -= end[-1] == ' ';
    return end > text && end - text <= LABEL_MAX && strchr(":>]|", end[-1]);
}

enum ncclog_line ncclog_line(struct ncclog *log, const char *line, size_t len)
{
    static const char info[] = " NCCL INFO ", warn[] = " NCCL WARN ";
    char text[LINE_MAX_BYTES];
    const char *at;

    if (!memmem(line, len, "CCL ", 4))
        return NCCLOG_NONE;
    len = len < sizeof(text) - 1 ? len : sizeof(text) - 1;
    for (size_t i = 0; i < len; i++)
        text[i] = line[i] ? line[i] : ' ';
    text[len] = '\0';
    at = strstr(text, warn);
    if (at) {
        take_warning(log, at + sizeof(warn) - 1);
        return NCCLOG_WARN;
    }
    at = strstr(text, info);
    if (at) {
        take_info(log, at + sizeof(info) - 1);
        return NCCLOG_INFO;
    }
    at = ncclog_find_version(text);
    if (!at || !is_label(text, at) || strchr(at, ','))
        return NCCLOG_NONE;
    take_info(log, at);
    return NCCLOG_INFO;
}

/* ---- JSON output ---- */

static size_t next_rank(const struct ncclog_ranks *ranks, size_t from, bool is_in)
{
    size_t n = ranks->n_words * 64;

    while (from < n && ((ranks->bits[from / 64] >> (from % 64)) & 1) != is_in)
        from++;
    return from;
}

/* Format ranks as "1,8-15". */
static json_t *ranks_json(const struct ncclog_ranks *ranks)
{
    size_t n = ranks->n_words * 64, last = 0;
    struct buf text;
    json_t *json;

    buf_init(&text, RANKS_TEXT_MAX);
    for (size_t at = next_rank(ranks, 0, true); at < n;
         at = next_rank(ranks, last, true)) {
        last = next_rank(ranks, at, false);
        buf_printf(&text, last > at + 1 ? "%s%zu-%zu" : "%s%zu", text.len ? "," : "", at,
                   last - 1);
    }
    json = json_stringn(text.data ? text.data : "", text.len);
    buf_release(&text);
    return json;
}

static void put_ranks(json_t *out, const char *key, const struct ncclog_ranks *ranks)
{
    if (ranks->n_words > 0)
        json_object_set_new(out, key, ranks_json(ranks));
}

/* Return the device for a transport's device number. */
static json_t *device_of(const struct ncclog *log, const struct ncclog_way *way)
{
    json_t *list = ncclog_is_of_ib(way->via)             ? log->hcas
                   : strcmp(way->via, "NET/Socket") == 0 ? log->interfaces
                                                         : NULL;

    return way->device >= 0 ? json_array_get(list, (size_t)way->device) : NULL;
}

static json_t *way_json(const struct ncclog *log, const struct ncclog_way *way)
{
    json_t *out = json_pack("{s:o}", "via", clean_text_json(way->via, strlen(way->via)));
    const json_t *device = device_of(log, way);
    int channels[2] = {__builtin_popcountll(way->channels[0]),
                       __builtin_popcountll(way->channels[1])};

    if (way->device >= 0) {
        json_object_set_new(out, "device", json_integer(way->device));
        json_object_set_new(out, "gdr", json_boolean(way->is_gdr));
    }
    if (device) {
        json_object_set(out, "name", json_object_get(device, "name"));
        json_object_set(out, "link", json_object_get(device, "link"));
    }
    if (way->is_pxn)
        json_object_set_new(out, "pxn", json_true());
    put_ranks(out, "to", &way->to);
    put_ranks(out, "from", &way->from);
    if (channels[0])
        json_object_set_new(out, "channels", json_integer(channels[0]));
    if (channels[1])
        json_object_set_new(out, "p2p_channels", json_integer(channels[1]));
    return out;
}

static void put_text(json_t *out, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(out, key, clean_text_json(text, strlen(text)));
}

static void put_count(json_t *out, const char *key, long count)
{
    if (count >= 0)
        json_object_set_new(out, key, json_integer(count));
}

/* Add a copy of a list or an object unless it is empty. Copy it, because the original may
 * still grow. */
static void put_some(json_t *out, const char *key, json_t *some)
{
    if (json_object_size(some) > 0 || json_array_size(some) > 0)
        json_object_set_new(out, key, json_copy(some));
}

static void put_numbers(const struct ncclog_comm *comm, json_t *out)
{
    json_t *channels = json_object(), *connected = json_array();

    for (size_t i = 0; i < N_CHANNELS; i++)
        put_count(channels, channel_names[i], comm->channels[i]);
    for (size_t i = 0; i < N_CONNECTIONS; i++)
        if (comm->connected[i])
            json_array_append_new(connected, json_string(connection_names[i]));
    put_some(out, "channels", channels);
    put_some(out, "connected", connected);
    put_count(out, "ring_gdr", comm->ring_gdr);
    if (comm->init_s >= 0.0)
        json_object_set_new(out, "init_s", json_real(comm->init_s));
    json_decref(channels);
    json_decref(connected);
}

static void put_comm(const struct ncclog_comm *comm, json_t *out)
{
    put_text(out, "comm", comm->name);
    put_count(out, "rank", comm->rank);
    put_count(out, "ranks", comm->n > 0 ? comm->n : -1);
    put_count(out, "nodes", comm->nodes);
    put_count(out, "local_ranks", comm->local_ranks);
    if (comm->n > 0 || comm->has_failed)
        json_object_set_new(out, "init",
                            json_string(comm->has_ended    ? "complete"
                                        : comm->has_failed ? "failed"
                                                           : "begun"));
    put_numbers(comm, out);
}

/* Append a communicator's transports to `transports` or `collnet`. other: the
 * communicator's index in `others`, which is added to each transport; -1: no index. */
static void put_ways(const struct ncclog *log, const struct ncclog_comm *comm, long other,
                     json_t *transports, json_t *collnet)
{
    for (size_t i = 0; i < comm->n_ways; i++) {
        json_t *way = way_json(log, &comm->ways[i]);

        put_count(way, "other", other);
        json_array_append_new(comm->ways[i].is_collnet ? collnet : transports, way);
    }
}

static void put_comms(const struct ncclog *log, json_t *out)
{
    json_t *transports = json_array(), *collnet = json_array(), *others = json_array();
    const struct ncclog_comm *first = ncclog_main(log);

    if (first) {
        put_comm(first, out);
        put_ways(log, first, -1, transports, collnet);
    }
    for (size_t i = 0; i < log->n_comms; i++) {
        json_t *other = &log->comms[i] != first ? json_object() : NULL;

        if (!other)
            continue;
        put_comm(&log->comms[i], other);
        put_ways(log, &log->comms[i], (long)json_array_size(others), transports, collnet);
        json_array_append_new(others, other);
    }
    put_some(out, "transports", transports);
    put_some(out, "collnet", collnet);
    put_some(out, "others", others);
    put_count(out, "others_left_out",
              log->n_comms_left_out > 0 ? log->n_comms_left_out : -1);
    put_count(out, "links_unplaced", log->n_unplaced > 0 ? log->n_unplaced : -1);
    put_count(out, "links_ambiguous", log->n_ambiguous > 0 ? log->n_ambiguous : -1);
    json_decref(transports);
    json_decref(collnet);
    json_decref(others);
}

static void put_warnings(json_t *out, const char *key, const struct ncclog_warnings *kept)
{
    if (kept->n > 0)
        json_object_set_new(out, key,
                            json_pack("{s:I, s:o}", "lines", (json_int_t)kept->n, "first",
                                      json_copy(kept->first)));
}

json_t *ncclog_json(const struct ncclog *log)
{
    json_t *out = json_object();

    put_text(out, "version", log->version);
    put_text(out, "network", log->network);
    put_text(out, "plugin", log->plugin);
    put_text(out, "dialect", dialect_names[log->dialect]);
    put_text(out, "bootstrap", log->bootstrap);
    put_text(out, "address", log->address);
    put_count(out, "cuda_driver", log->driver > 0 ? log->driver : -1);
    put_comms(log, out);
    put_some(out, "hcas", log->hcas);
    put_some(out, "interfaces", log->interfaces);
    put_some(out, "settings", log->settings);
    put_some(out, "reasons", log->reasons);
    put_warnings(out, "early_warnings", &log->early);
    put_warnings(out, "late_warnings", &log->late);
    if (log->n_unread > 0)
        json_object_set_new(
            out, "unread",
            json_pack("{s:I, s:I, s:o}", "lines", (json_int_t)log->n_unread, "of",
                      (json_int_t)log->n_lines, "first", json_copy(log->unread)));
    if (json_object_size(out) > 0)
        return out;
    json_decref(out);
    return NULL;
}
