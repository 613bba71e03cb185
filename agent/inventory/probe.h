/* probe.h - ask every worker beside the agent what it can do here */
#ifndef RINGBENCH_AGENT_INVENTORY_PROBE_H
#define RINGBENCH_AGENT_INVENTORY_PROBE_H

#include <jansson.h>
#include <uv.h>

#include "agent/env_list.h"
#include "agent/process.h"
#include "common/error.h"

struct probe;

/* Called once, from the loop: backends by name, each what its probe said, or
 * {"backend","available":false,"reason"}. Borrowed. The probe may be destroyed then. */
typedef void (*probe_done_fn)(void *arg, json_t *backends);

/* Run every ringbench-worker-* of dir with --probe, all at once, each for at most
 * limit_ms. NULL only when memory is out. */
struct probe *probe_start(uv_loop_t *loop, struct process_table *processes,
                          const char *dir, const struct env_list *environment,
                          uint64_t limit_ms, probe_done_fn on_done, void *arg);

/* Kills probes that still run; on_done is not called then. NULL is fine. */
void probe_destroy(struct probe *probe);

#endif
