/* mesh_join.h - how ranks find and connect to each other (used by mesh.c) */
#ifndef RINGBENCH_WORKER_GROUP_MESH_JOIN_H
#define RINGBENCH_WORKER_GROUP_MESH_JOIN_H

#include "agent/worker/group/mesh.h"

/* Fill a mesh whose watch and group are initialised: endpoints, group_of, ring. */
int mesh_join(struct mesh *mesh, const struct mesh_config *config, struct error *err);

#endif
