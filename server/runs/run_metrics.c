/* SPDX-License-Identifier: Apache-2.0 */
/* run_metrics.c - aggregates the metrics that a program's ranks print */
#include "server/runs/run_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/result/headline.h"

void run_metrics_release(struct run_metrics *metrics)
{
    for (size_t i = 0; i < metrics->n; i++) {
        free(metrics->items[i].name);
        free(metrics->items[i].unit);
    }
    free(metrics->items);
    median_release(&metrics->first);
    metrics->items = NULL;
    metrics->n = 0;
}

static void add_value(struct metric_sum *sum, double value)
{
    sum->min = sum->count == 0 || value < sum->min ? value : sum->min;
    sum->max = sum->count == 0 || value > sum->max ? value : sum->max;
    sum->last = value;
    sum->count++;
    /* Update the mean in place, because the sum of the values can overflow a double. */
    sum->mean += value / (double)sum->count - sum->mean / (double)sum->count;
}

static struct run_metric *find_or_add(struct run_metrics *metrics, const char *name,
                                      const json_t *body)
{
    struct run_metric *item;

    for (size_t i = 0; i < metrics->n; i++)
        if (strcmp(metrics->items[i].name, name) == 0)
            return &metrics->items[i];
    if (metrics->n == RUN_METRICS_MAX)
        return NULL;
    metrics->items = memory_grown(metrics->items, metrics->n, &metrics->capacity,
                                  sizeof(*metrics->items), "metrics");
    item = &metrics->items[metrics->n++];
    *item = (struct run_metric){
        .name = memory_text(name, "a metric"),
        .unit = memory_text(json_get_str(body, "unit", ""), "a metric"),
        .higher_is_better = json_get_bool(body, "higher_is_better", false)};
    return item;
}

void run_metrics_add(struct run_metrics *metrics, const json_t *about, double value,
                     int rank)
{
    const char *name = json_get_str(about, "metric", NULL);
    struct run_metric *item = name ? find_or_add(metrics, name, about) : NULL;

    if (!item)
        return;
    add_value(&item->all, value);
    if (item == metrics->items)
        median_add(&metrics->first, value);
    if (rank == 0)
        add_value(&item->rank0, value);
}

static json_t *sum_json(const struct metric_sum *sum)
{
    if (sum->count == 0)
        return json_null();
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "count", (json_int_t)sum->count, "last",
                     sum->last, "mean", sum->mean, "min", sum->min, "max", sum->max);
}

json_t *run_metrics_headline(const struct run_metrics *metrics)
{
    if (metrics->n == 0)
        return json_null();
    return headline_of_metric(metrics->items[0].name, metrics->items[0].unit,
                              &metrics->first);
}

json_t *run_metrics_json(const struct run_metrics *metrics)
{
    json_t *out = json_array();

    for (size_t i = 0; i < metrics->n; i++) {
        const struct run_metric *item = &metrics->items[i];
        json_t *entry = sum_json(&item->all);

        json_object_set_new(entry, "metric", json_string(item->name));
        json_object_set_new(entry, "unit", json_string(item->unit));
        json_object_set_new(entry, "higher_is_better",
                            json_boolean(item->higher_is_better));
        json_object_set_new(entry, "rank0", sum_json(&item->rank0));
        json_array_append_new(out, entry);
    }
    return out;
}
