/* import.c - a file of another benchmark: its lines, and what they add up to */
#include "server/import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/spec/collective.h"
#include "server/import/import_build.h"

/* Bandwidths are printed with two decimals: from here on their ratio says something. */
#define RATIO_FROM_GBS 1.0
#define RATIO_TOLERANCE 0.02
#define ROUNDING_GBS 0.006
#define ROUNDING 0.005 /* of times, which may have three digits */

/* What srun -l ("0: ") and mpirun --tag-output ("[1,0]<stdout>:") put before a line. */
static size_t label_length(const char *text, size_t len)
{
    size_t i = 0;

    if (len > 2 && text[0] == '[') {
        const char *end = memchr(text, '>', len < 40 ? len : 40);

        if (end && end + 1 < text + len && end[1] == ':' &&
            memchr(text, '<', (size_t)(end - text)))
            return (size_t)(end - text) + 2;
        return 0;
    }
    while (i < len && text[i] == ' ')
        i++;
    while (i < len && isdigit((unsigned char)text[i]))
        i++;
    return i > 0 && i + 1 < len && text[i] == ':' && text[i + 1] == ' ' ? i + 2 : 0;
}

static void split(struct import_line *line, const char *text, size_t len)
{
    size_t label = label_length(text, len);
    char *at, *rest = NULL;

    text += label;
    len -= label;
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

/* The line as it stands, NUL-terminated, is what readers search in. */
static int take_line(struct readers *readers, struct import_line *line, const char *text,
                     size_t len, struct error *err)
{
    char whole[IMPORT_LINE_SIZE];
    size_t label = label_length(text, len);
    size_t n = len - label < sizeof(whole) ? len - label : sizeof(whole) - 1;

    memcpy(whole, text + label, n);
    whole[n] = '\0';
    line->text = whole;
    split(line, text, len);
    if (strstr(whole, "nThread ") || strstr(whole, "nccl-tests version"))
        readers->osu.is_open = false;
    if (osu_text_line(&readers->osu, line, err))
        return -1;
    return readers->osu.is_open ? 0 : nccl_text_line(&readers->nccl, line, err);
}

static int read_text(struct import *import, const char *text, size_t len,
                     struct error *err)
{
    struct import_line *line = calloc(1, sizeof(*line));
    const char *end = text + len;
    struct readers readers;
    int result = 0;

    if (!line)
        return error_set(err, ERROR_MEMORY, "out of memory");
    nccl_text_init(&readers.nccl, import);
    osu_text_init(&readers.osu, import);
    while (text < end && !result) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;

        line->number++;
        result = take_line(&readers, line, text, (size_t)(stop - text), err);
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

/* Calls that broke off before their first row are no tables. */
static void drop_empty(struct import *import)
{
    size_t n = 0;

    for (size_t i = 0; i < import->n_tables; i++)
        if (import->tables[i].n_rows == 0)
            table_release(&import->tables[i]);
        else
            import->tables[n++] = import->tables[i];
    import->n_tables = n;
}

int import_read(const char *text, size_t len, struct import *out, struct error *err)
{
    size_t blank = 0;
    int result;

    memset(out, 0, sizeof(*out));
    out->unread = json_array();
    if (!out->unread)
        return error_set(err, ERROR_MEMORY, "out of memory");
    while (blank < len && isspace((unsigned char)text[blank]))
        blank++;
    if (blank < len && text[blank] == '{' && len > IMPORT_JSON_MAX)
        result =
            error_set(err, ERROR_LIMIT, "JSON of %zu bytes is more than the %zu allowed",
                      len, IMPORT_JSON_MAX);
    else if (blank < len && text[blank] == '{')
        result = nccl_json_read(out, text + blank, len - blank, err);
    else
        result = read_text(out, text, len, err);
    drop_empty(out);
    if (result == 0 && out->n_tables == 0)
        result =
            error_set(err, ERROR_INVALID,
                      "there is no row of nccl-tests or of OSU's collectives, and no "
                      "line of NCCL's log (HOST:PID:THREAD [GPU] NCCL INFO ...), in it%s",
                      out->n_unread ? " that can be read" : "");
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

/* ---- What it is of ---- */

/* OSU's size is what each rank sends to one other, where ringbench counts the larger
 * buffer; of a reduce-scatter it is that already. Its bandwidths are not printed. */
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

/* Bandwidths have two decimals, which is none at 8 bytes; size and time say more. */
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

/* Bus bandwidth by algorithm bandwidth, of the row where it is most exact; 0: of none. */
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

/* The collectives that the bandwidths would suit, for who has to say which it was. */
static void list_fitting(double ratio, int ranks, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (int i = 0; i < COLLECTIVE_COUNT && ratio > 0.0 && ranks > 0 && n < size; i++) {
        if (i == COLLECTIVE_HYPERCUBE || i == COLLECTIVE_ALLTOALLV ||
            !fits(i, ranks, ratio))
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s",
                              n ? ", " : "; its bandwidths would suit ",
                              collective_name((enum collective_kind)i));
    }
}

static int need_collective(const struct import_table *table, struct error *err)
{
    char fitting[300];

    list_fitting(ratio_of(table), table->ranks / table->groups, fitting, sizeof(fitting));
    return error_set(err, ERROR_INVALID,
                     "the file does not say which collective this is: add "
                     "?collective=all_reduce or another%s",
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
        "bus bandwidths are %.2f times the algorithm bandwidths, but of %s on "
        "%d ranks they would be %.2f times: is it that collective, and are "
        "there as many ranks?",
        ratio, collective_name(kind), ranks, collective_bus_factor(kind, ranks));
}

static int settle_table(struct import_table *table, const struct import_hints *hints,
                        struct error *err)
{
    if (table->has_gap)
        table->ranks = 0;
    if (table->collective < 0)
        table->collective = hints->collective;
    if (table->ranks == 0)
        table->ranks = hints->ranks;
    if (table->collective < 0)
        return need_collective(table, err);
    if (table->ranks == 0)
        return error_set(err, ERROR_INVALID,
                         "the file does not say how many ranks there were: add ?ranks=8 "
                         "or as many as there were");
    if (table->ranks % table->groups != 0)
        return error_set(err, ERROR_INVALID, "%d ranks do not make %d like groups",
                         table->ranks, table->groups);
    for (size_t i = 0; i < table->n_rows && table->format == IMPORT_OSU; i++)
        settle_osu_row(table, &table->rows[i]);
    if (check_ratio(table, err))
        return -1;
    for (size_t i = 0; i < table->n_rows; i++)
        sharpen(table, &table->rows[i]);
    return 0;
}

int import_settle(struct import *import, const struct import_hints *hints,
                  struct error *err)
{
    for (size_t i = 0; i < import->n_tables; i++)
        if (settle_table(&import->tables[i], hints, err))
            return -1;
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

bool import_alike(const struct import_table *a, const struct import_table *b)
{
    const long mine[] = {a->iters, a->warmup, a->agg_iters,
                         a->check, a->graph,  a->unalign};
    const long other[] = {b->iters, b->warmup, b->agg_iters,
                          b->check, b->graph,  b->unalign};

    return a->format == b->format && a->collective == b->collective &&
           a->ranks == b->ranks && a->groups == b->groups &&
           memcmp(mine, other, sizeof(mine)) == 0 &&
           strcmp(a->version, b->version) == 0 && strcmp(a->library, b->library) == 0 &&
           same_nodes(a, b);
}

const char *import_source(enum import_format format)
{
    return format == IMPORT_OSU ? "osu" : "nccl-tests";
}
