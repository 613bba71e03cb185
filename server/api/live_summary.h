/* SPDX-License-Identifier: Apache-2.0 */
/* live_summary.h - the summary of a run while clients follow it: computed on a thread of
 * the store when something has changed, and sent as changes */
#ifndef RINGBENCH_SERVER_API_LIVE_SUMMARY_H
#define RINGBENCH_SERVER_API_LIVE_SUMMARY_H

#include "server/api/api.h"

struct summary_listener;

/* Receives a Server-Sent Event `summary` as text; NULL if the summary failed. is_last:
 * the run has ended, and the listener is freed. Returns false if it could not take the
 * text: the next summary is then complete. */
typedef bool live_summary_text(void *arg, const struct buf *text, bool is_last);

/* Call `take` soon with the run's complete summary, then with changes, until the run ends
 * or live_summary_leave is called. */
struct summary_listener *live_summary_listen(struct api *api, const char *run,
                                             live_summary_text *take, void *arg);

/* NULL is fine. */
void live_summary_leave(struct summary_listener *listener);

#endif
