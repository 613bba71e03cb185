/* nccl_text.c - nccl-tests' text, whichever version printed it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/spec/collective.h"
#include "server/import/import_build.h"

/* Columns of a placement: time, algbw, busbw and errors, with -I four more. */
#define HALF_PLAIN 4
#define HALF_PER_ITER 8
#define TIMESTAMP_WORDS 2

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

/* The table that a line belongs to which stands above the rows. */
static struct import_table *open_table(struct nccl_text *reader, struct error *err)
{
    struct import_table *table = table_of(reader);

    if (table && table->format == IMPORT_NCCL_TESTS && table->n_rows == 0 &&
        !table->has_ended)
        return table;
    nccl_text_init(reader, reader->import);
    return import_add_table(reader->import, IMPORT_NCCL_TESTS, err);
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
    import_library(import_setting(line->text, "nccl-library="), table->library);
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
    const char *warmup = strstr(line->text, "warmup iters: ");

    if (!table)
        return -1;
    table->warmup = import_setting(line->text, "warmup iters: ");
    if (warmup)
        table->iters = import_setting(warmup + strlen("warmup iters: "), " iters: ");
    table->agg_iters = import_setting(line->text, "agg iters: ");
    table->check = import_setting(line->text, "validation: ");
    table->graph = import_setting(line->text, "graph: ");
    table->unalign = import_setting(line->text, "unalign: ");
    return 0;
}

/* "#  Rank  0 Group  0 Pid 548805 on node-a device  0 [000f:01:00] NVIDIA GB10" */
static int take_rank(struct nccl_text *reader, struct import_line *line,
                     struct error *err)
{
    struct import_table *table = open_table(reader, err);
    int group = (int)import_setting(line->text, "Group ");
    const char *bracket = strchr(line->text, ']');

    if (!table)
        return -1;
    if (group >= table->groups && group < IMPORT_RANKS_MAX)
        table->groups = group + 1;
    if (import_setting(line->text, "Rank ") != table->ranks)
        table->has_gap = true;
    if (bracket)
        import_set_device(reader->import, bracket + strspn(bracket, "] "));
    for (size_t i = 3; i + 1 < line->n_words; i++) {
        if (strcmp(line->words[i], "on") != 0)
            continue;
        return import_add_rank(reader->import, line->words[i + 1], 1, err);
    }
    return 0;
}

/* The line that names the columns. */
static int take_columns(struct nccl_text *reader, struct import_line *line,
                        struct error *err)
{
    if (!open_table(reader, err))
        return -1;
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
    if (strstr(line->text, "Out of bounds"))
        table->out_of_bounds = import_setting(line->text, " : ");
    return 0;
}

static const struct {
    const char *mark;
    int (*take)(struct nccl_text *reader, struct import_line *line, struct error *err);
} headers[] = {
    {"nccl-tests version", take_version},
    {"Collective test starting:", take_name},
    {"nThread ", take_settings},
    {"Rank ", take_rank},
    {"size ", take_columns},
    {"Out of bounds values", take_end},
    {"Avg bus bandwidth", take_end},
};

/* One placement; false: it is not there. */
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

/* Of "size count type [redop [root]]"; NULL, or what is wrong. */
static const char *read_what(char *const *words, size_t n, struct import_row *row)
{
    if (!import_count(words[0], &row->size) || !import_count(words[1], &row->count))
        return "size and count are no numbers";
    row->dtype = dtype_lookup_nccl(words[2]);
    if (row->dtype < 0)
        return "the third word is no data type of nccl-tests";
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
            return "a word between type and time is neither reduction nor root";
    }
    return NULL;
}

/* Of a line with one placement or two. */
static const char *read_row(const struct nccl_text *reader,
                            const struct import_line *line, struct import_row rows[2],
                            size_t *n)
{
    size_t words = line->n_words - reader->behind;
    size_t what = words % reader->half < 3 ? words % reader->half + reader->half
                                           : words % reader->half;
    const char *fault;

    /* 3 to 5 words, then one placement or two. */
    *n = words > what ? (words - what) / reader->half : 0;
    if (line->n_words < reader->behind || what < 3 || what > 5 || *n < 1 || *n > 2)
        return "it has not the columns of a row";
    fault = read_what(line->words, what, &rows[0]);
    if (fault)
        return fault;
    rows[1] = rows[0];
    /* A trace has the second alone. */
    rows[0].in_place = *n == 1;
    rows[1].in_place = true;
    for (size_t i = 0; i < *n; i++)
        if (!read_half(reader, line->words + what + i * reader->half, &rows[i]))
            return "a figure of it is no number";
    return NULL;
}

static int take_row(struct nccl_text *reader, struct import_line *line, struct error *err)
{
    struct import_row rows[2] = {{.iters = -1}};
    const char *fault;
    size_t n = 0;

    if (!table_of(reader) && !open_table(reader, err))
        return -1;
    if (reader->has_cpu_time)
        fault = "its times are those of the processor (-C), not of the collective";
    else
        fault = read_row(reader, line, rows, &n);
    if (fault) {
        import_note_row(reader->import, line->number, fault);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (import_add_row(reader->import, &rows[i], err))
            return -1;
    return 0;
}

int nccl_text_line(struct nccl_text *reader, struct import_line *line, struct error *err)
{
    const char *text = line->text;
    uint64_t size;

    if (*text != '#') {
        /* What NCCL and launchers print between begins otherwise. */
        return line->n_words >= 4 && import_count(line->words[0], &size)
                   ? take_row(reader, line, err)
                   : 0;
    }
    text += 1 + strspn(text + 1, " \t");
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        if (strncmp(text, headers[i].mark, strlen(headers[i].mark)) == 0)
            return headers[i].take(reader, line, err);
    return 0;
}
