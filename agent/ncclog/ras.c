/* ras.c - what NCCL's RAS says of a communicator */
#include "agent/ncclog/ras.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"

#define TEXT_KEPT ((size_t)2000)
#define HOST_SIZE 64

/* NCCL 2.28 leaves out the comma between a missing rank's number and what follows. */
static int mend(const char *text, size_t len, struct buf *out)
{
    char last = '\0'; /* but for blanks */

    for (size_t i = 0; i < len; i++) {
        bool is_blank = isspace((unsigned char)text[i]);

        if (text[i] == '"' && isdigit((unsigned char)last) && i > 0 &&
            isspace((unsigned char)text[i - 1]) && buf_append(out, ",", 1))
            return -1;
        if (buf_append(out, &text[i], 1))
            return -1;
        last = is_blank ? last : text[i];
    }
    return 0;
}

static json_t *parse(const char *text, size_t len)
{
    json_t *answer = NULL;
    struct buf mended;

    buf_init(&mended, 2 * RAS_ANSWER_MAX);
    if (mend(text, len, &mended) == 0 && mended.len > 0)
        answer = json_parse(mended.data, mended.len, NULL);
    buf_release(&mended);
    return answer;
}

static bool is_among(const json_t *ranks, long pid, const struct ras_case *about)
{
    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const json_t *rank = json_array_get(ranks, i);

        if (json_get_int(rank, "pid", -1) == pid &&
            about->is_here(json_get_str(rank, "host", "")))
            return true;
    }
    return false;
}

static bool has_ours(const json_t *communicator, const struct ras_case *about)
{
    const json_t *ranks = json_object_get(communicator, "ranks");
    const json_t *missing = json_object_get(communicator, "missing_ranks");

    for (size_t i = 0; i < about->n_pids; i++)
        if (!is_among(ranks, about->pids[i], about) &&
            !is_among(missing, about->pids[i], about))
            return false;
    return about->n_pids > 0;
}

static const json_t *find_communicator(const json_t *answer, const struct ras_case *about)
{
    const json_t *all = json_object_get(answer, "communicators");

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);

        if (json_get_int(one, "size", 0) == about->world_size && has_ours(one, about))
            return one;
    }
    return NULL;
}

/* Collectives of all kinds that the rank has launched. */
static json_int_t launched_by(const json_t *rank)
{
    json_int_t sum = 0, n;
    const char *kind;
    json_t *count;

    json_object_foreach (json_object_get(rank, "collective_counts"), kind, count) {
        n = json_integer_value(count);
        sum += n > 0 && n < INT32_MAX ? n : 0;
    }
    return sum;
}

static void list_rank(json_t *list, const json_t *rank, int world_size)
{
    json_int_t number = json_get_int(rank, "rank", -1);

    if (number >= 0 && number < world_size)
        json_array_append_new(list, json_integer(number));
}

/* Ranks stand out from others that are not listed: a list that is cut would have some of
 * many do so, and one of most has no others. */
static void drop_unless_few(json_t *list, int world_size)
{
    size_t n = json_array_size(list);

    if (n > RAS_RANKS_LISTED || 2 * n > (size_t)world_size)
        json_array_clear(list);
}

/* NCCL counts neither sends and receives nor what is made of them: then all have 0. */
static void add_launched(json_t *out, const json_t *ranks, int world_size)
{
    size_t n = json_array_size(ranks), n_least = 0;
    json_int_t least = 0, most = 0;
    json_t *behind = json_array();

    for (size_t i = 0; i < n; i++) {
        json_int_t count = launched_by(json_array_get(ranks, i));

        n_least = i == 0 || count < least ? 1 : n_least + (count == least);
        least = i == 0 || count < least ? count : least;
        most = count > most ? count : most;
    }
    for (size_t i = 0; least < most && 2 * n_least <= n && i < n; i++)
        if (launched_by(json_array_get(ranks, i)) == least)
            list_rank(behind, json_array_get(ranks, i), world_size);
    drop_unless_few(behind, world_size);
    json_object_set_new(out, "behind", behind);
    json_object_set_new(out, "least", json_integer(least));
    json_object_set_new(out, "most", json_integer(most));
}

static json_t *read_json(const char *text, size_t len, const struct ras_case *about)
{
    json_t *answer = parse(text, len), *out = NULL, *missing = json_array();
    const json_t *one = find_communicator(answer, about);
    const json_t *ranks = json_object_get(one, "ranks");
    const json_t *gone = json_object_get(one, "missing_ranks");

    for (size_t i = 0; i < json_array_size(gone); i++)
        list_rank(missing, json_array_get(gone, i), about->world_size);
    drop_unless_few(missing, about->world_size);
    if (one)
        out = json_pack(
            "{s:o, s:i, s:O}", "version",
            json_clean_string(json_get_str(answer, "nccl_version", "not known")), "seen",
            (int)json_array_size(ranks), "missing", missing);
    if (out)
        add_launched(out, ranks, about->world_size);
    json_decref(missing);
    json_decref(answer);
    return out;
}

static bool is_ours(long pid, const char *host, const struct ras_case *about)
{
    for (size_t i = 0; i < about->n_pids; i++)
        if (about->pids[i] == pid)
            return about->is_here(host);
    return false;
}

/* The host of "NUMBER on node HOST managing", or "". */
static void read_host(const char *at, const char *end, char host[HOST_SIZE])
{
    static const char before[] = " on node ";
    size_t n = 0;

    host[0] = '\0';
    if ((size_t)(end - at) < strlen(before) || memcmp(at, before, strlen(before)) != 0)
        return;
    for (at += strlen(before);
         at < end && n + 1 < HOST_SIZE && !isspace((unsigned char)*at); at++)
        host[n++] = *at;
    host[n] = '\0';
}

/* Only what names a process of ours may be passed on: the rest may be others' business.
 */
static json_t *read_text(const char *text, size_t len, const struct ras_case *about)
{
    static const char word[] = "rocess ";
    const char *at = text, *end = text + len;

    while ((at = memmem(at, (size_t)(end - at), word, strlen(word))) != NULL) {
        char host[HOST_SIZE];
        long pid = 0;

        for (at += strlen(word); at < end && isdigit((unsigned char)*at); at++)
            pid = pid < 100000000 ? 10 * pid + (*at - '0') : pid;
        read_host(at, end, host);
        if (is_ours(pid, host, about)) {
            const char *errors = memmem(text, len, "\nErrors\n", 8);
            const char *from = errors ? errors + 1 : text;
            size_t left = (size_t)(end - from);

            return json_pack("{s:o}", "text",
                             clean_text_json(from, left < TEXT_KEPT ? left : TEXT_KEPT));
        }
    }
    return NULL;
}

json_t *ras_read(const char *answer, size_t len, const struct ras_case *about)
{
    const char *begin = memmem(answer, len, "\n{", 2);

    return begin ? read_json(begin, len - (size_t)(begin - answer), about)
                 : read_text(answer, len, about);
}
