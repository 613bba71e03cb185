/* SPDX-License-Identifier: Apache-2.0 */
/* live_summary.h - sends a run's summary to the clients that follow the run. A thread of
 * the store computes the summary after events of the run. Later summaries contain only
 * changes. */
#ifndef RINGBENCH_SERVER_API_LIVE_SUMMARY_H
#define RINGBENCH_SERVER_API_LIVE_SUMMARY_H

#include "server/api/api.h"

struct summary_listener;

/* Receives the Server-Sent Event `summary` as text, or NULL if the summary failed.
 * is_last: the run has ended, and the listener is freed afterwards. Returns false if the
 * listener could not accept the text; the next summary is then complete. */
typedef bool live_summary_text(void *arg, const struct buf *text, bool is_last);

/* Call `take` soon with the run's complete summary, and later with changes. The calls end
 * with the run or with live_summary_leave(). */
struct summary_listener *live_summary_listen(struct api *api, const char *run,
                                             live_summary_text *take, void *arg);

/* Stop the calls of `take` and free the listener. NULL is ignored. */
void live_summary_leave(struct summary_listener *listener);

#endif
