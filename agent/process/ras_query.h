/* ras_query.h - ask NCCL's RAS on this node, without waiting for it */
#ifndef RINGBENCH_AGENT_PROCESS_RAS_QUERY_H
#define RINGBENCH_AGENT_PROCESS_RAS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/* As NCCL has it where NCCL_RAS_ADDR is not set. */
#define RAS_ADDRESS "localhost:28028"

struct ras_query;

/* What came, maybe nothing; the query ends with it. */
typedef void ras_query_done(void *arg, const char *answer, size_t len);

/* Ask at "HOST:PORT", "[HOST]:PORT". All processes of a user share the port: when the one
 * that was met says nothing for RAS_QUERY_PATIENCE_MS, another is tried. NULL: the
 * address is none, or memory is out; then `done` is not called. */
#define RAS_QUERY_PATIENCE_MS 1000
struct ras_query *ras_query_start(uv_loop_t *loop, const char *address,
                                  ras_query_done *done, void *arg);

/* Whether an address that RAS tells is one of this machine's; of what is no address it is
 * not known, and true. */
bool ras_query_is_here(const char *host);

/* Take no answer any more. NULL is fine. */
void ras_query_cancel(struct ras_query *query);

#endif
