/* node_claim.c - whether an agent may have a node's name */
#include "server/scheduler/node_claim.h"

#include <stdio.h>

#include "common/log.h"
#include "server/scheduler/live_case.h"

#define SECOND_NS INT64_C(1000000000)

int node_claim_identify(const struct scheduler *scheduler,
                        struct node_registration *registration, const char *key,
                        struct error *err)
{
    char text[512];

    snprintf(text, sizeof(text), "%s\n%s\n%s", registration->name, registration->boot_id,
             key);
    if (digest_text(key, registration->key) || digest_text(text, registration->identity))
        return error_set(err, ERROR_MEMORY, "out of memory");
    registration->was_here =
        store_knows_boot(scheduler->config.store, registration->identity);
    return 0;
}

/* A case goes on there since before the server's restart, and its agent is not back. */
static bool is_awaited(const struct scheduler *scheduler, const char *name)
{
    if (node_find(&scheduler->nodes, name))
        return false;
    for (size_t i = 0; i < scheduler->n_runs; i++) {
        const struct active_run *active = scheduler->runs[i];

        if (active->live && run_find_node(active->run, name))
            return true;
    }
    return false;
}

static long seconds_until(int64_t then_ns, int64_t now_ns)
{
    return then_ns > now_ns ? (long)((then_ns - now_ns) / SECOND_NS) + 1 : 1;
}

static int refuse_held(const struct scheduler *scheduler, const struct node *node,
                       int64_t now_ns, long *retry_after_s, struct error *err)
{
    double silent_s = (double)(now_ns - node->last_seen_ns) / 1e9;

    /* A live one nearly always has a request here. */
    if (node->poll_done)
        return error_set(err, ERROR_CONFLICT,
                         "node name '%s' is held by a live agent, last heard of %.1f s "
                         "ago; choose another with --name, or stop that agent",
                         node->name, silent_s);
    *retry_after_s =
        seconds_until(node->last_seen_ns + scheduler->config.lease_s * SECOND_NS, now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is held by an agent that was last heard of %.1f s "
                     "ago; if it is gone, the name is free in %ld s",
                     node->name, silent_s, *retry_after_s);
}

int node_claim_check(const struct scheduler *scheduler,
                     const struct node_registration *registration, int64_t now_ns,
                     long *retry_after_s, struct error *err)
{
    const struct node *node = node_find(&scheduler->nodes, registration->name);
    bool is_recovering = now_ns < scheduler->recovering_until_ns;

    *retry_after_s = 0;
    if (node && node->state == NODE_ALIVE) {
        if (digest_equal(node->key, registration->key))
            return 0;
        if (!is_recovering || !registration->was_here || node->was_here)
            return refuse_held(scheduler, node, now_ns, retry_after_s, err);
        log_warn("node name '%s' goes back to the agent that had it before the server's "
                 "restart",
                 node->name);
        return 0;
    }
    if (!is_recovering || registration->was_here ||
        !is_awaited(scheduler, registration->name))
        return 0;
    *retry_after_s = seconds_until(scheduler->recovering_until_ns, now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is kept for the agent that had it before the "
                     "server's restart, which may come back for %ld s",
                     registration->name, *retry_after_s);
}

int node_claim_check_key(const struct node *node, const char *key, struct error *err)
{
    char digest[DIGEST_TEXT_SIZE];

    if (digest_text(key ? key : "", digest))
        return error_set(err, ERROR_MEMORY, "out of memory");
    if (digest_equal(digest, node->key))
        return 0;
    return error_set(err, ERROR_DENIED,
                     "the header Ringbench-Agent-Key has not the key with which %s "
                     "registered",
                     node->name);
}
