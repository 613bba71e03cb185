/* SPDX-License-Identifier: Apache-2.0 */
/* result_record.c - reads the fields of a result that summaries need */
#include "server/summary/result_record.h"

#include <math.h>

#include "common/base/json_util.h"
#include "common/result/row_fields.h"

/* Return the fields that all rows of a series share, as selected by IN_KEY or
 * IN_FIGURE_KEY. */
static json_t *common_fields(const json_t *body, enum row_use use)
{
    const struct row_field *fields;
    json_t *key = json_object();
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        json_t *value =
            fields[i].use & use ? json_object_get(body, fields[i].name) : NULL;

        if (value)
            json_object_set(key, fields[i].name, value);
    }
    return key;
}

static void read_interval(const json_t *body, struct result_record *record)
{
    double low = json_get_num(body, "time_low_us", -1.0);
    double high = json_get_num(body, "time_high_us", -1.0);

    record->is_noisy = json_get_bool(body, "noisy", false);
    if (low < 0.0 || high < low || !(record->time_us > 0.0))
        return;
    record->time_low_us = low;
    record->time_high_us = high;
}

struct certainty result_record_certainty(const struct result_record *record)
{
    bool is_known = record->time_high_us > 0;

    return (struct certainty){
        .is_judged = is_known || record->is_noisy,
        .below = is_known ? fmax(0, 1 - record->time_low_us / record->time_us) : 0,
        .above =
            is_known ? fmax(0, record->time_high_us / record->time_us - 1) : HUGE_VAL,
    };
}

struct certainty result_certainty(const json_t *body)
{
    struct result_record record = {.time_us = json_get_num(body, "time_us", 0.0)};

    read_interval(body, &record);
    return result_record_certainty(&record);
}

static void read_row(const json_t *body, struct result_record *record)
{
    record->size = json_get_int(body, "size", 0);
    record->count = json_get_int(body, "count", 0);
    record->is_skipped = json_object_get(body, "skipped") != NULL;
    if (record->is_skipped)
        return;
    record->time_us = json_get_num(body, "time_us", 0.0);
    record->time_min_us = json_get_num(body, "time_min_us", record->time_us);
    record->time_max_us = json_get_num(body, "time_max_us", record->time_us);
    record->algbw_gbs = json_get_num(body, "algbw_gbs", 0.0);
    record->busbw_gbs = json_get_num(body, "busbw_gbs", 0.0);
    record->wrong = json_get_int(body, "wrong", -1);
    read_interval(body, record);
}

/* Return the name of the label that serves as the x axis, or NULL. */
static const char *x_label(const json_t *labels)
{
    const char *name;
    json_t *value;

    if (json_is_number(json_object_get(labels, "size")))
        return "size";
    json_object_foreach ((json_t *)(uintptr_t)labels, name, value)
        if (json_is_number(value))
            return name;
    return NULL;
}

static void read_figure(const json_t *body, struct result_record *record)
{
    const json_t *labels = json_object_get(body, "labels");
    const char *x = x_label(labels);

    record->is_figure = true;
    record->is_skipped = json_object_get(body, "skipped") != NULL;
    record->rank = (int)json_get_int(body, "rank", -1);
    record->value = json_get_num(body, "value", 0.0);
    record->x = x ? json_get_num(labels, x, 0.0) : 0.0;
}

static json_t *figure_key(const json_t *body)
{
    json_t *labels = json_object_get(body, "labels"), *texts = json_object();
    json_t *key = common_fields(body, IN_FIGURE_KEY), *value;
    const char *x = x_label(labels), *name;

    json_object_foreach (labels, name, value)
        if (!json_is_number(value))
            json_object_set(texts, name, value);
    json_object_set_new(key, "x", x ? json_string(x) : json_null());
    json_object_set_new(key, "labels", texts);
    return key;
}

static char *choice_text(const json_t *choice)
{
    static const char *const members[] = {"algo", "proto",        "channels",
                                          "by",   "ranks_differ", "unrequested"};
    json_t *kept = json_object();
    char *text = NULL;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(kept, members[i], json_object_get(choice, members[i]));
    if (*json_get_str(choice, "algo", ""))
        text = json_text(kept);
    json_decref(kept);
    return text;
}

void result_record_figures(const json_t *body, struct result_record *record)
{
    *record = (struct result_record){
        .case_no = (int)json_get_int(body, "case", 0),
        .attempt = (int)json_get_int(body, "attempt", 0),
        .cycle = (int)json_get_int(body, "cycle", -1),
        .row = (int)json_get_int(body, "row", -1),
        .rank = -1,
        .choice = -1,
        .wrong = -1,
        .has_more =
            json_object_get(body, "late_us") || json_get_int(body, "wrong", 0) > 0,
    };
    if (json_object_get(body, "metric"))
        read_figure(body, record);
    else
        read_row(body, record);
}

void result_record_read(const json_t *body, struct result_record *record, char **key,
                        char **choice)
{
    json_t *fields;

    result_record_figures(body, record);
    fields = record->is_figure ? figure_key(body) : common_fields(body, IN_KEY);
    *key = json_text(fields);
    *choice = choice_text(json_object_get(body, "nccl"));
    json_decref(fields);
}
