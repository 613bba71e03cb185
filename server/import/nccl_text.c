/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_text.c - reads the text output of any nccl-tests version */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/spec/collective.h"
#include "server/import/import_build.h"

/* Columns per placement: time, algbw, busbw and errors. Option -I adds four. */
#define HALF_PLAIN 4
#define HALF_PER_ITER 8
#define TIMESTAMP_WORDS 2
#define PREFIX_MAX 200

void nccl_text_init(struct nccl_text *reader, struct import *import)
{
    memset(reader, 0, sizeof(*reader));
    reader->import = import;
    reader->half = HALF_PLAIN;
}

static struct import_table *table_of(const struct nccl_text *reader)
{
    struct import *import = reader->import;

    return import->n_tables ? &import->tables[import->n_tables - 1] : NULL;
}

/* Return the table to which a line above the rows belongs. Start a new table if the last
 * one has ended or contains rows. */
static struct import_table *open_table(struct nccl_text *reader, struct error *err)
{
    struct import_table *table = table_of(reader);
    struct heading heading = reader->heading;

    if (table && table->format == IMPORT_NCCL_TESTS && table->n_rows == 0 &&
        !table->has_ended)
        return table;
    nccl_text_init(reader, reader->import);
    table = import_add_table(reader->import, IMPORT_NCCL_TESTS, err);
    if (table)
        snprintf(table->heading, sizeof(table->heading), "%s",
                 heading_text(&heading, table->heading_key, &table->is_weak));
    return table;
}

static int take_version(struct nccl_text *reader, struct import_line *line,
                        struct error *err)
{
    struct import_table *table = open_table(reader, err);

    if (!table)
        return -1;
    if (line->n_words > 3)
        snprintf(table->version, sizeof(table->version), "%.*s", IMPORT_VERSION_SIZE - 1,
                 line->words[3]);
    table->is_rccl = strncmp(line->words[1], "rccl", 4) == 0;
    import_library(import_number_after(line->text, "ccl-library="), table->library);
    return 0;
}

static int take_name(struct nccl_text *reader, struct import_line *line,
                     struct error *err)
{
    struct import_table *table = open_table(reader, err);

    if (!table)
        return -1;
    if (line->n_words > 4)
        table->collective = import_program(line->words[4]);
    return 0;
}

static int take_settings(struct nccl_text *reader, struct import_line *line,
                         struct error *err)
{
    struct import_table *table = open_table(reader, err);
    const char *at = line->text, *found;

    if (!table)
        return -1;
    for (size_t i = 0; i < IMPORT_SETTINGS; i++) {
        const char *label = import_settings[i].label;

        table->settings[i] = import_number_after(at, label);
        found = strstr(at, label);
        at = found ? found + strlen(label) : at;
    }
    return 0;
}

static void add_world(struct import_table *table, const char *node)
{
    size_t n = strlen(table->worlds_on);

    if (!strstr(table->worlds_on, node) &&
        n + strlen(node) + 3 < sizeof(table->worlds_on))
        snprintf(table->worlds_on + n, sizeof(table->worlds_on) - n, "%s%s",
                 n ? ", " : "", node);
}

/* Parse "#  Rank  0 Group  0 Pid 548805 on node-a device  0 [000f:01:00] NVIDIA GB10". */
static int take_rank(struct nccl_text *reader, struct import_line *line,
                     struct error *err)
{
    struct import_table *table = open_table(reader, err);
    int group = (int)import_number_after(line->text, "Group ");
    long rank = import_number_after(line->text, "Rank ");
    const char *open = strchr(line->text, '['), *close = strchr(line->text, ']');
    const char *node = "?";
    char bus[24] = "";

    if (!table)
        return -1;
    for (size_t i = 3; i + 1 < line->n_words; i++)
        if (strcmp(line->words[i], "on") == 0) {
            node = line->words[i + 1];
            break;
        }
    if (strcmp(node, "?") == 0)
        return 0;
    if (rank == 0 && ++table->worlds > 1)
        import_restart_ranks(reader->import);
    if (rank == 0)
        add_world(table, node);
    table->listed++;
    if (group >= table->groups && group < IMPORT_RANKS_MAX)
        table->groups = group + 1;
    if (rank >= table->ranks_from && rank < IMPORT_RANKS_MAX)
        table->ranks_from = (int)rank + 1;
    if (close)
        import_set_device(reader->import, close + strspn(close, "] "));
    /* Some lists omit the PCI domain. The device number then distinguishes devices with
     * the same bus number. */
    if (open && close > open)
        snprintf(bus, sizeof(bus), "%ld %.*s", import_number_after(line->text, "device "),
                 (int)(close - open - 1), open + 1);
    return import_add_rank(reader->import, node, bus, 1, err);
}

/* Parse the line with the columns' names. */
static int take_columns(struct nccl_text *reader, struct import_line *line,
                        struct error *err)
{
    if (!open_table(reader, err))
        return -1;
    reader->is_in_rows = true;
    for (size_t i = 0; i < line->n_words; i++)
        if (strcmp(line->words[i], "i_min") == 0)
            reader->half = HALF_PER_ITER;
        else if (strcmp(line->words[i], "timestamp") == 0)
            reader->behind = TIMESTAMP_WORDS;
        else if (strcmp(line->words[i], "error") == 0)
            reader->is_delta = true;
        else if (strcmp(line->words[i], "cputime") == 0)
            reader->has_cpu_time = true;
    return 0;
}

static int take_end(struct nccl_text *reader, struct import_line *line, struct error *err)
{
    struct import_table *table = table_of(reader);

    (void)err;
    if (!table)
        return 0;
    table->has_ended = true;
    reader->is_in_rows = false;
    memset(&reader->heading, 0, sizeof(reader->heading));
    if (strstr(line->text, "Out of bounds")) {
        table->out_of_bounds = import_number_after(line->text, " : ");
        table->ends++;
    } else if (strstr(line->text, " FAILED")) {
        table->is_below = true;
    }
    return 0;
}

static const struct {
    const char *mark;
    int (*take)(struct nccl_text *reader, struct import_line *line, struct error *err);
    bool is_first; /* the line precedes the column names */
} headers[] = {
    {"nccl-tests version", take_version, true},
    {"rccl-tests version", take_version, true},
    {"Collective test starting:", take_name, true},
    {"nThread ", take_settings, true},
    {"Rank ", take_rank, true},
    {"size ", take_columns, false},
    {"Out of bounds values", take_end, false},
    {"Avg bus bandwidth", take_end, false},
};

/* Read one placement. Return false if a number is missing or invalid. */
static bool read_half(const struct nccl_text *reader, char *const *words,
                      struct import_row *row)
{
    double wrong;

    if (!import_number(words[0], &row->time_us) ||
        !import_number(words[1], &row->algbw_gbs) ||
        !import_number(words[2], &row->busbw_gbs))
        return false;
    row->wrong = -1;
    if (!reader->is_delta && import_number(words[3], &wrong) && wrong < 1e15)
        row->wrong = (int64_t)wrong;
    return row->wrong >= 0 || strcmp(words[3], "N/A") == 0 ||
           (reader->is_delta && import_number(words[3], &wrong));
}

/* Parse "size count type [redop [root]]". Return NULL, or the error. */
static const char *read_what(char *const *words, size_t n, struct import_row *row)
{
    if (!import_count(words[0], &row->size) || !import_count(words[1], &row->count))
        return "size or count is not a number";
    row->dtype = import_dtype(words[2]);
    if (row->dtype < 0)
        return "the third word is not a data type of nccl-tests";
    row->redop = row->root = -1;
    for (size_t i = 3; i < n; i++) {
        int redop = redop_lookup(words[i]);
        char *end;
        long root = strtol(words[i], &end, 10);

        if (redop >= 0)
            row->redop = redop;
        else if (*end == '\0' && end != words[i] && root >= -1 && root < IMPORT_RANKS_MAX)
            row->root = (int)root;
        else if (strcmp(words[i], "none") != 0)
            return "a word between type and time is neither a reduction nor a root";
    }
    return NULL;
}

/* Parse a row with one or two placements. Return NULL, or the error. */
static const char *read_row(const struct nccl_text *reader,
                            const struct import_line *line, struct import_row rows[2],
                            size_t *n)
{
    size_t words = line->n_words - reader->behind;
    size_t what = words % reader->half < 3 ? words % reader->half + reader->half
                                           : words % reader->half;
    const char *fault;

    /* A row consists of 3 to 5 words, followed by one or two placements. */
    *n = words > what ? (words - what) / reader->half : 0;
    if (line->n_words < reader->behind || what < 3 || what > 5 || *n < 1 || *n > 2)
        return "the line does not match the columns of a row";
    fault = read_what(line->words, what, &rows[0]);
    if (fault)
        return fault;
    rows[1] = rows[0];
    /* A row of a trace (-I) contains only the in-place placement. */
    rows[0].in_place = *n == 1;
    rows[1].in_place = true;
    for (size_t i = 0; i < *n; i++)
        if (!read_half(reader, line->words + what + i * reader->half, &rows[i]))
            return "a figure is not a number";
    return NULL;
}

static int take_row(struct nccl_text *reader, struct import_line *line, struct error *err)
{
    struct import_row rows[2] = {{.iters = -1}};
    struct import_table *table = table_of(reader);
    const char *fault;
    size_t n = 0;

    if (!table && !(table = open_table(reader, err)))
        return -1;
    if (reader->has_cpu_time)
        fault = "the row contains CPU times (-C) instead of the collective's times";
    else
        fault = read_row(reader, line, rows, &n);
    if (fault) {
        import_note_row(reader->import, line->number, fault);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (import_add_row(reader->import, &rows[i], err))
            return -1;
        if (rows[i].wrong > 0 && table->wrong_at == 0)
            table->wrong_at = rows[i].size ? rows[i].size : 1;
    }
    return 0;
}

/* ---- Lines after prefixes of a launcher, a log collector or a user ---- */

/* Return the '#' with which a header or closing line of a table begins, or NULL if the
 * line is neither. */
static const char *find_header(const char *text, size_t *which)
{
    for (const char *at = strchr(text, '#'); at && at - text < PREFIX_MAX;
         at = strchr(at + 1, '#')) {
        const char *mark = at + 1 + strspn(at + 1, " \t");

        for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
            if (strncmp(mark, headers[i].mark, strlen(headers[i].mark)) == 0) {
                *which = i;
                return at;
            }
    }
    return NULL;
}

/* Make "#" the first word: drop the words before it, and a prefix attached to it. */
static void begin_with_hash(struct import_line *line, const char *text)
{
    size_t n = 0;

    while (n < line->n_words && !strchr(line->words[n], '#'))
        n++;
    import_drop_words(line, n);
    if (line->n_words > 0 && line->words[0][strlen(line->words[0]) - 1] == '#')
        line->words[0] = strrchr(line->words[0], '#');
    line->text = text;
}

/* Return the index of the word where "size count type" begins, or n_words if there is
 * none. */
static size_t find_row(struct import_line *line)
{
    uint64_t value;

    for (size_t i = 0; i + 6 < line->n_words; i++) {
        char *size = import_count_in(line->words[i], &value);

        if (!size || !import_count(line->words[i + 1], &value) ||
            import_dtype(line->words[i + 2]) < 0)
            continue;
        line->words[i] = size;
        return i;
    }
    return line->n_words;
}

/* True if the line contains two counts, a word, and numbers. It may be a row of a future
 * nccl-tests version. */
static bool is_like_row(const struct import_line *line, size_t from)
{
    double number;
    uint64_t value;
    size_t n = 0;

    if (from + 6 >= line->n_words || !import_count(line->words[from], &value) ||
        !import_count(line->words[from + 1], &value) ||
        import_number(line->words[from + 2], &number))
        return false;
    if (redop_lookup(line->words[from + 3]) < 0 &&
        strcmp(line->words[from + 3], "none") != 0 &&
        !import_number(line->words[from + 3], &number))
        return false;
    for (size_t i = from + 4; i < line->n_words; i++) {
        const char *word = line->words[i];
        bool is_number = import_number(word, &number);

        if (!is_number && strcmp(word, "N/A") != 0 && strcmp(word, "-1") != 0 &&
            !strstr(word, "nan") && !strstr(word, "inf") && !strchr(word, '-') &&
            !strchr(word, ':'))
            return false;
        n += is_number && strchr(word, '.');
    }
    return n >= 3;
}

/* True if the line looks like a row. Between the columns' names and the closing lines,
 * four words are enough if they start like a row. */
static bool looks_like_row(const struct nccl_text *reader, struct import_line *line)
{
    uint64_t value;

    for (size_t i = 0; i < line->n_words; i++)
        if (is_like_row(line, i) ||
            (i + 3 < line->n_words && import_count(line->words[i], &value) &&
             import_count(line->words[i + 1], &value) &&
             import_dtype(line->words[i + 2]) >= 0)) {
            import_drop_words(line, i);
            return true;
        }
    return reader->is_in_rows && line->n_words >= 4 &&
           import_count(line->words[0], &value) && line->words[1][0] != '#';
}

/* Parse "node-1: Test CUDA failure common.cu:963 'invalid device ordinal'". */
static void take_failure(const struct nccl_text *reader, const char *text)
{
    struct import_table *table = table_of(reader);
    const char *at = strstr(text, "Test NCCL failure");
    char *out = table ? table->failure : reader->import->failure;

    at = at ? at : strstr(text, "Test CUDA failure");
    if (!at || *out)
        return;
    while (at > text + 1 && at[-1] == ' ')
        at--;
    while (at > text && at[-1] != ' ' && at[-1] != '>' && at[-1] != '|')
        at--;
    clean_text_copy(out, sizeof(table->failure), at, strcspn(at, "\r\n"));
}

int nccl_text_line(struct nccl_text *reader, struct import_line *line, bool is_broken,
                   struct error *err)
{
    size_t which, row;
    const char *header = find_header(line->text, &which);

    if (header) {
        begin_with_hash(line, header);
        if (headers[which].take(reader, line, err))
            return -1;
        if (headers[which].is_first && table_of(reader))
            table_of(reader)->has_begun = true;
        return 0;
    }
    row = find_row(line);
    if (row < line->n_words) {
        import_drop_words(line, row);
        return take_row(reader, line, err);
    }
    if (looks_like_row(reader, line))
        return take_row(reader, line, err);
    if (is_broken)
        return 0;
    take_failure(reader, line->text);
    heading_line(&reader->heading, line->text);
    return 0;
}
