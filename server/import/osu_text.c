/* SPDX-License-Identifier: Apache-2.0 */
/* osu_text.c - reads the blocking collectives of the OSU benchmarks (OMB) */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/spec/collective.h"
#include "server/import/import_build.h"

/* Titles, as in "OSU MPI-CUDA Allreduce Latency Test v7.4", and their data types, which
 * versions before 7.0 do not print. Ringbench does not support collectives with other
 * titles. */
static const struct {
    const char *title;
    enum collective_kind collective;
    enum dtype dtype;
} titles[] = {
    {"Allreduce", COLLECTIVE_ALL_REDUCE, DTYPE_FLOAT32},
    {"Reduce", COLLECTIVE_REDUCE, DTYPE_FLOAT32},
    {"Reduce_scatter", COLLECTIVE_REDUCE_SCATTER, DTYPE_FLOAT32},
    {"Reduce_scatter_block", COLLECTIVE_REDUCE_SCATTER, DTYPE_FLOAT32},
    {"Allgather", COLLECTIVE_ALL_GATHER, DTYPE_INT8},
    {"All-to-All", COLLECTIVE_ALLTOALL, DTYPE_INT8},
    {"Broadcast", COLLECTIVE_BROADCAST, DTYPE_INT8},
    {"Gather", COLLECTIVE_GATHER, DTYPE_INT8},
    {"Scatter", COLLECTIVE_SCATTER, DTYPE_INT8},
};

static const struct {
    const char *theirs;
    enum dtype ours;
} types[] = {
    {"MPI_CHAR.", DTYPE_INT8},
    {"MPI_INT.", DTYPE_INT32},
    {"MPI_FLOAT.", DTYPE_FLOAT32},
};

void osu_text_init(struct osu_text *reader, struct import *import)
{
    memset(reader, 0, sizeof(*reader));
    reader->import = import;
}

static int take_title(struct osu_text *reader, const struct import_line *line, size_t at,
                      struct error *err)
{
    const char *name = line->words[at + 2], *version = line->words[line->n_words - 1];
    struct import_table *table;

    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (strcmp(name, titles[i].title) != 0)
            continue;
        table = import_add_table(reader->import, IMPORT_OSU, err);
        if (!table)
            return -1;
        table->has_ended = true; /* OSU prints no closing lines */
        table->collective = (int)titles[i].collective;
        if (*version == 'v')
            snprintf(table->version, sizeof(table->version), "%.*s",
                     IMPORT_VERSION_SIZE - 1, version + 1);
        reader->dtype = (int)titles[i].dtype;
        reader->is_open = reader->is_known = true;
        return 0;
    }
    reader->is_open = true;
    reader->is_known = false;
    import_note_line(reader->import, line->number,
                     "ringbench does not support the collective of this benchmark");
    return 0;
}

static void take_type(struct osu_text *reader, const struct import_line *line)
{
    const char *name = line->words[line->n_words - 1];

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(name, types[i].theirs) == 0) {
            reader->dtype = (int)types[i].ours;
            return;
        }
    }
    reader->dtype = -1;
    import_note_line(
        reader->import, line->number,
        "ringbench does not support this data type, so the rows are skipped");
}

static const char *read_row(const struct osu_text *reader, const struct import_line *line,
                            struct import_row *row)
{
    uint64_t iters = 0;
    size_t wanted = 2 + (reader->has_full ? 3 : 0) + (reader->has_validation ? 1 : 0);
    struct import_table *table = &reader->import->tables[reader->import->n_tables - 1];

    if (line->n_words < wanted)
        return "the row contains too few columns";
    if (!import_count(line->words[0], &row->size) ||
        !import_number(line->words[1], &row->time_us) || row->time_us <= 0.0)
        return "size or time is not a number";
    if (reader->has_full && (!import_number(line->words[2], &row->time_min_us) ||
                             !import_number(line->words[3], &row->time_max_us) ||
                             !import_count(line->words[4], &iters) || iters > 1000000000))
        return "minimum, maximum or iterations is not a number";
    row->iters = reader->has_full ? (long)iters : -1;
    row->dtype = reader->dtype;
    row->wrong = -1;
    if (!reader->has_validation)
        return NULL;
    if (strcmp(line->words[wanted - 1], "Pass") == 0)
        row->wrong = 0;
    else if (strcmp(line->words[wanted - 1], "Fail") != 0)
        return "Validation is neither Pass nor Fail";
    else if (table->wrong_at == 0)
        table->wrong_at = row->size ? row->size : 1;
    return NULL;
}

static int take_row(struct osu_text *reader, const struct import_line *line,
                    struct error *err)
{
    struct import_row row = {.redop = -1, .root = -1};
    const char *fault = read_row(reader, line, &row);
    const struct import *import = reader->import;
    int kind = import->tables[import->n_tables - 1].collective;

    if (fault) {
        import_note_row(reader->import, line->number, fault);
        return 0;
    }
    if (collective_facts((enum collective_kind)kind)->reduces)
        row.redop = REDOP_SUM;
    if (collective_facts((enum collective_kind)kind)->is_rooted)
        row.root = 0;
    return import_add_row(reader->import, &row, err);
}

/* Return the index of the word OSU in "# OSU MPI-CUDA Allreduce Latency Test v7.4", or
 * n_words if there is none. */
static size_t find_title(const struct import_line *line)
{
    for (size_t i = 0; i + 3 < line->n_words; i++)
        if (strcmp(line->words[i], "OSU") == 0 &&
            strncmp(line->words[i + 1], "MPI", 3) == 0)
            return i;
    return line->n_words;
}

/* Drop as many words as precede the title, and also a prefix that is attached to the
 * first word. */
static void drop_prefix(const struct osu_text *reader, struct import_line *line)
{
    uint64_t value;
    char *size, *first;

    import_drop_words(line, reader->behind < line->n_words ? reader->behind : 0);
    if (line->n_words == 0)
        return;
    first = line->words[0];
    size = import_count_in(first, &value);
    if (size)
        line->words[0] = size;
    else if (first[strlen(first) - 1] == '#')
        line->words[0] = first + strlen(first) - 1;
}

/* True for a size with an attached suffix, followed by numbers, as in "6-4  10.00  9.00".
 */
static bool is_like_row(const struct import_line *line)
{
    size_t len = line->n_words ? strlen(line->words[0]) : 0;
    double number;

    return line->n_words >= 2 && isdigit((unsigned char)line->words[0][len - 1]) &&
           strchr(line->words[1], '.') && import_number(line->words[1], &number);
}

int osu_text_line(struct osu_text *reader, struct import_line *line, struct error *err)
{
    size_t title = find_title(line), at;
    uint64_t size;

    if (title < line->n_words) {
        bool has_hash = title > 0 && strchr(line->words[title - 1], '#');

        /* A prefix that is attached to "#" is also attached to the sizes, so it is not a
         * separate word. */
        reader->behind = title - has_hash;
        return take_title(reader, line, title, err);
    }
    if (!reader->is_open || !reader->is_known)
        return 0;
    drop_prefix(reader, line);
    at = line->n_words && strcmp(line->words[0], "#") == 0 ? 1 : 0;
    if (at && line->n_words == 3 && strcmp(line->words[1], "Datatype:") == 0) {
        take_type(reader, line);
    } else if (line->n_words > at && strcmp(line->words[at], "Size") == 0) {
        reader->has_full = strstr(line->text, "Max Latency") != NULL;
        reader->has_validation = strstr(line->text, "Validation") != NULL;
    } else if (reader->dtype >= 0 && line->n_words >= 2 &&
               import_count(line->words[0], &size)) {
        return take_row(reader, line, err);
    } else if (reader->dtype >= 0 && is_like_row(line)) {
        import_note_row(reader->import, line->number, "size is not a number");
    }
    return 0;
}
