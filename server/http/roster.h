/* roster.h - who waits, the longest first, and how many of them come from one address. An
 * IPv6 address stands for its /64, which is what one host may have. */
#ifndef RINGBENCH_SERVER_HTTP_ROSTER_H
#define RINGBENCH_SERVER_HTTP_ROSTER_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

struct roster_address;

/* A part of what waits. */
struct roster_entry {
    void *owner;
    uint64_t since_ms;
    struct roster_address *address; /* NULL: in no roster */
    TAILQ_ENTRY(roster_entry) all, same;
};

TAILQ_HEAD(roster_list, roster_entry);

struct roster {
    struct roster_list entries;
    unsigned count;
    struct roster_address *addresses;
};

void roster_init(struct roster *roster);

/* Append; now_ms never falls. -1 when memory is out. */
int roster_add(struct roster *roster, struct roster_entry *entry,
               const struct sockaddr *address, uint64_t now_ms);

/* Nothing if it is in none. */
void roster_remove(struct roster *roster, struct roster_entry *entry);

/* The owner of the entry that has waited longest, NULL if there is none. */
struct roster_entry *roster_oldest(const struct roster *roster);

/* The same among those of one address; *count gets their number. */
struct roster_entry *roster_oldest_of(const struct roster *roster,
                                      const struct sockaddr *address, unsigned *count);

#endif
