/* backlog.c - what clients have still to read */
#include "server/http/backlog.h"

void backlog_init(struct backlog *backlog, size_t max)
{
    TAILQ_INIT(&backlog->entries);
    backlog->bytes = 0;
    backlog->tick = 0;
    backlog->max = max;
    backlog->dropped = 0;
}

static void unlist(struct backlog *backlog, struct backlog_entry *entry)
{
    if (entry->bytes > 0)
        TAILQ_REMOVE(&backlog->entries, entry, link);
}

static void relist(struct backlog *backlog, struct backlog_entry *entry, size_t bytes)
{
    backlog->bytes -= entry->bytes;
    entry->bytes = bytes;
    entry->tick = backlog->tick;
    backlog->bytes += bytes;
    if (bytes > 0)
        TAILQ_INSERT_TAIL(&backlog->entries, entry, link);
}

static void drop_longest(struct backlog *backlog)
{
    struct backlog_entry *idle = TAILQ_FIRST(&backlog->entries);

    backlog->dropped++;
    idle->drop(idle);
}

void backlog_add(struct backlog *backlog, struct backlog_entry *entry, size_t bytes)
{
    if (bytes == 0)
        return;
    if (entry->bytes > 0) {
        entry->bytes += bytes;
        backlog->bytes += bytes;
    } else {
        relist(backlog, entry, bytes);
    }
    while (backlog->bytes > backlog->max)
        drop_longest(backlog);
}

void backlog_tick(struct backlog *backlog, unsigned patience)
{
    backlog->tick++;
    while (backlog_is_high(backlog) &&
           backlog->tick - TAILQ_FIRST(&backlog->entries)->tick > patience)
        drop_longest(backlog);
}

void backlog_take(struct backlog *backlog, struct backlog_entry *entry, size_t bytes)
{
    unlist(backlog, entry);
    relist(backlog, entry, entry->bytes - bytes);
}

void backlog_clear(struct backlog *backlog, struct backlog_entry *entry)
{
    unlist(backlog, entry);
    relist(backlog, entry, 0);
}

bool backlog_is_high(const struct backlog *backlog)
{
    return backlog->bytes > backlog->max / 2;
}
