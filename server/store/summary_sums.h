/* SPDX-License-Identifier: Apache-2.0 */
/* summary_sums.h - what a run's results add up to, computed by SQLite */
#ifndef RINGBENCH_SERVER_STORE_SUMMARY_SUMS_H
#define RINGBENCH_SERVER_STORE_SUMMARY_SUMS_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/summary/summary.h"

/* Fill the results, series and figures of a zeroed summary with all rows up to the
 * query's last event. texts: those of result_texts by number, of which the summary gets
 * references. -1 with err on failure; the summary may be partly filled. */
int summary_sums_read(sqlite3 *db, const struct summary_query *query,
                      json_t *const *texts, size_t n_texts, struct summary *summary,
                      struct error *err);

#endif
