/* fleet_config.h - what ringbench-sim was told */
#ifndef RINGBENCH_AGENT_FLEET_FLEET_CONFIG_H
#define RINGBENCH_AGENT_FLEET_FLEET_CONFIG_H

#include <jansson.h>

#include "agent/config/config.h"
#include "agent/fleet/faults.h"
#include "common/base/error.h"
#include "common/base/options.h"

#define FLEET_PREFIX "sim-" /* nodes are sim-1, sim-2, ... */
#define FLEET_RACK "rack-"

struct fleet_config {
    struct agent_config agent; /* what all agents have in common; name and labels not */
    long nodes, racks;         /* racks 0: none */
    long for_s;                /* 0: until told to leave */
    char *seed;                /* NULL: that of each run */
    struct option_list fault;
    struct played_faults faults;
};

/* As agent_config_load. */
int fleet_config_load(struct fleet_config *config, int argc, char **argv,
                      struct error *err);
void fleet_config_release(struct fleet_config *config);

/* Number of a node from 0, from its name; -1: none of this fleet's. */
long fleet_config_index(const struct fleet_config *config, const char *name);

/* The rack of node `index`, from 1; 0: there are none. */
long fleet_config_rack(const struct fleet_config *config, long index);

#endif
