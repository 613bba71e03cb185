/* hang.c - who holds up a case in which no rank gets on */
#include "server/analysis/hang.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/base/utf8.h"
#include "server/analysis/verdict.h"

#define SENTENCE_MAX 8192
#define NAMED_MAX 8
#define LINE_QUOTED 200 /* bytes of its last line that the sentence has */

/* Each rank reports every second; a node's agent may be slow to pass it on. */
#define SILENT_S 5.0

/* What tells the ranks that lag from those that wait, the surest first. */
enum sign {
    SIGN_STOPPED,
    SIGN_SILENT,
    SIGN_UNREACHED,
    SIGN_BEHIND,
    SIGN_UNLAUNCHED,
    SIGN_KERNEL,
    SIGN_COUNT
};

struct finding {
    const struct hang *hang;
    enum sign sign; /* SIGN_COUNT: nobody stands out */
    int64_t least, most;
    size_t n_least, n_live, n_lagging, n_told;
    double silent_s;                 /* of the middle rank */
    const struct hang_rank *lagging; /* the first */
};

/* ---- Signs ---- */

/* How far a rank is: inside an operation, behind it, and in front of the next. */
static int64_t place_of(const struct hang_rank *rank)
{
    if (rank->is_over)
        return INT64_MAX;
    if (!rank->has_told)
        return -1;
    if (strcmp(rank->phase, "waiting") == 0)
        return 4 * rank->op + 2;
    return 4 * rank->op + (rank->done < rank->op ? 0 : 1);
}

static char state_of(const struct hang_rank *rank)
{
    return json_get_str(rank->process, "state", "")[0];
}

static bool lists(const json_t *ras, const char *key, int rank)
{
    const json_t *list = json_object_get(ras, key);

    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) == rank)
            return true;
    return false;
}

static bool is_stopped(const struct finding *finding, const struct hang_rank *rank)
{
    (void)finding;
    return state_of(rank) == 'T' || state_of(rank) == 't';
}

static bool is_silent(const struct finding *finding, const struct hang_rank *rank)
{
    return !finding->hang->is_program &&
           rank->silent_s > SILENT_S + 2 * finding->silent_s;
}

static bool is_unreached(const struct finding *finding, const struct hang_rank *rank)
{
    return lists(finding->hang->ras, "missing", rank->rank);
}

static bool is_behind(const struct finding *finding, const struct hang_rank *rank)
{
    return !finding->hang->is_program && finding->n_told > 0 &&
           place_of(rank) == finding->least;
}

static bool is_unlaunched(const struct finding *finding, const struct hang_rank *rank)
{
    return lists(finding->hang->ras, "behind", rank->rank);
}

static bool is_in_kernel(const struct finding *finding, const struct hang_rank *rank)
{
    (void)finding;
    return state_of(rank) == 'D';
}

typedef bool sign_of(const struct finding *finding, const struct hang_rank *rank);

static sign_of *const signs[SIGN_COUNT] = {
    [SIGN_STOPPED] = is_stopped,       [SIGN_SILENT] = is_silent,
    [SIGN_UNREACHED] = is_unreached,   [SIGN_BEHIND] = is_behind,
    [SIGN_UNLAUNCHED] = is_unlaunched, [SIGN_KERNEL] = is_in_kernel,
};

static bool has_sign(const struct finding *finding, size_t i)
{
    const struct hang_rank *rank = &finding->hang->ranks[i];

    return finding->sign < SIGN_COUNT && !rank->is_over &&
           signs[finding->sign](finding, rank);
}

/* ---- Who ---- */

static int compare_silence(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* How long those were silent that are not the ones to find: at least half of them. */
static int find_silence(struct finding *finding)
{
    double *silences = calloc(finding->hang->n + 1, sizeof(*silences));
    size_t n = 0;

    if (!silences)
        return -1;
    for (size_t i = 0; i < finding->hang->n; i++)
        if (!finding->hang->ranks[i].is_over)
            silences[n++] = finding->hang->ranks[i].silent_s;
    qsort(silences, n, sizeof(*silences), compare_silence);
    finding->silent_s = n ? silences[(n - 1) / 2] : 0;
    free(silences);
    return 0;
}

static void find_places(struct finding *finding)
{
    finding->least = INT64_MAX;
    finding->most = -1;
    for (size_t i = 0; i < finding->hang->n; i++) {
        const struct hang_rank *rank = &finding->hang->ranks[i];
        int64_t place = place_of(rank);

        if (rank->is_over)
            continue;
        finding->n_live++;
        finding->n_told += rank->has_told;
        finding->n_least = place < finding->least    ? 1
                           : place == finding->least ? finding->n_least + 1
                                                     : finding->n_least;
        finding->least = place < finding->least ? place : finding->least;
        finding->most = place > finding->most ? place : finding->most;
    }
}

/* A sign names those who have it unless most have it; a process that is stopped is at
 * fault however many there are. */
static void find_lagging(struct finding *finding)
{
    for (int sign = 0; sign < SIGN_COUNT; sign++) {
        finding->sign = (enum sign)sign;
        finding->n_lagging = 0;
        for (size_t i = 0; i < finding->hang->n; i++) {
            if (!has_sign(finding, i))
                continue;
            if (finding->n_lagging++ == 0)
                finding->lagging = &finding->hang->ranks[i];
        }
        if (finding->n_lagging > 0 &&
            (sign == SIGN_STOPPED || 2 * finding->n_lagging <= finding->hang->n))
            return;
    }
    finding->sign = SIGN_COUNT;
    finding->n_lagging = 0;
    finding->lagging = NULL;
}

/* ---- The sentence ---- */

/* "inside operation 12 (1.0 MiB)" */
static void put_place(const struct hang_rank *rank, struct buf *out)
{
    char size[UNITS_TEXT_MAX];

    if (!rank->has_told) {
        buf_append_str(out, "before its first report");
        return;
    }
    if (strcmp(rank->phase, "waiting") == 0)
        buf_append_str(out, "waiting for its peers after operation");
    else
        buf_append_str(out, rank->done < rank->op ? "inside operation"
                                                  : "done with operation");
    buf_printf(out, " %lld (%s)", (long long)rank->op,
               units_format_human((uint64_t)rank->size, size));
}

static void put_names(const struct finding *finding, struct buf *out)
{
    size_t named = 0;

    for (size_t i = 0; i < finding->hang->n && named < NAMED_MAX; i++) {
        const struct hang_rank *rank = &finding->hang->ranks[i];

        if (!has_sign(finding, i))
            continue;
        buf_printf(out, "%srank %d on %s", named ? ", " : "", rank->rank, rank->node);
        named++;
    }
    if (finding->n_lagging > named)
        buf_printf(out, " and %zu more", finding->n_lagging - named);
    buf_append_str(out, finding->n_lagging == 1 ? " lags: " : " lag: ");
}

static void put_sign(const struct finding *finding, struct buf *out)
{
    const struct hang_rank *first = finding->lagging;
    const json_t *ras = finding->hang->ras;
    const char *whose = finding->n_lagging == 1 ? "its" : "their";
    const char *whom = finding->n_lagging == 1 ? "it" : "them";
    const char *kernel = json_get_str(first->process, "kernel", "");

    switch (finding->sign) {
    case SIGN_STOPPED:
        buf_printf(out, "%s process is stopped%s, ", whose,
                   state_of(first) == 't' ? " by a debugger" : " (by a signal)");
        break;
    case SIGN_SILENT:
        buf_printf(out, "nothing was heard of %s for %.0f s, ", whom, first->silent_s);
        break;
    case SIGN_UNREACHED:
        buf_printf(out, "NCCL's RAS gets no answer from %s, ", whom);
        break;
    case SIGN_UNLAUNCHED:
        buf_printf(out, "by NCCL's RAS %s launched %lld collectives, others %lld; ",
                   finding->n_lagging == 1 ? "it has" : "they have",
                   (long long)json_get_int(ras, "least", 0),
                   (long long)json_get_int(ras, "most", 0));
        break;
    case SIGN_KERNEL:
        buf_printf(out, "%s process is stuck in the kernel (state D%s%s), ", whose,
                   kernel[0] ? ", " : "", kernel);
        break;
    case SIGN_BEHIND:
    case SIGN_COUNT:
        break;
    }
}

/* What is known besides of a rank that is behind. */
static void put_process(const struct finding *finding, struct buf *out)
{
    const struct hang_rank *first = finding->lagging;
    const char *line = json_get_str(first->process, "line", "");

    if (finding->sign == SIGN_BEHIND && is_in_kernel(finding, first))
        buf_printf(out, ", in the kernel (state D, %s)",
                   json_get_str(first->process, "kernel", "no function known"));
    if (line[0])
        buf_printf(out, ", its last line: %.*s", utf8_fit(line, LINE_QUOTED), line);
}

/* Of the others the one that is furthest. */
static void put_waiting(const struct finding *finding, struct buf *out)
{
    size_t n = finding->n_live - finding->n_lagging;
    const struct hang_rank *furthest = NULL;

    for (size_t i = 0; i < finding->hang->n; i++) {
        const struct hang_rank *rank = &finding->hang->ranks[i];

        if (!rank->is_over && !has_sign(finding, i) &&
            (!furthest || place_of(rank) > place_of(furthest)))
            furthest = rank;
    }
    if (!furthest)
        return;
    buf_printf(out, "; %zu rank%s for %s", n, n == 1 ? " waits" : "s wait",
               finding->n_lagging == 1 ? "it" : "them");
    if (furthest->has_told && !finding->hang->is_program) {
        buf_append_str(out, n == 1 ? ", " : ", up to ");
        put_place(furthest, out);
    }
}

/* One that does not report may have got further than it said. */
static void put_last_place(const struct finding *finding, struct buf *out)
{
    bool is_old = finding->sign == SIGN_STOPPED || finding->sign == SIGN_SILENT;

    if (is_old && finding->lagging->has_told)
        buf_append_str(out, "last heard of ");
    put_place(finding->lagging, out);
}

static void put_lagging(const struct finding *finding, struct buf *out)
{
    put_names(finding, out);
    put_sign(finding, out);
    if (finding->hang->is_program)
        buf_append_str(out, "as a program it does not say where it is");
    else
        put_last_place(finding, out);
    put_process(finding, out);
    put_waiting(finding, out);
}

static void put_nobody(const struct finding *finding, struct buf *out)
{
    const struct hang_rank *least = NULL;

    for (size_t i = 0; i < finding->hang->n && !least; i++)
        if (place_of(&finding->hang->ranks[i]) == finding->least)
            least = &finding->hang->ranks[i];
    if (finding->n_least == finding->n_live)
        buf_printf(out, "all %zu ranks are ", finding->n_live);
    else
        buf_printf(out, "%zu of %zu ranks are ", finding->n_least, finding->n_live);
    if (least)
        put_place(least, out);
    buf_append_str(out, finding->n_least == finding->n_live
                            ? " and none gets on: the network or the library, no rank "
                              "stands out"
                            : ", the others further: no rank stands out");
}

static enum verdict_answer put_answer(const struct finding *finding, struct buf *out)
{
    if (finding->lagging) {
        put_lagging(finding, out);
        return VERDICT_LAGGING_RANK;
    }
    if (finding->hang->is_program || finding->n_told == 0) {
        buf_append_str(out, finding->hang->is_program
                                ? "a program's ranks do not say where they are, and "
                                  "none of their processes is stopped"
                                : "no rank has said where it is");
        return VERDICT_NOT_ENOUGH_DATA;
    }
    put_nobody(finding, out);
    return VERDICT_NO_RANK;
}

/* ---- The evidence ---- */

static json_t *rank_json(const struct finding *finding, size_t i)
{
    static const char *const kept[] = {"state", "kernel", "line", "text"};
    static const char *const names[] = {"state", "kernel", "line", "stack"};
    const struct hang_rank *rank = &finding->hang->ranks[i];
    json_t *out =
        json_pack("{s:i, s:s, s:b, s:f}", "rank", rank->rank, "node", rank->node,
                  "lagging", (int)has_sign(finding, i), "silent_s", rank->silent_s);

    if (rank->has_told)
        json_object_update_new(
            out, json_pack("{s:I, s:I, s:I, s:s}", "operation", (json_int_t)rank->op,
                           "finished", (json_int_t)rank->done, "size",
                           (json_int_t)rank->size, "phase", rank->phase));
    for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
        const char *text = json_get_str(rank->process, kept[k], "");

        if (text[0])
            json_object_set_new(out, names[k], json_clean_string(text));
    }
    return out;
}

/* Those that lag, then the others. */
static json_t *ranks_json(const struct finding *finding)
{
    json_t *list = json_array();

    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < finding->hang->n; i++)
            if (!finding->hang->ranks[i].is_over &&
                has_sign(finding, i) == (others == 0) &&
                json_array_size(list) < HANG_LISTED_MAX)
                json_array_append_new(list, rank_json(finding, i));
    return list;
}

static json_t *evidence_json(const struct finding *finding)
{
    static const char *const names[SIGN_COUNT] = {
        [SIGN_STOPPED] = "stopped",       [SIGN_SILENT] = "silent",
        [SIGN_UNREACHED] = "unreached",   [SIGN_BEHIND] = "behind",
        [SIGN_UNLAUNCHED] = "unlaunched", [SIGN_KERNEL] = "in_kernel",
    };
    char since[CLOCK_TEXT_MAX];
    json_t *out = json_pack("{s:s, s:I, s:I, s:I, s:o}", "since",
                            clock_format_ms(finding->hang->since_ms, since), "seconds",
                            (json_int_t)finding->hang->seconds, "lagging",
                            (json_int_t)finding->n_lagging, "waiting",
                            (json_int_t)(finding->n_live - finding->n_lagging), "ranks",
                            ranks_json(finding));

    if (finding->sign < SIGN_COUNT)
        json_object_set_new(out, "by", json_string(names[finding->sign]));
    if (finding->hang->ras)
        json_object_set_new(out, "ras", json_deep_copy(finding->hang->ras));
    return out;
}

json_t *hang_verdict(const struct hang *hang)
{
    struct finding finding = {.hang = hang, .sign = SIGN_COUNT};
    enum verdict_answer answer;
    json_t *verdict;
    struct buf out;

    if (find_silence(&finding))
        return NULL;
    find_places(&finding);
    find_lagging(&finding);
    buf_init(&out, SENTENCE_MAX);
    answer = put_answer(&finding, &out);
    verdict = verdict_json(VERDICT_HANG, answer, out.data ? out.data : "", hang->mark,
                           evidence_json(&finding));
    buf_release(&out);
    return verdict;
}
