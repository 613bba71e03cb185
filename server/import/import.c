/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - splits the output of another benchmark into lines, and completes the tables
 * that the readers find */
#include "server/import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog_set.h"
#include "common/spec/collective.h"
#include "server/import/import_build.h"

/* nccl-tests prints bandwidths with two decimals. The ratio of two bandwidths is precise
 * enough if both are at least this large. */
#define RATIO_FROM_GBS 1.0
#define RATIO_TOLERANCE 0.02
#define ROUNDING_GBS 0.006
/* Minimum length in bytes of a row that output of NCCL's log interrupts */
#define ROW_LENGTH_MIN 8
/* Relative rounding error of times, which may be printed with only three digits */
#define ROUNDING 0.005

/* Return the length of a prefix from srun -l ("0: ") or mpirun --tag-output
 * ("[1,0]<stdout>:"). The readers skip any prefix, but headings are stored as text and
 * must not contain these two. */
static size_t label_length(const char *text, size_t len)
{
    size_t i = 0, from;

    while (i < len && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i + 2 < len && text[i] == '[') {
        const char *end = memchr(text + i, '>', len - i < 40 ? len - i : 40);

        if (end && end + 1 < text + len && end[1] == ':' &&
            memchr(text + i, '<', (size_t)(end - text) - i))
            return (size_t)(end - text) + 2;
        return 0;
    }
    from = i;
    while (i < len && isdigit((unsigned char)text[i]))
        i++;
    return i > from && i + 1 < len && text[i] == ':' && text[i + 1] == ' ' ? i + 2 : 0;
}

static void split(struct import_line *line, const char *text, size_t len)
{
    char *at, *rest = NULL;

    if (len >= IMPORT_LINE_SIZE)
        len = IMPORT_LINE_SIZE - 1;
    memcpy(line->copy, text, len);
    line->copy[len] = '\0';
    line->n_words = 0;
    for (at = strtok_r(line->copy, " \t\r", &rest);
         at && line->n_words < IMPORT_WORDS_MAX; at = strtok_r(NULL, " \t\r", &rest))
        line->words[line->n_words++] = at;
}

struct readers {
    struct nccl_text nccl;
    struct osu_text osu;
};

/* Pass a NUL-terminated line to the readers. If output of NCCL's log interrupts the line,
 * pass only the part before it. Skip lines that consist only of NCCL's log. */
static int take_line(struct readers *readers, struct import_line *line, const char *text,
                     size_t len, struct error *err)
{
    char whole[IMPORT_LINE_SIZE], plain[IMPORT_LINE_SIZE];
    size_t label, n;
    const char *nccl;

    if (memchr(text, '\033', len)) {
        len = ncclog_plain(text, len, plain, sizeof(plain));
        text = plain;
    }
    nccl = memmem(text, len, " NCCL INFO ", 11);
    label = label_length(text, len);
    n = len - label;
    text += label;
    if (nccl && nccl > text)
        n = (size_t)(nccl - text);
    n = n < sizeof(whole) ? n : sizeof(whole) - 1;
    if (nccl && n < ROW_LENGTH_MIN)
        return 0;
    memcpy(whole, text, n);
    whole[n] = '\0';
    line->text = whole;
    /* Drop the trailing characters that JSON, CSV or a table adds to a line. */
    while (n > 0 && strchr(" \r\"',|", text[n - 1]))
        n--;
    split(line, text, n);
    if (strstr(whole, "nThread ") || strstr(whole, "ccl-tests version"))
        readers->osu.is_open = false;
    if (osu_text_line(&readers->osu, line, err))
        return -1;
    if (readers->osu.is_open)
        return 0;
    return nccl_text_line(&readers->nccl, line, nccl != NULL, err);
}

/* Progress meters overwrite their line with carriage returns. Therefore each carriage
 * return starts a new line, except one at the end. */
static int take_parts(struct readers *readers, struct import_line *line, const char *text,
                      const char *stop, struct error *err)
{
    const char *cr;

    while ((cr = memchr(text, '\r', (size_t)(stop - text))) && cr + 1 < stop) {
        if (take_line(readers, line, text, (size_t)(cr - text), err))
            return -1;
        text = cr + 1;
    }
    return take_line(readers, line, text, (size_t)(stop - text), err);
}

static int read_text(struct import *import, const char *text, size_t len,
                     struct error *err)
{
    struct import_line *line = memory_zeroed(1, sizeof(*line), "an imported file");
    const char *end = text + len;
    struct readers readers;
    int result = 0;

    nccl_text_init(&readers.nccl, import);
    osu_text_init(&readers.osu, import);
    while (text < end && !result) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;

        line->number++;
        result = take_parts(&readers, line, text, stop, err);
        text = stop + 1;
    }
    free(line);
    return result;
}

static void table_release(struct import_table *table)
{
    free(table->nodes);
    free(table->rows);
}

/* Drop the tables of benchmark calls that failed before their first row. */
static void drop_empty(struct import *import)
{
    size_t n = 0;

    for (size_t i = 0; i < import->n_tables; i++)
        if (import->tables[i].n_rows == 0) {
            if (!import->failure[0])
                memcpy(import->failure, import->tables[i].failure,
                       sizeof(import->failure));
            table_release(&import->tables[i]);
        } else
            import->tables[n++] = import->tables[i];
    import->n_tables = n;
}

/* Write the line numbers of unread lines, as in "3, 5 and 12 more". */
static void list_lines(const struct import *import, char *out, size_t size)
{
    size_t n = 0, i = 0;

    out[0] = '\0';
    for (; i < json_array_size(import->unread) && n + 40 < size; i++) {
        const json_t *item = json_array_get(import->unread, i);
        const char *pointer = json_get_str(item, "pointer", NULL);

        if (pointer)
            n += (size_t)snprintf(out + n, size - n, "%s%.30s", i ? ", " : "", pointer);
        else
            n += (size_t)snprintf(out + n, size - n, "%s%lld", i ? ", " : "",
                                  (long long)json_get_int(item, "line", 0));
    }
    if (import->n_unread > i)
        snprintf(out + n, size - n, " and %zu more", import->n_unread - i);
}

static int say_nothing_read(const struct import *import, struct error *err)
{
    char lines[300];

    list_lines(import, lines, sizeof(lines));
    if (import->n_unread > 0)
        return error_set(err, ERROR_INVALID,
                         "the file contains no readable row; %zu line%s could not be "
                         "read (%s): %.100s",
                         import->n_unread, import->n_unread == 1 ? "" : "s", lines,
                         json_get_str(json_array_get(import->unread, 0), "detail", "?"));
    if (import->failure[0])
        return error_set(err, ERROR_INVALID,
                         "the file contains no row, because the benchmark failed before "
                         "its first row: %s",
                         import->failure);
    return error_set(
        err, ERROR_INVALID,
        "the file contains no rows of nccl-tests or the OSU benchmarks, and no "
        "lines of NCCL's log (HOST:PID:THREAD [GPU] NCCL INFO ...)");
}

/* True if the whole text is one JSON object. False for JSON Lines, where only the first
 * line would be parsed. */
static bool is_json(const char *text, size_t len)
{
    const char *newline = len > 0 && text[0] == '{' ? memchr(text, '\n', len) : NULL;
    json_t *line = newline ? json_loadb(text, (size_t)(newline - text), 0, NULL) : NULL;
    bool is_alone = true;

    for (const char *at = newline; line && at < text + len && is_alone; at++)
        is_alone = isspace((unsigned char)*at);
    json_decref(line);
    return len > 0 && text[0] == '{' && is_alone;
}

int import_read(const char *text, size_t len, struct import *out, struct error *err)
{
    size_t blank = 0;
    bool is_object;
    int result;

    memset(out, 0, sizeof(*out));
    out->unread = json_array();
    while (blank < len && isspace((unsigned char)text[blank]))
        blank++;
    is_object = is_json(text + blank, len - blank);
    if (is_object && len > IMPORT_JSON_MAX)
        result = error_set(err, ERROR_LIMIT,
                           "the JSON is %zu bytes long; the limit is %zu bytes", len,
                           IMPORT_JSON_MAX);
    else if (is_object)
        result = nccl_json_read(out, text + blank, len - blank, err);
    else
        result = read_text(out, text, len, err);
    drop_empty(out);
    if (result == 0 && out->n_tables == 0)
        result = say_nothing_read(out, err);
    return result;
}

void import_release(struct import *import)
{
    for (size_t i = 0; i < import->n_tables; i++)
        table_release(&import->tables[i]);
    free(import->tables);
    json_decref(import->unread);
    memset(import, 0, sizeof(*import));
}

/* ---- Completing the tables ---- */

/* OSU's size is the number of bytes that each rank sends to one other rank, while
 * ringbench counts the larger buffer. Both are equal for reduce-scatter. OSU prints no
 * bandwidths. */
static void settle_osu_row(const struct import_table *table, struct import_row *row)
{
    enum collective_kind kind = (enum collective_kind)table->collective;
    const struct collective_facts *facts = collective_facts(kind);
    uint64_t ranks = (uint64_t)table->ranks;
    bool is_part = facts->shape != SHAPE_FLAT && kind != COLLECTIVE_REDUCE_SCATTER;

    row->count = row->size / dtype_size((enum dtype)row->dtype);
    if (is_part && row->size <= INT64_MAX / ranks)
        row->size *= ranks;
    else if (kind == COLLECTIVE_REDUCE_SCATTER)
        row->count /= ranks;
    row->algbw_gbs = (double)row->size / row->time_us * 1e-3;
    row->busbw_gbs = row->algbw_gbs * collective_bus_factor(kind, table->ranks);
}

static bool is_near(double value, double printed)
{
    return fabs(value - printed) <= ROUNDING_GBS + ROUNDING * printed;
}

/* Compute bandwidths from size and time, because nccl-tests prints only two decimals: for
 * 8 bytes both are zero. */
static void sharpen(const struct import_table *table, struct import_row *row)
{
    enum collective_kind kind = (enum collective_kind)table->collective;
    double algbw_gbs = (double)row->size / row->time_us * 1e-3;
    double busbw_gbs =
        algbw_gbs * collective_bus_factor(kind, table->ranks / table->groups);

    if (row->size == 0 || row->time_us <= 0.0 || !is_near(algbw_gbs, row->algbw_gbs) ||
        !is_near(busbw_gbs, row->busbw_gbs))
        return;
    row->algbw_gbs = algbw_gbs;
    row->busbw_gbs = busbw_gbs;
}

/* Return bus bandwidth divided by algorithm bandwidth, from the row with the highest
 * bandwidth, or 0 if no row is precise enough. */
static double ratio_of(const struct import_table *table)
{
    const struct import_row *best = &table->rows[0];

    for (size_t i = 1; i < table->n_rows; i++)
        if (table->rows[i].algbw_gbs > best->algbw_gbs)
            best = &table->rows[i];
    return best->algbw_gbs >= RATIO_FROM_GBS ? best->busbw_gbs / best->algbw_gbs : 0.0;
}

static bool fits(int collective, int ranks, double ratio)
{
    double factor = collective_bus_factor((enum collective_kind)collective, ranks);

    return fabs(ratio - factor) <= RATIO_TOLERANCE * (factor + 0.1);
}

/* List the collectives whose bus factor matches the bandwidths, as a hint. */
static void list_fitting(double ratio, int ranks, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (int i = 0; i < COLLECTIVE_COUNT && ratio > 0.0 && ranks > 0 && n < size; i++) {
        if (i == COLLECTIVE_HYPERCUBE || i == COLLECTIVE_ALLTOALLV ||
            !fits(i, ranks, ratio))
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s",
                              n ? ", " : "; its bandwidths match ",
                              collective_name((enum collective_kind)i));
    }
}

static int need_collective(const struct import_table *table, struct error *err)
{
    char fitting[300];

    list_fitting(ratio_of(table), table->ranks / table->groups, fitting, sizeof(fitting));
    return error_set(
        err, ERROR_INVALID,
        "the file does not name its collective: add it as in ?collective=all_reduce%s",
        fitting);
}

static int check_ratio(const struct import_table *table, struct error *err)
{
    enum collective_kind kind = (enum collective_kind)table->collective;
    int ranks = table->ranks / table->groups;
    double ratio = ratio_of(table);

    if (ratio <= 0.0 || kind == COLLECTIVE_HYPERCUBE || fits((int)kind, ranks, ratio))
        return 0;
    return error_set(
        err, ERROR_INVALID,
        "the bus bandwidths are %.2f times the algorithm bandwidths, but %s on %d ranks "
        "requires %.2f times: check the collective and the number of ranks",
        ratio, collective_name(kind), ranks, collective_bus_factor(kind, ranks));
}

/* True if a row repeats the size and settings of the previous row, because two worlds
 * print at the same time. The two placements in one line count as two rows. */
static bool has_doubled_rows(const struct import_table *table)
{
    for (size_t i = 2; i < table->n_rows; i++)
        if (table->rows[i].size == table->rows[i - 2].size &&
            table->rows[i].in_place == table->rows[i - 2].in_place &&
            table->rows[i].dtype == table->rows[i - 2].dtype &&
            table->rows[i].redop == table->rows[i - 2].redop &&
            table->rows[i].root == table->rows[i - 2].root)
            return true;
    return false;
}

#define WITHOUT_MPI                                                                      \
    "The benchmark was built without MPI. Build nccl-tests with MPI=1, start it with "   \
    "that MPI's mpirun or with srun --mpi, and import the new output"

/* Refuse a file in which the output of several worlds is mixed. Each world lists one rank
 * 0. A failed call that was repeated printed no rows the first time. Worlds that print at
 * the same time repeat every row and every closing line. If one world's first lines are
 * between another's rows, the table is in pieces. */
static int check_worlds(const struct import *import, struct error *err)
{
    const struct import_table *named = NULL;
    int worlds = 0, ends = 0, listed = 0;
    bool are_at_once = false, has_piece = false;

    for (size_t i = 0; i < import->n_tables; i++) {
        const struct import_table *table = &import->tables[i];
        const struct import_table *before = i > 0 ? table - 1 : table;
        bool is_piece = i > 0 && !before->has_ended && table->format == before->format;

        worlds += table->worlds;
        ends += table->ends;
        listed += table->listed;
        named = !named || table->worlds > named->worlds ? table : named;
        are_at_once |= table->worlds > 1 && (table->ends > 1 || has_doubled_rows(table));
        are_at_once |= is_piece && before->worlds > 1 && table->worlds == 0;
        has_piece |= is_piece;
    }
    if (worlds < 2 || !(are_at_once || (has_piece && ends == worlds)))
        return 0;
    return error_set(
        err, ERROR_INVALID,
        "rank 0 appears %d times (%s): the file contains %d worlds of %d "
        "rank%s that ran at the same time, not one world of %d. " WITHOUT_MPI,
        worlds, named->worlds_on, worlds, listed / worlds, listed == worlds ? "" : "s",
        listed);
}

/* The number of ranks that the user gives takes precedence. The file's list may be
 * truncated, but it never contains too many ranks. */
static int settle_ranks(struct import_table *table, int ranks, struct error *err)
{
    int listed = table->ranks_from > table->ranks ? table->ranks_from : table->ranks;

    if (ranks > 0 && ranks < listed)
        return error_set(err, ERROR_INVALID, "the file lists %d ranks, but ?ranks= is %d",
                         listed, ranks);
    if (ranks > 0)
        table->ranks = ranks;
    else if (table->ranks_from > 0 && table->ranks_from != table->ranks)
        return error_set(
            err, ERROR_INVALID,
            "the file's list of ranks is truncated; there are at least %d ranks: "
            "add ?ranks= with their number",
            table->ranks_from);
    else if (table->ranks == 0)
        return error_set(
            err, ERROR_INVALID,
            "the file does not contain the number of ranks: add it as in ?ranks=8");
    return 0;
}

static int settle_table(struct import_table *table, const struct import_hints *hints,
                        struct error *err)
{
    if (table->collective < 0)
        table->collective = hints->collective;
    if (table->collective < 0)
        return need_collective(table, err);
    if (settle_ranks(table, hints->ranks, err))
        return -1;
    if (table->ranks % table->groups != 0)
        return error_set(err, ERROR_INVALID, "%d ranks cannot form %d equal groups",
                         table->ranks, table->groups);
    for (size_t i = 0; i < table->n_rows && table->format == IMPORT_OSU; i++)
        settle_osu_row(table, &table->rows[i]);
    if (check_ratio(table, err))
        return -1;
    for (size_t i = 0; i < table->n_rows; i++)
        sharpen(table, &table->rows[i]);
    return 0;
}

static bool same_nodes(const struct import_table *a, const struct import_table *b)
{
    if (a->n_nodes != b->n_nodes)
        return false;
    for (size_t i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].ranks != b->nodes[i].ranks ||
            strcmp(a->nodes[i].name, b->nodes[i].name) != 0)
            return false;
    return true;
}

/* True if each table belongs to a world on separate nodes, and the worlds' ranks add up
 * to the number that the user gave. */
static bool are_worlds(const struct import *import, int ranks)
{
    const struct import_table *first = &import->tables[0];
    int sum = 0;

    for (size_t i = 0; i < import->n_tables; i++) {
        const struct import_table *table = &import->tables[i];

        if (table->worlds != 1 || table->ranks != first->ranks ||
            table->ranks_from != table->ranks || (i > 0 && same_nodes(table, first)))
            return false;
        sum += table->ranks;
    }
    return import->n_tables > 1 && sum == ranks;
}

int import_settle(struct import *import, const struct import_hints *hints,
                  struct error *err)
{
    if (are_worlds(import, hints->ranks))
        return error_set(
            err, ERROR_INVALID,
            "the file contains %zu worlds of %d rank%s, one after another, not one "
            "world of %d. " WITHOUT_MPI,
            import->n_tables, import->tables[0].ranks,
            import->tables[0].ranks == 1 ? "" : "s", hints->ranks);
    if (check_worlds(import, err))
        return -1;
    for (size_t i = 0; i < import->n_tables; i++)
        if (settle_table(&import->tables[i], hints, err))
            return -1;
    return 0;
}

/* A weak heading may be unrelated output. A table with a weak heading is therefore not
 * distinguished from a table without a heading. */
static bool has_other_heading(const struct import_table *a, const struct import_table *b)
{
    if ((a->is_weak && !*b->heading) || (b->is_weak && !*a->heading))
        return false;
    return strcmp(a->heading_key, b->heading_key) != 0;
}

bool import_alike(const struct import_table *a, const struct import_table *b)
{
    return a->format == b->format && a->collective == b->collective &&
           a->ranks == b->ranks && a->groups == b->groups &&
           memcmp(a->settings, b->settings, sizeof(a->settings)) == 0 &&
           strcmp(a->version, b->version) == 0 && strcmp(a->library, b->library) == 0 &&
           !has_other_heading(a, b) && same_nodes(a, b);
}

const char *import_source(const struct import_table *table)
{
    return table->format == IMPORT_OSU ? "osu"
           : table->is_rccl            ? "rccl-tests"
                                       : "nccl-tests";
}
