/* SPDX-License-Identifier: Apache-2.0 */
/* metric.c - finds figures in the output lines of a program */
#include "agent/case/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/safe_regex.h"
#include "common/spec/config_files.h"
#include "common/spec/program_schema.h"
#include "common/spec/spec_value.h"

#define UNIT_MAX 32
#define REGEX_LINE_MAX 4096 /* bytes of a line that a regular expression reads */
#define NUMBER_MAX 64
#define LABEL_VALUE_MAX 100

struct source {
    struct metric metric;
    unsigned streams;         /* bits of enum metric_stream */
    char *key;                /* key of a JSON line; NULL: use `regex` */
    struct safe_regex *regex; /* NULL: use `key` */
    json_t *labels;           /* array of further keys of the JSON line, or NULL */
};

struct metric_set {
    struct source *sources;
    size_t n;
    bool has_json;
};

static void fault(struct problems *problems, const char *pointer, const char *key,
                  const char *text)
{
    char at[300];

    spec_child_pointer(at, sizeof(at), pointer, key);
    problems_add(problems, at, "%s", text);
}

/* ---- reading the declaration ---- */

static void parse_regex(struct source *source, const char *pattern, const char *pointer,
                        struct problems *problems)
{
    struct error err;

    if (!pattern) {
        fault(problems, pointer, "regex", "must be a regular expression");
        return;
    }
    source->regex = safe_regex_compile(pattern, false, &err);
    if (!source->regex)
        fault(problems, pointer, "regex", err.text);
    else if (safe_regex_groups(source->regex) < 1)
        fault(problems, pointer, "regex", "must have a group ( ) around the number");
}

static void parse_stream(struct source *source, json_t *value, const char *pointer,
                         struct problems *problems)
{
    const char *name = json_string_value(value);

    source->streams = source->key ? METRIC_STDOUT : METRIC_STDOUT | METRIC_STDERR;
    if (!value)
        return;
    if (name && strcmp(name, "stdout") == 0)
        source->streams = METRIC_STDOUT;
    else if (name && strcmp(name, "stderr") == 0)
        source->streams = METRIC_STDERR;
    else if (!name || strcmp(name, "both") != 0)
        fault(problems, pointer, "stream", "must be stdout, stderr or both");
    else
        source->streams = METRIC_STDOUT | METRIC_STDERR;
}

static void parse_labels(struct source *source, json_t *labels, const char *pointer,
                         struct problems *problems)
{
    bool is_fine = json_is_array(labels) && source->key &&
                   json_array_size(labels) <= METRIC_LABELS_MAX;

    for (size_t i = 0; is_fine && i < json_array_size(labels); i++) {
        const char *text = json_string_value(json_array_get(labels, i));

        is_fine = text && program_name_is_valid(text);
    }
    if (is_fine)
        source->labels = json_incref(labels);
    else
        fault(problems, pointer, "labels",
              "must be an array of at most 4 keys of the JSON line");
}

static void parse_names(struct source *source, json_t *object, const char *pointer,
                        struct problems *problems)
{
    const char *name = json_get_str(object, "name", "");
    const char *unit = json_get_str(object, "unit", NULL);

    if (!program_name_is_valid(name))
        fault(problems, pointer, "name",
              "must be a name of letters, digits, '_', '-' and '.'");
    if (!unit || strlen(unit) > UNIT_MAX)
        fault(problems, pointer, "unit", "must be a string of at most 32 bytes");
    if (!json_is_boolean(json_object_get(object, "higher_is_better")))
        fault(problems, pointer, "higher_is_better", "must be true or false");
    source->metric.name = memory_text(name, "a metric");
    source->metric.unit = memory_text(unit ? unit : "", "a metric");
    source->metric.higher_is_better = json_get_bool(object, "higher_is_better", false);
}

static void parse_source(struct source *source, json_t *object, const char *pointer,
                         struct problems *problems)
{
    json_t *regex = json_object_get(object, "regex");
    json_t *key = json_object_get(object, "json");

    if (!json_is_object(object)) {
        problems_add(problems, pointer, "must be an object");
        return;
    }
    config_refuse_unknown(object, pointer,
                          "name, unit, higher_is_better, stream, regex, json, labels",
                          problems);
    parse_names(source, object, pointer, problems);
    if (!regex == !key)
        problems_add(problems, pointer, "must have either regex or json");
    else if (regex)
        parse_regex(source, json_string_value(regex), pointer, problems);
    else if (!json_is_string(key) || json_string_length(key) > PROGRAM_NAME_MAX)
        fault(problems, pointer, "json", "must be a key of the JSON line");
    else
        source->key = strdup(json_string_value(key));
    parse_stream(source, json_object_get(object, "stream"), pointer, problems);
    if (json_object_get(object, "labels"))
        parse_labels(source, json_object_get(object, "labels"), pointer, problems);
}

static void refuse_repetition(const struct metric_set *set, const char *pointer,
                              struct problems *problems)
{
    const struct metric *last = &set->sources[set->n - 1].metric;

    for (size_t i = 0; last->name && i + 1 < set->n; i++) {
        const char *name = set->sources[i].metric.name;

        if (name && strcmp(name, last->name) == 0)
            fault(problems, pointer, "name", "is declared twice");
    }
}

struct metric_set *metric_set_parse(json_t *metrics, const char *pointer,
                                    struct problems *problems)
{
    size_t before = problems->count, n = json_array_size(metrics);
    struct metric_set *set;

    if ((metrics && !json_is_array(metrics)) || n > METRICS_MAX) {
        problems_add(problems, pointer, "must be an array of at most %d metrics",
                     METRICS_MAX);
        return NULL;
    }
    set = memory_zeroed(1, sizeof(*set), "metrics");
    set->sources = memory_zeroed(n + 1, sizeof(*set->sources), "metrics");
    for (size_t i = 0; i < n && problems->count == before; i++) {
        struct source *source = &set->sources[set->n++];
        char at[300];

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        parse_source(source, json_array_get(metrics, i), at, problems);
        refuse_repetition(set, at, problems);
        set->has_json = set->has_json || source->key;
    }
    if (problems->count == before)
        return set;
    metric_set_destroy(set);
    return NULL;
}

void metric_set_destroy(struct metric_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n; i++) {
        struct source *source = &set->sources[i];

        free(source->metric.name);
        free(source->metric.unit);
        free(source->key);
        json_decref(source->labels);
        safe_regex_destroy(source->regex);
    }
    free(set->sources);
    free(set);
}

json_t *metric_set_json(const struct metric_set *set)
{
    json_t *out = json_array();

    for (size_t i = 0; i < set->n; i++) {
        const struct metric *metric = &set->sources[i].metric;

        json_array_append_new(out, json_pack("{s:s, s:s, s:b}", "name", metric->name,
                                             "unit", metric->unit, "higher_is_better",
                                             metric->higher_is_better));
    }
    return out;
}

/* ---- reading lines ---- */

static bool parse_number(const char *text, size_t len, double *value)
{
    char copy[NUMBER_MAX];
    char *end;

    if (len == 0 || len >= sizeof(copy))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *value = strtod(copy, &end);
    return end != copy && *end == '\0';
}

static void match_regex(const struct source *source, const char *line, size_t len,
                        const struct metric_handlers *handlers)
{
    enum safe_regex_result result;
    const char *group = NULL;
    size_t group_len = 0;
    double value;

    result = safe_regex_match(source->regex, line, len, &group, &group_len);
    if (result == SAFE_REGEX_GAVE_UP)
        handlers->on_given_up(handlers->arg, &source->metric);
    else if (group && parse_number(group, group_len, &value))
        handlers->on_figure(handlers->arg, &source->metric, value, NULL);
}

/* NULL if the metric declares no labels. */
static json_t *labels_of(const struct source *source, json_t *object)
{
    json_t *labels = source->labels ? json_object() : NULL;

    for (size_t i = 0; labels && i < json_array_size(source->labels); i++) {
        const char *key = json_string_value(json_array_get(source->labels, i));
        json_t *value = json_object_get(object, key);

        if (json_is_number(value) || json_is_boolean(value) ||
            (json_is_string(value) && json_string_length(value) <= LABEL_VALUE_MAX))
            json_object_set(labels, key, value);
    }
    return labels;
}

static void match_json(const struct metric_set *set, enum metric_stream stream,
                       json_t *object, const struct metric_handlers *handlers)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct source *source = &set->sources[i];
        json_t *value, *labels;

        if (!source->key || !(source->streams & stream))
            continue;
        value = json_object_get(object, source->key);
        if (!json_is_number(value) && !json_is_null(value))
            continue;
        labels = labels_of(source, object);
        handlers->on_figure(handlers->arg, &source->metric,
                            json_is_null(value) ? (double)NAN : json_number_value(value),
                            labels);
        json_decref(labels);
    }
}

/* Return the length of NaN, Infinity or -Infinity at the start of the text, or 0.
 * Python's json module writes these words, although JSON does not define them. */
static size_t python_number(const char *text, size_t len)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]);

        if (n <= len && memcmp(text, words[i], n) == 0)
            return n;
    }
    return 0;
}

/* Parse JSON in which NaN and Infinity become null. Returns NULL if the line is invalid
 * for any other reason. */
static json_t *parse_python_json(const char *line, size_t len)
{
    bool is_text = false;
    struct buf copy;
    json_t *object = NULL;

    buf_init(&copy, 2 * len + 1);
    for (size_t i = 0; i < len; i++) {
        size_t word = is_text ? 0 : python_number(line + i, len - i);

        if (line[i] == '"')
            is_text = !is_text;
        if (word > 0)
            buf_append_str(&copy, "null");
        else
            buf_append(&copy, line + i,
                       is_text && line[i] == '\\' && i + 1 < len ? 2 : 1);
        i += word > 0 ? word - 1 : is_text && line[i] == '\\' && i + 1 < len;
    }
    if (copy.len > 0)
        object = json_parse(copy.data, copy.len, NULL);
    buf_release(&copy);
    return object;
}

static void match_json_line(const struct metric_set *set, enum metric_stream stream,
                            const char *line, size_t len,
                            const struct metric_handlers *handlers)
{
    size_t blank = 0;
    json_t *object;

    while (blank < len && (line[blank] == ' ' || line[blank] == '\t'))
        blank++;
    if (blank == len || line[blank] != '{')
        return;
    object = json_parse(line, len, NULL);
    if (!object)
        object = parse_python_json(line, len);
    if (object)
        match_json(set, stream, object, handlers);
    json_decref(object);
}

void metric_set_line(const struct metric_set *set, enum metric_stream stream,
                     const char *line, size_t len, const struct metric_handlers *handlers)
{
    size_t n = len < REGEX_LINE_MAX ? len : REGEX_LINE_MAX;

    if (set->has_json)
        match_json_line(set, stream, line, len, handlers);
    for (size_t i = 0; i < set->n; i++)
        if (set->sources[i].regex && (set->sources[i].streams & stream))
            match_regex(&set->sources[i], line, n, handlers);
}
