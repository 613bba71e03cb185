/* fleet.h - the nodes of a played fleet, and the cases that they have in common */
#ifndef RINGBENCH_AGENT_FLEET_FLEET_H
#define RINGBENCH_AGENT_FLEET_FLEET_H

#include "agent/fleet/fleet_config.h"
#include "common/base/error.h"

/* Open files beside the connections: libcurl's own, the pipes of cases. */
#define FLEET_FILES_KEPT 1024

/* Run until told to end by SIGTERM or SIGINT. Once all nodes are registered a line on
 * stdout says so. Returns the exit status, with the reason in *err unless it is 0.
 * curl_global_init must have been called. */
int fleet_run(const struct fleet_config *config, struct error *err);

#endif
