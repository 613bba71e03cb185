/* result_record.c - a result as a record of fixed size */
#include "server/summary/result_record.h"

#include <math.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/result/row_fields.h"
#include "server/summary/choice_code.h"

_Static_assert(RESULT_CHOICE_AT + CHOICE_CODE_BITS <= 32, "flags hold it");

/* The fields that are the same in a whole series, by IN_KEY or IN_FIGURE_KEY. */
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

/* In parts of the time, at most what the field holds. */
static uint16_t parts_of(double us, double time_us)
{
    double parts = round(us / time_us / RESULT_INTERVAL_PART);

    return parts < 0 ? 0 : parts > UINT16_MAX ? UINT16_MAX : (uint16_t)parts;
}

static void read_interval(const json_t *body, struct result_record *record)
{
    double time_us = record->time_us;
    double low = json_get_num(body, "time_low_us", -1.0);
    double high = json_get_num(body, "time_high_us", -1.0);

    if (json_get_bool(body, "noisy", false))
        record->flags |= RESULT_NOISY;
    if (low < 0.0 || high < low || !(time_us > 0.0))
        return;
    record->flags |= RESULT_INTERVAL;
    record->below = parts_of(time_us - low, time_us);
    record->above = parts_of(high - time_us, time_us);
}

bool result_record_interval(const struct result_record *record, double *low, double *high)
{
    if (!(record->flags & RESULT_INTERVAL))
        return false;
    *low = record->time_us * (1.0 - RESULT_INTERVAL_PART * record->below);
    *high = record->time_us * (1.0 + RESULT_INTERVAL_PART * record->above);
    return true;
}

struct certainty result_record_certainty(const struct result_record *record)
{
    bool is_known = record->flags & RESULT_INTERVAL && record->above < UINT16_MAX;

    return (struct certainty){
        .is_judged = record->flags & (RESULT_INTERVAL | RESULT_NOISY),
        .below = is_known ? RESULT_INTERVAL_PART * record->below : 0,
        .above = is_known ? RESULT_INTERVAL_PART * record->above : HUGE_VAL,
    };
}

struct certainty result_certainty(const json_t *body)
{
    struct result_record record = {.time_us = json_get_num(body, "time_us", 0.0)};

    read_interval(body, &record);
    return result_record_certainty(&record);
}

static json_t *row_key(const json_t *body, struct result_record *record)
{
    json_t *key = common_fields(body, IN_KEY);

    record->size = json_get_int(body, "size", 0);
    if (json_object_get(body, "skipped")) {
        record->flags = RESULT_SKIPPED;
        record->wrong = -1;
        return key;
    }
    record->time_us = json_get_num(body, "time_us", 0.0);
    record->time_min_us = json_get_num(body, "time_min_us", record->time_us);
    record->time_max_us = json_get_num(body, "time_max_us", record->time_us);
    record->algbw_gbs = json_get_num(body, "algbw_gbs", 0.0);
    record->busbw_gbs = json_get_num(body, "busbw_gbs", 0.0);
    record->wrong = json_get_int(body, "wrong", -1);
    read_interval(body, record);
    record->flags |= choice_code(json_object_get(body, "nccl")) << RESULT_CHOICE_AT;
    return key;
}

/* The label that a figure is drawn over. */
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

static json_t *figure_key(const json_t *body, struct result_record *record)
{
    json_t *labels = json_object_get(body, "labels"), *texts = json_object();
    const char *x = x_label(labels), *name;
    json_t *key = common_fields(body, IN_FIGURE_KEY), *value;

    json_object_foreach (labels, name, value)
        if (!json_is_number(value))
            json_object_set(texts, name, value);
    json_object_set_new(key, "x", x ? json_string(x) : json_null());
    json_object_set_new(key, "labels", texts);
    record->flags = RESULT_FIGURE;
    if (json_object_get(body, "skipped"))
        record->flags |= RESULT_SKIPPED;
    record->wrong = -1;
    record->rank = (int32_t)json_get_int(body, "rank", -1);
    record->value = json_get_num(body, "value", 0.0);
    record->x = x ? json_get_num(labels, x, 0.0) : 0.0;
    return key;
}

char *result_record_read(const json_t *body, struct result_record *record)
{
    json_t *key;
    char *text;

    memset(record, 0, sizeof(*record));
    record->case_no = (int32_t)json_get_int(body, "case", 0);
    record->attempt = (int32_t)json_get_int(body, "attempt", 0);
    record->cycle = (int32_t)json_get_int(body, "cycle", -1);
    record->row = (int32_t)json_get_int(body, "row", -1);
    record->rank = -1;
    key = json_object_get(body, "metric") ? figure_key(body, record)
                                          : row_key(body, record);
    text = key ? json_text(key) : NULL;
    json_decref(key);
    return text;
}
