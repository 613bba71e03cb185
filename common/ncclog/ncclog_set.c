/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog_set.c - separates the NCCL logs of several processes in one stream */
#include "common/ncclog/ncclog_set.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/pattern.h"

#define PREFIX_MAX 300
#define PLAIN_MAX 1500
#define LEFT_OUT_MAX 65536
#define SOCKET_HOSTS_MAX 1024

void ncclog_set_init(struct ncclog_set *set, size_t max)
{
    memset(set, 0, sizeof(*set));
    set->max = max < NCCLOG_PROCESSES_MAX ? max : NCCLOG_PROCESSES_MAX;
}

void ncclog_set_release(struct ncclog_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        ncclog_release(&set->items[i]->log);
        free(set->items[i]);
    }
    free(set->items);
    json_decref(set->places);
    json_decref(set->left_out);
    json_decref(set->left_out_by_sockets);
    memset(set, 0, sizeof(*set));
}

/* Return the start of HOST:PID:THREAD at the end of a word. A launcher's label may
 * directly precede the host. */
static const char *origin_in(const char *word)
{
    static const char of_host[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_.";
    const char *at = word + strlen(word);

    for (int colons = 0; at > word && colons < 2;)
        colons += *--at == ':';
    while (at > word && strchr(of_host, at[-1]))
        at--;
    return at;
}

/* Return true if a match of "HOST:#:#" is really a time, such as "05:06:07" or
 * "2026-03-04T05:06:07". */
static bool is_time(const struct pieces *pieces)
{
    const struct piece *at = pieces->at;
    size_t len = at[0].len;

    if (len < 2 || at[1].len != 2 || at[2].len != 2 ||
        !isdigit((unsigned char)at[0].text[len - 1]) ||
        !isdigit((unsigned char)at[0].text[len - 2]))
        return false;
    return len == 2 || (len >= 11 && strspn(at[0].text, "0123456789-") >= 10);
}

/* Return the start of the host if a log collector put a time directly before it: after
 * the zone in "08.5+07:00node-a", after the Z in "07.8Znode-a". */
static const char *without_time(const char *word, const char *at)
{
    const char *end = at;

    if (at == word || at[-1] != ':')
        return at;
    end += strspn(end, "0123456789") < 2 ? strspn(end, "0123456789") : 2;
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    return end > at ? end + (*end == 'Z') : at;
}

/* Read the origin of a line such as "0: [time] HOST:PID:THREAD [0] file.cc:1". It is the
 * last word of this form that is not a time. */
static bool read_origin(const char *line, size_t len, struct ncclog_process *out)
{
    const char *end = memmem(line, len, " NCCL ", 6);
    char prefix[PREFIX_MAX], *save = NULL;
    struct pieces pieces;
    bool is_there = false;

    if (!end || (size_t)(end - line) >= sizeof(prefix))
        return false;
    memcpy(prefix, line, (size_t)(end - line));
    prefix[end - line] = '\0';
    for (char *word = strtok_r(prefix, " ", &save); word;
         word = strtok_r(NULL, " ", &save))
        if (pattern_fits("$:#:#", without_time(word, origin_in(word)), &pieces) &&
            !is_time(&pieces)) {
            piece_copy(&pieces.at[0], out->host, sizeof(out->host));
            out->pid = pieces.at[1].number;
            is_there = true;
        }
    return is_there;
}

size_t ncclog_plain(const char *line, size_t len, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n < size; i++)
        if (line[i] == '\033' && i + 1 < len && line[i + 1] == '[')
            for (i += 2; i < len && (line[i] < '@' || line[i] > '~');)
                i++;
        else
            out[n++] = line[i];
    return n;
}

/* Record a process beyond the limit. */
static void leave_out(struct ncclog_set *set, const char *key)
{
    if (!set->left_out)
        set->left_out = json_object();
    if (json_object_size(set->left_out) < LEFT_OUT_MAX)
        json_object_set_new_nocheck(set->left_out, key, json_true());
    set->n_left_out = json_object_size(set->left_out);
}

/* For processes beyond the limit, record only the hosts on which NCCL uses sockets. */
static void note_left_out(struct ncclog_set *set, const struct ncclog_process *wanted,
                          const char *line, size_t len)
{
    if (!memmem(line, len, " NCCL INFO Using network Socket", 31))
        return;
    if (!set->left_out_by_sockets)
        set->left_out_by_sockets = json_object();
    if (json_object_size(set->left_out_by_sockets) < SOCKET_HOSTS_MAX)
        json_object_set_new_nocheck(set->left_out_by_sockets, wanted->host, json_true());
}

/* Return the process of a line, or NULL if it is beyond the limit. Try the previous
 * line's process first, because most lines come from the same process. */
static struct ncclog_process *find(struct ncclog_set *set,
                                   const struct ncclog_process *wanted)
{
    struct ncclog_process *last = set->n > 0 ? set->items[set->last] : NULL;
    char key[NCCLOG_NAME_MAX + 32];
    int64_t place;

    if (last && last->pid == wanted->pid && strcmp(last->host, wanted->host) == 0)
        return last;
    snprintf(key, sizeof(key), "%ld %s", wanted->pid, wanted->host);
    place = json_get_int(set->places, key, -1);
    if (place < 0 && set->n == set->max) {
        leave_out(set, key);
        return NULL;
    }
    if (place < 0) {
        if (!set->places)
            set->places = json_object();
        place = (int64_t)set->n;
        json_object_set_new_nocheck(set->places, key, json_integer(place));
        set->items = memory_grown(set->items, set->n, &set->capacity,
                                  sizeof(struct ncclog_process *), "NCCL's logs");
        set->items[set->n] = memory_zeroed(1, sizeof(*wanted), "NCCL's logs");
        *set->items[set->n] = *wanted;
        ncclog_init(&set->items[set->n++]->log);
    }
    set->last = (size_t)place;
    return set->items[place];
}

enum ncclog_line ncclog_set_line(struct ncclog_set *set, const char *line, size_t len)
{
    char plain[PLAIN_MAX];
    struct ncclog_process wanted, *process;
    struct ncclog loose;
    enum ncclog_line kind;

    if (!memmem(line, len, "CCL ", 4))
        return NCCLOG_NONE;
    if (memchr(line, '\033', len)) {
        len = ncclog_plain(line, len, plain, sizeof(plain));
        line = plain;
    }
    if (read_origin(line, len, &wanted)) {
        process = find(set, &wanted);
        if (!process) {
            note_left_out(set, &wanted, line, len);
            return NCCLOG_NONE;
        }
    } else
        process = set->n > 0 && !memmem(line, len, "CCL version ", 12)
                      ? set->items[set->last]
                      : NULL;
    if (process)
        return ncclog_line(&process->log, line, len);
    ncclog_init(&loose);
    kind = ncclog_line(&loose, line, len);
    if (loose.version[0]) {
        snprintf(set->version, sizeof(set->version), "%s", loose.version);
        set->dialect = loose.dialect;
    }
    ncclog_release(&loose);
    return kind;
}

json_t *ncclog_set_json(const struct ncclog_set *set, size_t i)
{
    const struct ncclog_process *process = set->items[i];
    json_t *out = ncclog_json(&process->log);

    if (!out)
        return NULL;
    json_object_set_new(out, "host",
                        clean_text_json(process->host, strlen(process->host)));
    json_object_set_new(out, "pid", json_integer(process->pid));
    if (set->version[0] && !json_object_get(out, "version")) {
        json_object_set_new(out, "version",
                            clean_text_json(set->version, strlen(set->version)));
        if (set->dialect == NCCLOG_RCCL)
            json_object_set_new(out, "dialect", json_string("rccl"));
    }
    return out;
}

const char *ncclog_set_failure(const struct ncclog_set *set)
{
    const char *first = NULL;

    for (size_t i = 0; i < set->n; i++) {
        const char *failure = ncclog_failure(&set->items[i]->log);
        if (failure && !ncclog_is_echo(failure))
            return failure;
        first = first ? first : failure;
    }
    return first;
}

long ncclog_set_links(const struct ncclog_set *set)
{
    long links = 0;

    for (size_t i = 0; i < set->n; i++)
        links += set->items[i]->log.n_links;
    return links;
}
