/* SPDX-License-Identifier: Apache-2.0 */
/* outage.h - tell people once that the server is away, and once that it is back */
#ifndef RINGBENCH_AGENT_LINK_OUTAGE_H
#define RINGBENCH_AGENT_LINK_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct outage {
    bool is_lost, was_ever_up, is_told;
    int64_t since_ns, told_ns;
};

/* A request failed; `server` is its URL, `text` the reason. */
void outage_begin(struct outage *outage, const char *server, const char *text);

/* A request was answered. */
void outage_end(struct outage *outage, const char *server);

#endif
