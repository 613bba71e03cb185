/* commands.h - who waits for the commands of a node */
#ifndef RINGBENCH_SERVER_NODES_COMMANDS_H
#define RINGBENCH_SERVER_NODES_COMMANDS_H

#include <jansson.h>

/* An array of commands (stolen by it), or NULL when none came in time. */
typedef void node_commands(void *arg, json_t *commands);

#endif
