/* system.h - of a node's inventory, what a figure may depend on and nodes of one kind
 * have in common: devices by kind, settings, limits, modules; nothing that only names one
 */
#ifndef RINGBENCH_SERVER_NODES_SYSTEM_H
#define RINGBENCH_SERVER_NODES_SYSTEM_H

#include <jansson.h>

/* `system` of a run's `machines` (docs/api.md): a new flat object, empty where the agent
 * said nothing. */
json_t *system_json(const json_t *inventory);

#endif
