/* backlog.h - what clients have still to read, of all streams and large answers together.
 * When it is more than the server can spare, the client that has read nothing for longest
 * is dropped; one that reads never is before those that don't. */
#ifndef RINGBENCH_SERVER_HTTP_BACKLOG_H
#define RINGBENCH_SERVER_HTTP_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* A part of a stream or of an answer. */
struct backlog_entry {
    void *owner;
    size_t bytes;                              /* to read; listed if any */
    unsigned tick;                             /* when it last read */
    void (*drop)(struct backlog_entry *entry); /* frees them, with backlog_clear */
    TAILQ_ENTRY(backlog_entry) link;
};

struct backlog {
    TAILQ_HEAD(, backlog_entry) entries; /* who read last comes last */
    size_t bytes, max;
    unsigned tick;
    uint64_t dropped;
};

void backlog_init(struct backlog *backlog, size_t max);

/* The client has more to read. Drops others, or at last this one, if that is too much. */
void backlog_add(struct backlog *backlog, struct backlog_entry *entry, size_t bytes);

/* It has read. */
void backlog_take(struct backlog *backlog, struct backlog_entry *entry, size_t bytes);

/* It will read no more. */
void backlog_clear(struct backlog *backlog, struct backlog_entry *entry);

/* More than half is in use: who has something to read should get no more now. */
bool backlog_is_high(const struct backlog *backlog);

/* Somebody waits for that to end: drop who stands in the way and has read nothing for so
 * many calls of this. */
void backlog_tick(struct backlog *backlog, unsigned patience);

#endif
