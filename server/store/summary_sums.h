/* SPDX-License-Identifier: Apache-2.0 */
/* summary_sums.h - computes sums over a run's results in SQLite */
#ifndef RINGBENCH_SERVER_STORE_SUMMARY_SUMS_H
#define RINGBENCH_SERVER_STORE_SUMMARY_SUMS_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/summary/summary.h"

/* Fill the results, series and figures of a zeroed summary from all rows up to the
 * query's last event. texts: result_texts by number; the summary takes references. -1
 * with err on failure; the summary may be partly filled. */
int summary_sums_read(sqlite3 *db, const struct summary_query *query,
                      json_t *const *texts, size_t n_texts, struct summary *summary,
                      struct error *err);

#endif
