/* sockets.h - several sockets to each peer on another host
 *
 * Data for a peer is cut into chunks, which use its sockets in turn. Both ends know the
 * order, so chunks need no header. The first socket is the mesh's own. The mesh watches
 * it, so a lost peer is noticed as fast as with one socket. Only the
 * communicator's thread uses these sockets. */
#ifndef RINGBENCH_WORKER_HOST_SOCKETS_H
#define RINGBENCH_WORKER_HOST_SOCKETS_H

#include <stdint.h>

#include "agent/worker/group/mesh.h"
#include "common/spec/run_spec.h"

#define SOCKETS_CHUNK_BYTES 131072

struct sockets;

/* Collective. *out: with the mesh's data endpoints replaced, or NULL where one socket per
 * peer is enough. asked: how many, 0 by the link's speed: the least number that any rank
 * comes to. `config` is the mesh's own. */
int sockets_connect(struct mesh *mesh, const struct mesh_config *config,
                    const struct host_options *asked, struct sockets **out,
                    struct error *err);

/* Whatever has not gone through is dropped. NULL is fine. */
void sockets_destroy(struct sockets *sockets);

/* The number of sockets to each peer: 1 if `sockets` is NULL. */
int sockets_count(const struct sockets *sockets);
/* Bytes that have gone through one of them, to or from the peer. */
uint64_t sockets_bytes(const struct sockets *sockets, int rank, int at, bool is_send);

/* One per 25 Gb/s, at most HOST_SOCKETS_MAX; 1 where the speed is unknown (0). */
int sockets_for_speed(long mbits);

#endif
