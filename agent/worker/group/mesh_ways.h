/* mesh_ways.h - what carries the bytes of collectives between the ranks of a mesh */
#ifndef RINGBENCH_WORKER_GROUP_MESH_WAYS_H
#define RINGBENCH_WORKER_GROUP_MESH_WAYS_H

#include <jansson.h>

#include "agent/worker/group/mesh.h"

/* "shm", "tcp", "ucx" or several, "shm, tcp"; "self" without peers. A new reference. */
json_t *mesh_describe(const struct mesh *mesh);

/* `ways` of docs/worker-contract.md: each with the ranks that it leads to, as they go by.
 * A new array; NULL when memory is out. */
json_t *mesh_ways(const struct mesh *mesh);

#endif
