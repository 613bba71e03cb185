/* port_traffic.h - what the machines' network ports carried in the timed part of a row,
 * beside what its collective moves between them
 *
 * One rank of each machine (of each network namespace) reads the counters, behind a
 * barrier on either side of the timed part. Rows of less than PORT_TRAFFIC_LEAST have
 * none of it: headers, and what others send, would be most of what is counted, and
 * nothing is to come between short calls. */
#ifndef RINGBENCH_WORKER_BENCH_PORT_TRAFFIC_H
#define RINGBENCH_WORKER_BENCH_PORT_TRAFFIC_H

#include <jansson.h>

#include "agent/worker/bench/bench_state.h"

#define PORT_TRAFFIC_LEAST (1u << 20) /* bytes */

struct port_traffic;

/* Of a case; *out stays NULL where nothing is to be counted: simulations, one rank. A
 * collective call. */
int port_traffic_create(struct bench *bench, struct port_traffic **out,
                        struct error *err);
void port_traffic_destroy(struct port_traffic *traffic);

/* Around the timed part, of `calls` calls. Collective calls; row: this rank's. They do
 * nothing where bench->traffic is NULL. */
int port_traffic_begin(struct bench *bench, const struct bench_row *row,
                       struct error *err);
int port_traffic_end(struct bench *bench, const struct bench_row *row, long calls,
                     struct error *err);

/* Rank 0: add what the last row came to, of all groups together. algorithm: NCCL's name
 * of it, or "" where the backend goes by rings or it is not known. */
void port_traffic_report(const struct bench *bench, const struct bench_row *row,
                         const char *algorithm, json_t *result);

#endif
