/* ncclog.c - what NCCL's own log says of a rank's communicator */
#include "agent/ncclog/ncclog.h"
#include "common/base/clean_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1100 /* NCCL cuts its lines at 1024 */
#define COUNT_MAX 1000000   /* of ranks and channels: more is no count */

static const char *const channel_names[] = {"collective", "collnet", "nvls",
                                            "point_to_point"};

static const struct {
    const char *text, *name;
} connections[] = {{"Connected all rings", "ring"},
                   {"Connected all trees", "tree"},
                   {"Connected NVLS tree", "nvls"},
                   {"Connected binomial trees", "pat"}};

#define N_CHANNELS (sizeof(channel_names) / sizeof(channel_names[0]))
#define N_CONNECTIONS (sizeof(connections) / sizeof(connections[0]))

void ncclog_init(struct ncclog *log)
{
    memset(log, 0, sizeof(*log));
    log->init_s = -1.0;
}

/* A word of printable characters, cut to size. */
static void copy_word(const char *text, char *out, size_t size)
{
    size_t len = 0;

    while (text[len] > ' ' && text[len] < 127 && len + 1 < size) {
        out[len] = text[len];
        len++;
    }
    out[len] = '\0';
}

/* A count at the beginning of the text; -1: none. */
static long read_count(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    return end != text && value >= 0 && value <= COUNT_MAX ? value : -1;
}

/* The count behind a key: "nRanks 2". */
static void read_after(const char *text, const char *key, long *out)
{
    const char *at = strstr(text, key);
    long value = at ? read_count(at + strlen(key)) : -1;

    if (value >= 0)
        *out = value;
}

/* "2 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels, ..." */
static bool take_channels(struct ncclog *log, const char *text)
{
    static const char *const words[] = {" coll channels", " collnet channels",
                                        " nvls channels", " p2p channels"};
    bool has_any = false;

    for (size_t i = 0; i < N_CHANNELS; i++) {
        const char *at = strstr(text, words[i]);
        const char *number = at;
        long value;

        while (number && number > text && number[-1] >= '0' && number[-1] <= '9')
            number--;
        bool is_word = number == text || (number && number[-1] == ' ');
        value = number && number < at && is_word ? read_count(number) : -1;
        if (value >= 0) {
            log->channels[i] = value;
            has_any = true;
        }
    }
    log->has_channels = log->has_channels || has_any;
    return has_any;
}

/* "NET/IB/0(3)/GDRDMA": a proxy's rank would make many names of one. */
static void drop_proxy(char *name)
{
    char *open = strchr(name, '('), *close = open ? strchr(open, ')') : NULL;

    if (close)
        memmove(open, close + 1, strlen(close + 1) + 1);
}

/* "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA" */
static bool take_transport(struct ncclog *log, const char *text)
{
    const char *via = strstr(text, " via ");
    char name[NCCLOG_NAME_MAX];
    size_t i = 0;

    if (!via || (strncmp(text, "Channel ", 8) != 0 && strncmp(text, "CollNet ", 8) != 0))
        return false;
    copy_word(via + 5, name, sizeof(name));
    drop_proxy(name);
    while (i < log->n_transports && strcmp(log->transports[i].name, name) != 0)
        i++;
    if (!name[0] || i == NCCLOG_TRANSPORTS_MAX)
        return true;
    if (i == log->n_transports)
        snprintf(log->transports[log->n_transports++].name, NCCLOG_NAME_MAX, "%s", name);
    if (strstr(text, "[receive]"))
        log->transports[i].receives++;
    else
        log->transports[i].sends++;
    return true;
}

static bool take_connected(struct ncclog *log, const char *text)
{
    for (size_t i = 0; i < N_CONNECTIONS; i++) {
        if (strncmp(text, connections[i].text, strlen(connections[i].text)) == 0) {
            log->connected[i] = true;
            return true;
        }
    }
    return false;
}

/* "Init timings - ncclCommInitRankConfig: rank 0 nranks 2 total 0.42 (kernels ...)" */
static bool take_timings(struct ncclog *log, const char *text)
{
    const char *total = strstr(text, " total ");
    double seconds;
    char *end = NULL;

    if (strncmp(text, "Init timings", 12) != 0)
        return false;
    seconds = total ? strtod(total + 7, &end) : -1.0;
    if (total && end != total + 7 && seconds >= 0.0 && seconds < 1e6)
        log->init_s = seconds;
    return true;
}

static void take_info(struct ncclog *log, const char *text)
{
    static const char network[] = "Using network ";

    if (strncmp(text, network, sizeof(network) - 1) == 0) {
        copy_word(text + sizeof(network) - 1, log->network, sizeof(log->network));
    } else if (strstr(text, " nNodes ")) {
        read_after(text, " nRanks ", &log->ranks);
        read_after(text, " nNodes ", &log->nodes);
        read_after(text, " localRanks ", &log->local_ranks);
    } else if (!take_transport(log, text) && !take_connected(log, text) &&
               !take_timings(log, text)) {
        take_channels(log, text);
    }
}

void ncclog_line(struct ncclog *log, const char *line, size_t len)
{
    static const char info[] = " NCCL INFO ", warn[] = " NCCL WARN ",
                      version[] = "NCCL version ";
    char text[LINE_MAX_BYTES];
    const char *at;

    if (!memmem(line, len, "NCCL ", 5))
        return;
    len = len < sizeof(text) - 1 ? len : sizeof(text) - 1;
    for (size_t i = 0; i < len; i++)
        text[i] = line[i] ? line[i] : ' ';
    text[len] = '\0';
    at = strstr(text, warn);
    if (at) {
        snprintf(log->warning, sizeof(log->warning), "%s", at + sizeof(warn) - 1);
        return;
    }
    at = strstr(text, version);
    if (at)
        copy_word(at + sizeof(version) - 1, log->version, sizeof(log->version));
    at = strstr(text, info);
    if (at)
        take_info(log, at + sizeof(info) - 1);
}

static json_t *transports_json(const struct ncclog *log)
{
    json_t *all = json_object();

    for (size_t i = 0; i < log->n_transports; i++)
        json_object_set_new(all, log->transports[i].name,
                            json_pack("{s:I, s:I}", "send",
                                      (json_int_t)log->transports[i].sends, "receive",
                                      (json_int_t)log->transports[i].receives));
    return all;
}

static void put_counts(const struct ncclog *log, json_t *out)
{
    json_t *channels = json_object(), *connected = json_array();

    if (log->ranks)
        json_object_set_new(out, "ranks", json_integer(log->ranks));
    if (log->nodes)
        json_object_set_new(out, "nodes", json_integer(log->nodes));
    if (log->local_ranks)
        json_object_set_new(out, "local_ranks", json_integer(log->local_ranks));
    for (size_t i = 0; log->has_channels && i < N_CHANNELS; i++)
        json_object_set_new(channels, channel_names[i], json_integer(log->channels[i]));
    for (size_t i = 0; i < N_CONNECTIONS; i++)
        if (log->connected[i])
            json_array_append_new(connected, json_string(connections[i].name));
    if (log->has_channels)
        json_object_set(out, "channels", channels);
    if (json_array_size(connected) > 0)
        json_object_set(out, "connected", connected);
    json_decref(channels);
    json_decref(connected);
}

json_t *ncclog_json(const struct ncclog *log)
{
    json_t *out = json_object();

    if (log->version[0])
        json_object_set_new(out, "version", json_string(log->version));
    if (log->network[0])
        json_object_set_new(out, "network", json_string(log->network));
    put_counts(log, out);
    if (log->init_s >= 0.0)
        json_object_set_new(out, "init_s", json_real(log->init_s));
    if (log->n_transports > 0)
        json_object_set_new(out, "transports", transports_json(log));
    if (log->warning[0])
        json_object_set_new(out, "warning",
                            clean_text_json(log->warning, strlen(log->warning)));
    if (json_object_size(out) > 0)
        return out;
    json_decref(out);
    return NULL;
}
