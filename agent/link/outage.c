/* SPDX-License-Identifier: Apache-2.0 */
/* outage.c - logs the loss of the server and its return, once each */
#include "agent/link/outage.h"

#include "common/base/clock.h"
#include "common/base/log.h"

/* A network that fails again and again must not fill the log. */
#define LOG_AGAIN_NS (10 * INT64_C(1000000000))

void outage_begin(struct outage *outage, const char *server, const char *text)
{
    int64_t now = clock_monotonic_ns();

    if (outage->is_lost)
        return;
    outage->is_lost = true;
    outage->since_ns = now;
    outage->is_logged = outage->logged_ns == 0 || now - outage->logged_ns > LOG_AGAIN_NS;
    if (!outage->is_logged)
        return;
    outage->logged_ns = now;
    if (outage->was_ever_up)
        log_warn("lost the server at %s (%s): retrying", server, text);
    else
        log_warn("no answer from the server at %s (%s): retrying", server, text);
}

void outage_end(struct outage *outage, const char *server)
{
    double seconds = (double)(clock_monotonic_ns() - outage->since_ns) / 1e9;

    if (outage->is_lost && outage->is_logged && outage->was_ever_up)
        log_info("reconnected to %s after %.1f s", server, seconds);
    outage->is_lost = false;
    outage->was_ever_up = true;
}
