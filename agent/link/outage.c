/* SPDX-License-Identifier: Apache-2.0 */
/* outage.c - tell people once that the server is away, and once that it is back */
#include "agent/link/outage.h"

#include "common/base/clock.h"
#include "common/base/log.h"

/* A network that flaps must not fill the log. */
#define TELL_AGAIN_NS (10 * INT64_C(1000000000))

void outage_begin(struct outage *outage, const char *server, const char *text)
{
    int64_t now = clock_monotonic_ns();

    if (outage->is_lost)
        return;
    outage->is_lost = true;
    outage->since_ns = now;
    outage->is_told = outage->told_ns == 0 || now - outage->told_ns > TELL_AGAIN_NS;
    if (!outage->is_told)
        return;
    outage->told_ns = now;
    if (outage->was_ever_up)
        log_warn("lost the server at %s (%s), trying again", server, text);
    else
        log_warn("no answer from the server at %s (%s), trying again", server, text);
}

void outage_end(struct outage *outage, const char *server)
{
    double seconds = (double)(clock_monotonic_ns() - outage->since_ns) / 1e9;

    if (outage->is_lost && outage->is_told && outage->was_ever_up)
        log_info("reconnected to %s after %.1f s", server, seconds);
    outage->is_lost = false;
    outage->was_ever_up = true;
}
