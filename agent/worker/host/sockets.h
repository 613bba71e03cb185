/* sockets.h - several sockets per peer of another host
 *
 * What goes to a peer is cut into chunks that take its sockets in turn, so that both ends
 * know where each is without a word about it. The mesh's own socket is the first of them,
 * and what the mesh watches: it tells that a peer is gone as soon as without the others.
 * The communicator's thread alone uses them. */
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

int sockets_count(const struct sockets *sockets); /* per peer; NULL: 1 */
/* Bytes that have gone through one of them, to or from the peer. */
uint64_t sockets_bytes(const struct sockets *sockets, int rank, int at, bool is_send);

/* One per 25 Gb/s, at most HOST_SOCKETS_MAX; 1 where the speed is unknown (0). */
int sockets_for_speed(long mbits);

#endif
