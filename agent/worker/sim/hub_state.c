/* hub_state.c - what ended a hub, kept for every later call */
#include <string.h>

#include "agent/worker/sim/hub_join.h"

int hub_fail(struct hub *hub, enum error_code code, const char *text)
{
    if (hub->error.code == ERROR_NONE)
        error_set(&hub->error, code, "%s", text);
    return -1;
}

int hub_lose(struct hub *hub, int rank, int errnum)
{
    if (hub->error.code == ERROR_NONE) {
        hub->lost = rank;
        error_set(&hub->error, ERROR_PEER, "lost rank %d: %s", rank,
                  errnum ? strerror(errnum) : "connection closed");
    }
    return -1;
}

int hub_check_stop(struct hub *hub)
{
    if (hub->stop && atomic_load_explicit(hub->stop, memory_order_relaxed))
        return hub_fail(hub, ERROR_UNAVAILABLE, "told to stop");
    return 0;
}
