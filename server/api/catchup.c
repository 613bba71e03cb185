/* SPDX-License-Identifier: Apache-2.0 */
/* catchup.c - delivers every event of a run once and in order, first from the store, then
 * live */
#include "server/api/catchup.h"

void catchup_init(struct catchup *catchup, int64_t after, bool is_over)
{
    *catchup = (struct catchup){.sent = after, .is_over = is_over};
}

enum catchup_step catchup_page(struct catchup *catchup, int64_t last_id, uint64_t count)
{
    if (last_id > catchup->sent)
        catchup->sent = last_id;
    if (count > 0)
        return CATCHUP_READ;
    /* More events were written while this page was read. */
    if (catchup->seen > catchup->sent)
        return CATCHUP_READ;
    if (catchup->is_over)
        return CATCHUP_END;
    catchup->is_live = true;
    return CATCHUP_WAIT;
}

bool catchup_event(struct catchup *catchup, int64_t id, enum catchup_step *step)
{
    *step = CATCHUP_WAIT;
    if (id > catchup->seen)
        catchup->seen = id;
    if (!catchup->is_live || id <= catchup->sent)
        return false;
    if (id == catchup->sent + 1) {
        catchup->sent = id;
        return true;
    }
    catchup->is_live = false;
    *step = CATCHUP_READ;
    return false;
}

enum catchup_step catchup_over(struct catchup *catchup)
{
    catchup->is_over = true;
    return catchup->is_live ? CATCHUP_END : CATCHUP_WAIT;
}

void catchup_fall_back(struct catchup *catchup)
{
    catchup->is_live = false;
}
