/* SPDX-License-Identifier: Apache-2.0 */
/* live_summary.h - the summary of a run while clients listen: computed on the store's
 * thread when something has changed, and sent as what has changed */
#ifndef RINGBENCH_SERVER_API_LIVE_SUMMARY_H
#define RINGBENCH_SERVER_API_LIVE_SUMMARY_H

#include "server/api/api.h"

struct summary_listener;

/* Gets a Server-Sent Event `summary` as text, NULL where the summary could not be made.
 * is_last: the run has ended, and the listener is gone. Returns whether it could take the
 * text: if not, it gets all of the summary the next time. */
typedef bool live_summary_text(void *arg, const struct buf *text, bool is_last);

/* Call `take` with all of the run's summary soon, and then with what has changed, until
 * the run has ended or the listener leaves. */
struct summary_listener *live_summary_listen(struct api *api, const char *run,
                                             live_summary_text *take, void *arg);

/* NULL is fine. */
void live_summary_leave(struct summary_listener *listener);

#endif
