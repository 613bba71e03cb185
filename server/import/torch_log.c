/* SPDX-License-Identifier: Apache-2.0 */
/* torch_log.c - reads PyTorch's output of a stuck job */
#include "server/import/torch_log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/transport.h"
#include "server/finding/finding.h"

#define LINE_MAX_BYTES 2000
#define GROUP_SIZE 48
#define OP_SIZE 32
#define RANKS_MAX 65536
#define ERRORS_MAX 64
/* Maximum number of lines from the one that announces an NCCL error to "Last error:" */
#define ERROR_WITHIN 6
#define LISTED_MAX 16
#define RANKS_SIZE 160 /* size in bytes of a text that lists ranks */
/* maximum number of operations that a sentence about timeouts lists */
#define TIMEOUTS_TOLD 6
#define MARK " (imported)"
#define WHAT "PyTorch's log" /* named in the out-of-memory message */

/* The last reported state of a rank in a group. -1: unknown. */
struct torch_rank {
    char group[GROUP_SIZE];
    long rank; /* rank in the job if the line contains it, otherwise rank in the group */
    long work, enqueued, completed;
    char op[OP_SIZE]; /* the collective that timed out, or "" if unknown */
};

struct torch_error {
    char text[TORCH_TEXT_SIZE]; /* error text without pointers and ports */
    /* first rank that reported the error; number of ranks that reported it */
    long first, n;
};

void torch_log_init(struct torch_log *log)
{
    *log = (struct torch_log){.places = json_object(), .rank = -1};
}

void torch_log_release(struct torch_log *log)
{
    free(log->ranks);
    free(log->errors);
    json_decref(log->places);
}

/* ---- Lines ---- */

/* Return the number that follows any of the labels, or -1 if there is none. */
static long number_of(const char *text, const char *const *labels)
{
    for (; *labels; labels++) {
        const char *at = strstr(text, *labels);

        if (at && isdigit((unsigned char)at[strlen(*labels)]))
            return strtol(at + strlen(*labels), NULL, 10) & 0x7fffffffffff;
    }
    return -1;
}

/* Labels of a rank. "[rank2]:" comes from torchrun and is a rank of the job; "Rank 2]" is
 * a rank of the group. */
static const char *const rank_labels[] = {"[rank", "[Rank ", " Rank ", "on rank ", NULL};

/* The labels in "last enqueued NCCL work: 53". PyTorch 2.6 and later omit "NCCL". */
static const char *const work_labels[] = {
    "WorkNCCL(SeqNum=", "at work: ", "at NCCL work: ", "at work sequence id: ", NULL};
static const char *const enqueued_labels[] = {
    "ast enqueued NCCL work: ", "ast enqueued work: ", NULL};
static const char *const completed_labels[] = {
    "ast completed NCCL work: ", "ast completed work: ", NULL};

/* Read the group of "[PG ID 0 PG GUID 0(default_pg) Rank 2]" or "[PG 1 Rank 2]". */
static void group_of(const char *text, char out[GROUP_SIZE])
{
    const char *from = strstr(text, "[PG "), *to = from ? strstr(from, " Rank ") : NULL;

    out[0] = '\0';
    if (to)
        snprintf(out, GROUP_SIZE, "%.*s", (int)(to - from - 4), from + 4);
}

static struct torch_rank *rank_at(struct torch_log *log, const char *group, long rank)
{
    char key[GROUP_SIZE + 32];
    struct torch_rank *one;
    json_int_t place;

    snprintf(key, sizeof(key), "%s/%ld", group, rank);
    place = json_get_int(log->places, key, -1);
    if (place >= 0)
        return &log->ranks[place];
    if (log->n_ranks == RANKS_MAX)
        return NULL;
    json_object_set_new_nocheck(log->places, key, json_integer((json_int_t)log->n_ranks));
    log->ranks =
        memory_grown(log->ranks, log->n_ranks, &log->ranks_capacity, sizeof(*one), WHAT);
    one = &log->ranks[log->n_ranks++];
    *one = (struct torch_rank){.rank = rank, .work = -1, .enqueued = -1, .completed = -1};
    snprintf(one->group, GROUP_SIZE, "%s", group);
    return one;
}

/* Parse "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=51,
 * OpType=ALLREDUCE,". The line does not name the group, so the timeout is stored under
 * the group "". take_state() copies its operation to the group. */
static void take_timeout(struct torch_log *log, const char *text, long rank)
{
    const char *op = strstr(text, "OpType=");
    struct torch_rank *one = rank_at(log, "", rank);

    if (!one || one->work >= 0)
        return;
    one->work = number_of(text, work_labels);
    if (op)
        snprintf(one->op, OP_SIZE, "%.*s", (int)strcspn(op + 7, ",) "), op + 7);
}

/* Parse "... detected by watchdog at work: 51, last enqueued NCCL work: 53, last
 * completed NCCL work: 50.". Only the first report of a rank in a group counts. */
static void take_state(struct torch_log *log, const char *text, long rank)
{
    char group[GROUP_SIZE];
    struct torch_rank *one, *timeout;

    group_of(text, group);
    one = rank_at(log, group, rank);
    if (!one || one->enqueued >= 0)
        return;
    one->enqueued = number_of(text, enqueued_labels);
    one->completed = number_of(text, completed_labels);
    if (one->work < 0)
        one->work = number_of(text, work_labels);
    timeout = rank_at(log, "", rank);
    /* The rank_at() call for `timeout` may have moved the array. */
    one = rank_at(log, group, rank);
    if (timeout && timeout != one && timeout->work == one->work)
        memcpy(one->op, timeout->op, OP_SIZE);
}

/* ---- NCCL's last error ---- */

static void add_error(struct torch_log *log, const char *text)
{
    char stripped[TORCH_TEXT_SIZE];
    struct torch_error *error;

    transport_strip_numbers(text, stripped, sizeof(stripped));
    for (size_t i = 0; i < log->n_errors; i++)
        if (strcmp(log->errors[i].text, stripped) == 0) {
            log->errors[i].n++;
            return;
        }
    if (log->n_errors == ERRORS_MAX)
        return;
    log->errors = memory_grown(log->errors, log->n_errors, &log->errors_capacity,
                               sizeof(*error), WHAT);
    error = &log->errors[log->n_errors++];
    *error = (struct torch_error){.first = log->rank, .n = 1};
    snprintf(error->text, TORCH_TEXT_SIZE, "%s", stripped);
}

/* Skip a label such as "[rank2]: " or "2: ". */
static const char *without_label(const char *text)
{
    const char *colon = strstr(text, ": ");

    text += strspn(text, " \t");
    if (text[0] == '[' && colon && colon[-1] == ']')
        return colon + 2;
    if (isdigit((unsigned char)text[0]) && text[strspn(text, "0123456789")] == ':')
        return text + strspn(text, "0123456789: ");
    return text;
}

/* Parse "Last error:". The text of NCCL's error follows in the same or the next line. */
static bool take_error(struct torch_log *log, const char *text)
{
    const char *last = strstr(text, "Last error:");

    if (log->is_next) {
        text = without_label(text);
        log->is_next = log->to_error = 0;
        if (*text)
            add_error(log, text);
        return true;
    }
    if (strstr(text, "NCCL error in:") || strstr(text, "NCCL error: ") ||
        strstr(text, "DistBackendError")) {
        log->rank = number_of(text, rank_labels);
        log->to_error = ERROR_WITHIN;
    } else if (log->to_error > 0) {
        log->to_error--;
    }
    if (!last || log->to_error == 0)
        return false;
    last += strlen("Last error:");
    last += strspn(last, " ");
    if (*last)
        add_error(log, last);
    log->is_next = !*last;
    log->to_error = *last ? 0 : 1;
    return true;
}

void torch_log_line(struct torch_log *log, const char *line, size_t len)
{
    char text[LINE_MAX_BYTES];
    long rank;

    if (log->to_error == 0 && !memmem(line, len, "NCCL", 4) &&
        !memmem(line, len, "DistBackendError", 16))
        return;
    if (memmem(line, len, " NCCL INFO ", 11) || memmem(line, len, " NCCL WARN ", 11))
        return;
    len = len < sizeof(text) ? len : sizeof(text) - 1;
    memcpy(text, line, len);
    text[len] = '\0';
    text[strcspn(text, "\r")] = '\0';
    if (take_error(log, text))
        return;
    rank = number_of(text, rank_labels);
    /* Ignore progress reports, which healthy jobs write, too. */
    if (rank < 0 || rank >= RANKS_MAX || strstr(text, "update periodically"))
        return;
    if (number_of(text, enqueued_labels) >= 0)
        take_state(log, text, rank);
    else if (strstr(text, "WorkNCCL(SeqNum="))
        take_timeout(log, text, rank);
}

/* ---- Verdicts ---- */

/* The ranks of one group, and the operation that they wait for. */
struct group {
    const struct torch_log *log;
    const char *name;
    const json_t *nodes;
    long n_ranks; /* number of ranks in the job; 0: unknown */
    /* True if the ranks reported only timeouts. PyTorch before 2.3 does not report
     * enqueued work. */
    bool has_timeouts_only;
    /* Sequence number of the latest operation that a rank waits for; -1: none */
    long work;
    const char *op;
};

static bool is_in(const struct group *group, const struct torch_rank *one)
{
    return (one->enqueued >= 0 || (group->has_timeouts_only && one->work >= 0)) &&
           strcmp(one->group, group->name) == 0;
}

static bool is_behind(const struct group *group, const struct torch_rank *one)
{
    return !group->has_timeouts_only && one->enqueued < group->work;
}

static int compare_longs(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* Sort the ranks and write ranges such as "0-1, 3". */
static void list_ranks(long *ranks, size_t n, char *out, size_t size)
{
    size_t at = 0;

    qsort(ranks, n, sizeof(*ranks), compare_longs);
    out[0] = '\0';
    for (size_t i = 0; i < n && at + 40 < size; i++) {
        size_t last = i;

        while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
            last++;
        at += (size_t)snprintf(out + at, size - at, last > i ? "%s%ld-%ld" : "%s%ld",
                               i ? ", " : "", ranks[i], ranks[last]);
        i = last;
    }
}

/* Return the name of the rank's node, or NULL if NCCL's log does not list the rank. */
static json_t *node_of(const struct group *group, long rank)
{
    char key[24];

    snprintf(key, sizeof(key), "%ld", rank);
    return json_object_get(group->nodes, key);
}

static struct finding begin(const char *about, const char *line)
{
    struct finding finding = finding_begin();
    json_t *lines = json_array();

    if (line)
        json_array_append_new(lines, json_clean_string(line));
    finding_put(&finding, "{s:s, s:o}", "about", about, "log", lines);
    return finding;
}

/* Store the ranks that the finding names, and the nodes of these ranks. */
static void put_ranks(struct finding *finding, const struct group *group, long *ranks,
                      size_t n)
{
    char text[RANKS_SIZE];

    list_ranks(ranks, n, text, sizeof(text));
    finding_put(finding, "{s:s, s:I}", "$ranks", text, "$n_ranks", (json_int_t)n);
    for (size_t i = 0; i < n && json_array_size(finding->nodes) < LISTED_MAX; i++)
        finding_name(finding, json_string_value(node_of(group, ranks[i])));
}

/* Find ranks that are in NCCL's log but reported nothing through PyTorch. A rank that is
 * not in NCCL's log may have written to another file. */
static size_t find_silent(const struct group *group, long *out, size_t max)
{
    bool *has = memory_zeroed((size_t)group->n_ranks + 1, sizeof(*has), WHAT);
    size_t n = 0;

    for (size_t i = 0; i < group->log->n_ranks; i++) {
        const struct torch_rank *one = &group->log->ranks[i];

        if (is_in(group, one) && one->rank < group->n_ranks)
            has[one->rank] = true;
    }
    for (long i = 0; i < group->n_ranks && n < max; i++)
        if (!has[i] && node_of(group, i))
            out[n++] = i;
    free(has);
    return n;
}

static const char *other_op(const struct group *group, long *rank)
{
    for (size_t i = 0; i < group->log->n_ranks; i++) {
        const struct torch_rank *one = &group->log->ranks[i];

        if (is_in(group, one) && one->work == group->work && one->op[0] && group->op[0] &&
            strcmp(one->op, group->op) != 0) {
            *rank = one->rank;
            return one->op;
        }
    }
    return NULL;
}

/* Return [{"ranks","n","work","op"}], with one entry for all ranks that timed out in the
 * same operation. */
static json_t *timeouts_json(const struct group *group, long *ranks)
{
    const struct torch_log *log = group->log;
    json_t *list = json_array();
    char text[RANKS_SIZE];

    for (size_t i = 0; i < log->n_ranks; i++) {
        const struct torch_rank *one = &log->ranks[i];
        bool is_told = !is_in(group, one);
        size_t n = 0;

        for (size_t k = 0; k < log->n_ranks && !is_told; k++) {
            const struct torch_rank *other = &log->ranks[k];
            if (!is_in(group, other) || other->work != one->work ||
                strcmp(other->op, one->op) != 0)
                continue;
            is_told = k < i;
            ranks[n++] = other->rank;
        }
        if (is_told)
            continue;
        list_ranks(ranks, n, text, sizeof(text));
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:I, s:o}", "ranks", text, "n",
                                        (json_int_t)n, "work", (json_int_t)one->work,
                                        "op", json_clean_string(one->op)));
    }
    return list;
}

static long highest_enqueued(const struct group *group, bool of_behind)
{
    long most = -1;

    for (size_t i = 0; i < group->log->n_ranks; i++) {
        const struct torch_rank *one = &group->log->ranks[i];

        if (is_in(group, one) && is_behind(group, one) == of_behind &&
            one->enqueued > most)
            most = one->enqueued;
    }
    return most;
}

/* Store the ranks that wait, and the operation that they wait for. */
static void put_waiting(struct finding *finding, const struct group *group, long *ranks,
                        size_t n)
{
    char text[RANKS_SIZE];

    list_ranks(ranks, n, text, sizeof(text));
    finding_put(finding, "{s:s, s:I, s:I}", "$others", text, "$waiting", (json_int_t)n,
                "$work", (json_int_t)group->work);
    finding_set_text(finding, "$op", group->op);
}

static json_t *judge(const struct group *group, long *behind, long *waiting, size_t max)
{
    struct finding finding = begin("rank", NULL);
    size_t n_behind = 0, n_waiting = 0, n_silent;
    enum message_id id = MESSAGE_TORCH_ALIKE;
    long rank = -1;
    const char *op;

    for (size_t i = 0; i < group->log->n_ranks && i < max; i++) {
        const struct torch_rank *one = &group->log->ranks[i];

        if (is_in(group, one) && is_behind(group, one))
            behind[n_behind++] = one->rank;
        else if (is_in(group, one))
            waiting[n_waiting++] = one->rank;
    }
    put_waiting(&finding, group, waiting, n_waiting);
    op = group->has_timeouts_only ? NULL : other_op(group, &rank);
    n_silent = n_behind > 0 || op ? 0 : find_silent(group, behind, max);
    if (n_behind > 0) {
        put_ranks(&finding, group, behind, n_behind);
        finding_put(&finding, "{s:I}", "$after",
                    (json_int_t)highest_enqueued(group, true));
        id = MESSAGE_TORCH_BEHIND;
    } else if (op) {
        put_ranks(&finding, group, &rank, 1);
        finding_set_text(&finding, "$other", op);
        id = MESSAGE_TORCH_OTHER_CALL;
    } else if (n_silent > 0 && n_silent < n_waiting) {
        put_ranks(&finding, group, behind, n_silent);
        id = MESSAGE_TORCH_SILENT;
    } else if (group->has_timeouts_only) {
        json_t *timeouts = timeouts_json(group, behind);

        finding_set_phrases(&finding, "$timeouts", timeouts, TIMEOUTS_TOLD, ", ",
                            "{n:rank/ranks} {ranks} in operation {work}[ ({op})]");
        json_decref(timeouts);
        id = MESSAGE_TORCH_TIMEOUTS;
    }
    return finding_end(&finding, id, MARK);
}

/* Find the latest operation that any rank of the group waits for; -1 if none waits. */
static void find_work(struct group *group)
{
    group->work = -1;
    group->op = "";
    for (size_t i = 0; i < group->log->n_ranks; i++) {
        const struct torch_rank *one = &group->log->ranks[i];
        long work = one->work >= 0                   ? one->work
                    : one->enqueued > one->completed ? one->completed + 1
                                                     : -1;

        if (is_in(group, one) && work > group->work) {
            group->work = work;
            group->op = one->op;
        }
    }
}

static void judge_groups(const struct torch_log *log, const json_t *nodes, long n_ranks,
                         json_t *verdicts)
{
    size_t max = log->n_ranks > (size_t)n_ranks ? log->n_ranks : (size_t)n_ranks;
    long *behind = memory_zeroed(max + 1, sizeof(*behind), WHAT);
    long *waiting = memory_zeroed(max + 1, sizeof(*waiting), WHAT);
    json_t *done = json_object();
    bool has_state = false;

    for (size_t i = 0; i < log->n_ranks; i++)
        has_state = has_state || log->ranks[i].enqueued >= 0;
    for (size_t i = 0; i < log->n_ranks; i++) {
        const struct torch_rank *one = &log->ranks[i];
        /* The members of other groups than the default group are unknown. Ranks that
         * reported nothing can therefore be found only in the default group. */
        bool is_all = !*one->group || strstr(one->group, "default_pg") ||
                      strcmp(one->group, "0") == 0;
        struct group group = {.log = log,
                              .name = one->group,
                              .nodes = nodes,
                              .n_ranks = is_all ? n_ranks : 0,
                              .has_timeouts_only = !has_state};

        if ((has_state && one->enqueued < 0) || json_object_get(done, one->group) ||
            json_array_size(verdicts) >= LISTED_MAX)
            continue;
        json_object_set_new_nocheck(done, one->group, json_true());
        find_work(&group);
        if (group.work >= 0)
            json_array_append_new(verdicts, judge(&group, behind, waiting, max));
    }
    json_decref(done);
    free(behind);
    free(waiting);
}

static bool has_line(const json_t *verdict, const char *text)
{
    const json_t *lines = json_object_get(json_object_get(verdict, "evidence"), "log");

    for (size_t i = 0; i < json_array_size(lines); i++) {
        char stripped[TORCH_TEXT_SIZE];
        const char *line = json_string_value(json_array_get(lines, i));

        transport_strip_numbers(line ? line : "", stripped, sizeof(stripped));
        if (strcmp(stripped, text) == 0)
            return true;
    }
    return false;
}

/* True if a verdict from NCCL's log already quotes this error. That verdict also names
 * the process. */
static bool is_told(const json_t *verdicts, const char *text)
{
    for (size_t i = 0; i < json_array_size(verdicts); i++)
        if (has_line(json_array_get(verdicts, i), text))
            return true;
    return false;
}

void torch_log_verdicts(const struct torch_log *log, const json_t *nodes, long n_ranks,
                        json_t *verdicts)
{
    for (size_t i = 0; i < log->n_errors; i++) {
        const struct torch_error *one = &log->errors[i];
        const struct group all = {.log = log, .nodes = nodes};
        struct finding finding;

        if (is_told(verdicts, one->text))
            continue;
        finding = begin("warning", one->text);
        finding_set_text(&finding, "$error", one->text);
        if (one->first >= 0) {
            long first = one->first;

            put_ranks(&finding, &all, &first, 1);
        }
        json_array_append_new(verdicts, finding_end(&finding, MESSAGE_TORCH_ERROR, MARK));
    }
    judge_groups(log, nodes, n_ranks, verdicts);
}
