/* SPDX-License-Identifier: Apache-2.0 */
/* measured_run.c - reads a run with its cases' results from the database */
#include "server/runs/measured_run.h"

#include "server/analysis/case_values.h"

int measured_run_read(sqlite3 *db, const char *id, struct compare_run *run,
                      struct error *err)
{
    struct summary_query query = {.up_to = INT64_MAX};
    struct summary *summary;

    case_values_query(&query);
    if (!run->doc)
        run->doc = store_get_run(db, id, err);
    summary = run->doc ? store_get_summary(db, run->doc, &query, err) : NULL;
    if (!summary)
        return -1;
    run->values = case_values_create(summary);
    summary_destroy(summary);
    return 0;
}

void measured_run_release(struct compare_run *run)
{
    json_decref(run->doc);
    case_values_destroy(run->values);
    *run = (struct compare_run){NULL, NULL};
}
