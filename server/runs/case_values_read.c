/* case_values_read.c - what each case of a run has measured, out of the store */
#include "server/runs/case_values_read.h"

#include <stdlib.h>

#include "server/analysis/run_values.h"

struct reading {
    uv_loop_t *loop;
    const json_t *run;
    bool is_whole;
    case_values_done *done;
    void *arg;
    uv_work_t work;
    struct summary *summary;
    struct case_values *values;
    json_t *of_run;
};

static const struct error out_of_memory = {ERROR_MEMORY, "out of memory"};

static void compute(uv_work_t *work)
{
    struct reading *reading = work->data;

    reading->values = case_values_create(reading->summary);
    if (reading->values && reading->is_whole)
        reading->of_run = run_values_json(reading->run, reading->values);
}

static void on_computed(uv_work_t *work, int status)
{
    struct reading *reading = work->data;

    (void)status; /* nobody cancels it */
    summary_destroy(reading->summary);
    if (reading->values && (reading->of_run || !reading->is_whole)) {
        reading->done(reading->arg, NULL, reading->values, reading->of_run);
    } else {
        case_values_destroy(reading->values);
        reading->done(reading->arg, &out_of_memory, NULL, NULL);
    }
    free(reading);
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    struct reading *reading = arg;

    if (err) {
        reading->done(reading->arg, err, NULL, NULL);
        free(reading);
        return;
    }
    reading->summary = summary;
    reading->work.data = reading;
    uv_queue_work(reading->loop, &reading->work, compute, on_computed);
}

void case_values_read(uv_loop_t *loop, struct store *store, const json_t *run,
                      bool is_whole, case_values_done *done, void *arg)
{
    struct reading *reading = calloc(1, sizeof(*reading));
    struct summary_query query = {.up_to = INT64_MAX};

    if (!reading) {
        done(arg, &out_of_memory, NULL, NULL);
        return;
    }
    *reading = (struct reading){
        .loop = loop, .run = run, .is_whole = is_whole, .done = done, .arg = arg};
    case_values_query(&query);
    store_read_summary(store, run, &query, on_summary, reading);
}
