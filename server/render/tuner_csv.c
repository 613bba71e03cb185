/* SPDX-License-Identifier: Apache-2.0 */
/* tuner_csv.c - writes NCCL's fastest algorithm and protocol for each size in the file
 * format of NCCL's example tuner plugin */
#include "server/render/tuner_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json_util.h"
#include "common/base/units.h"

/* The plugin reads 255 bytes of a line and treats the rest as another line. */
#define NAME_MAX 80
#define COMBINATIONS_MAX 256
/* If both settings were measured in at least this many cases, the setting's slowest case
 * must beat the default's fastest case. */
#define CASES_TO_TELL 3

struct name {
    const char *here, *there;
};

static const struct name collectives[] = {
    {"all_reduce", "allreduce"},
    {"all_gather", "allgather"},
    {"reduce_scatter", "reducescatter"},
    {"broadcast", "broadcast"},
    {"reduce", "reduce"},
    {NULL, NULL},
};

static const struct name algorithms[] = {
    {"Tree", "tree"},
    {"Ring", "ring"},
    {"CollnetDirect", "collnet_direct"},
    {"CollnetChain", "collnet_chain"},
    {"NVLS", "nvls"},
    {"NVLSTree", "nvls_tree"},
    {"PAT", "pat"},
    {NULL, NULL},
};

static const struct name protocols[] = {
    {"LL", "ll"},
    {"LL128", "ll128"},
    {"Simple", "simple"},
    {NULL, NULL},
};

static const char *there(const struct name *names, const char *here)
{
    for (; here && names->here; names++)
        if (strcasecmp(names->here, here) == 0)
            return names->there;
    return NULL;
}

/* A combination of algorithm and protocol. Both are NULL for NCCL's own choice. If only
 * one is NULL, the tuner's format cannot express the combination. */
struct choice {
    const char *algorithm, *protocol;
    bool is_default;
};

struct tuner {
    const json_t *run;
    const struct summary *summary;
    struct choice choices[COMBINATIONS_MAX];
    /* Number of the combination that leaves the choice to NCCL */
    int n_choices, standard;
    long channels;
    struct buf *out;
};

static int lack_matrix(struct error *err)
{
    return error_set(
        err, ERROR_INVALID,
        "the tuner file needs a run whose matrix contains only NCCL_ALGO and NCCL_PROTO, "
        "each with null for NCCL's own choice: {\"NCCL_ALGO\": [\"Ring\", \"Tree\", "
        "null], "
        "\"NCCL_PROTO\": [\"LL\", \"LL128\", \"Simple\", null]}");
}

static int read_choice(struct tuner *tuner, int number, json_t *env, struct error *err)
{
    const json_t *algorithm = json_object_get(env, "NCCL_ALGO");
    const json_t *protocol = json_object_get(env, "NCCL_PROTO");
    struct choice *choice = &tuner->choices[number];

    if (!algorithm || !protocol || json_object_size(env) != 2)
        return lack_matrix(err);
    choice->is_default = json_is_null(algorithm) && json_is_null(protocol);
    choice->algorithm = there(algorithms, json_string_value(algorithm));
    choice->protocol = there(protocols, json_string_value(protocol));
    if (choice->is_default)
        tuner->standard = number;
    if (number >= tuner->n_choices)
        tuner->n_choices = number + 1;
    return 0;
}

static int read_choices(struct tuner *tuner, const struct summary_case *cases,
                        struct error *err)
{
    const json_t *described = json_object_get(tuner->run, "cases"), *item;
    size_t i;

    tuner->standard = -1;
    json_array_foreach (described, i, item) {
        if (json_object_get(item, "nodes"))
            return error_set(
                err, ERROR_INVALID,
                "the cases of the run use different nodes: use a run without a pattern");
        if (cases[i].combination >= COMBINATIONS_MAX)
            return error_set(err, ERROR_LIMIT, "there are more than %d combinations",
                             COMBINATIONS_MAX);
        if (read_choice(tuner, cases[i].combination, json_object_get(item, "env"), err))
            return -1;
    }
    return tuner->standard < 0 ? lack_matrix(err) : 0;
}

/* ---- The fastest combination ---- */

static const struct summary_series *series_of(const struct tuner *tuner, int combination,
                                              int64_t series)
{
    for (size_t i = 0; i < tuner->summary->n_series; i++) {
        const struct summary_series *one = &tuner->summary->series[i];

        if (one->combination == combination &&
            json_get_int(one->key, "series", -1) == series)
            return one;
    }
    return NULL;
}

static const struct summary_point *point_of(const struct summary_series *series,
                                            int64_t size)
{
    for (size_t i = 0; series && i < series->n_points; i++)
        if (series->points[i].size == size && series->points[i].rows > 0 &&
            series->points[i].wrong <= 0)
            return &series->points[i];
    return NULL;
}

/* Return true if, in any row, NCCL used an algorithm or protocol other than the requested
 * one. */
static bool is_unrequested(const struct summary_point *point)
{
    for (uint32_t i = 0; i < point->n_choices; i++)
        if (json_get_bool(point->choices[i].how, "unrequested", false))
            return true;
    return false;
}

static bool is_faster(const struct summary_point *point,
                      const struct summary_point *standard)
{
    if (point->time_us <= 0.0 || standard->time_us / point->time_us < TUNER_GAIN_MIN)
        return false;
    return point->rows < CASES_TO_TELL || standard->rows < CASES_TO_TELL ||
           point->repeats.time_us[1] < standard->repeats.time_us[0];
}

/* Return the fastest combination for a size, or the default if none is faster. Set *point
 * to that combination's point. */
static int winner(const struct tuner *tuner, int64_t series,
                  const struct summary_point *standard,
                  const struct summary_point **point)
{
    int best = tuner->standard;

    *point = standard;
    for (int i = 0; i < tuner->n_choices; i++) {
        const struct choice *choice = &tuner->choices[i];
        const struct summary_point *other;

        if (!choice->algorithm || !choice->protocol)
            continue;
        other = point_of(series_of(tuner, i, series), standard->size);
        if (other && !is_unrequested(other) && is_faster(other, standard) &&
            other->time_us < (*point)->time_us) {
            best = i;
            *point = other;
        }
    }
    return best;
}

/* ---- The lines ---- */

/* Return the border between two measured sizes: their middle on a logarithmic axis, in
 * bytes. */
static int64_t border(int64_t a, int64_t b)
{
    return (int64_t)sqrt((double)a * (double)b);
}

static void put_gain(struct tuner *tuner, const char *collective,
                     const struct summary_point *standard,
                     const struct summary_point *point)
{
    char size[UNITS_TEXT_MAX];

    buf_printf(tuner->out,
               "# %s %s: %.4g us, %.2f times as fast as the default's %.4g us\n",
               collective, units_format_size((uint64_t)standard->size, size),
               point->time_us, standard->time_us / point->time_us, standard->time_us);
}

static void put_line(struct tuner *tuner, const char *collective, int combination,
                     int64_t from, int64_t to)
{
    const struct choice *choice = &tuner->choices[combination];

    buf_printf(tuner->out, "%s,%lld,%lld,%s,%s,%ld,%zu,%lld\n", collective,
               (long long)from, (long long)to, choice->algorithm, choice->protocol,
               tuner->channels, json_array_size(json_object_get(tuner->run, "nodes")),
               (long long)json_get_int(tuner->run, "world_size", 0));
}

/* Write a line for each stretch of sizes with the same fastest combination. */
static void put_series(struct tuner *tuner, const char *collective,
                       const struct summary_series *series)
{
    int64_t from = 0, number = json_get_int(series->key, "series", -1);
    int before = tuner->standard;

    for (size_t i = 0; i < series->n_points; i++) {
        const struct summary_point *standard = &series->points[i], *point = standard;
        int64_t edge = i ? border(series->points[i - 1].size, standard->size) : 0;
        int best = standard->rows > 0 ? winner(tuner, number, standard, &point)
                                      : tuner->standard;

        if (best != before) {
            if (before != tuner->standard)
                put_line(tuner, collective, before, from, edge);
            from = i ? edge + 1 : standard->size;
        }
        if (best != tuner->standard)
            put_gain(tuner, collective, standard, point);
        before = best;
    }
    if (before != tuner->standard)
        put_line(tuner, collective, before, from,
                 series->points[series->n_points - 1].size);
}

static void put_head(struct tuner *tuner, const struct summary_series *series)
{
    const char *called = json_get_str(tuner->run, "name", "");
    char name[NAME_MAX];
    size_t n = 0;

    for (; *called && n + 1 < sizeof(name); called++)
        if ((unsigned char)*called >= ' ')
            name[n++] = *called;
    name[n] = '\0';
    buf_printf(tuner->out, "# for NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE): "
                           "collective,min_bytes,max_bytes,algorithm,protocol,channels,"
                           "nNodes,nRanks\n");
    buf_printf(tuner->out, "# run %s %s: medians of %s, %s, over its cases\n",
               json_get_str(tuner->run, "id", "?"), name,
               json_get_str(series->key, "dtype", "?"),
               json_get_bool(series->key, "in_place", false) ? "in place"
                                                             : "out of place");
    buf_append_str(tuner->out, "# NCCL chooses for sizes without a line: no setting was "
                               "faster by 2 % or more, or they were not measured\n");
    if (tuner->channels < 0)
        buf_append_str(
            tuner->out,
            "# channels -1: the plugin of NCCL up to 2.30.7 then uses one channel, "
            "even if no line matches. Let plugin.c start with *nChannels = 0, "
            "or request ?channels=N\n");
}

/* Return the default's first series of a collective. NCCL's tuner does not distinguish
 * data types, reductions or in-place calls. */
static const struct summary_series *first_series(const struct tuner *tuner,
                                                 const char *collective)
{
    for (size_t i = 0; i < tuner->summary->n_series; i++) {
        const struct summary_series *one = &tuner->summary->series[i];

        if (one->combination == tuner->standard && one->n_points > 0 &&
            strcmp(json_get_str(one->key, "collective", ""), collective) == 0)
            return one;
    }
    return NULL;
}

static int put_all(struct tuner *tuner, struct error *err)
{
    bool has_head = false;

    for (const struct name *name = collectives; name->here; name++) {
        const struct summary_series *series = first_series(tuner, name->here);

        if (!series)
            continue;
        if (!has_head)
            put_head(tuner, series);
        has_head = true;
        put_series(tuner, name->there, series);
    }
    return has_head
               ? 0
               : error_set(err, ERROR_INVALID,
                           "no collective that the tuner plugin supports was measured "
                           "with NCCL's own choice");
}

int tuner_csv(const json_t *run, const struct summary *summary, long channels,
              struct buf *out, struct error *err)
{
    const char *backend = json_get_str(run, "backend", "");
    struct tuner tuner = {
        .run = run, .summary = summary, .channels = channels, .out = out};
    size_t n_cases;
    struct summary_case *cases;
    int result;

    if (strcmp(backend, "nccl") != 0 && strcmp(backend, "sim") != 0)
        return error_set(err, ERROR_INVALID,
                         "NCCL_ALGO affects only NCCL, but the run's backend "
                         "is %.20s",
                         *backend ? backend : "not known yet");
    if (json_array_size(json_object_get(run, "groups")) > 1)
        return error_set(err, ERROR_INVALID,
                         "several communicators were measured at the same time, but "
                         "the tuner supports only one");
    cases = summary_cases(run, &n_cases);
    result = read_choices(&tuner, cases, err) ? -1 : put_all(&tuner, err);
    free(cases);
    return result;
}
