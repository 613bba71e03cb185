/* SPDX-License-Identifier: Apache-2.0 */
/* outage.h - logs the loss of the server and its return, once each */
#ifndef RINGBENCH_AGENT_LINK_OUTAGE_H
#define RINGBENCH_AGENT_LINK_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct outage {
    bool is_lost, was_ever_up, is_logged;
    int64_t since_ns, logged_ns;
};

/* `server`: URL; `text`: the reason */
void outage_begin(struct outage *outage, const char *server, const char *text);

void outage_end(struct outage *outage, const char *server);

#endif
