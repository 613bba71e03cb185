/* roster.c - who waits, by age and by address */
#include "server/http/roster.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* uthash's default falls through between cases, which clang warns of. */
#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

#define KEY_BYTES 8

struct roster_address {
    unsigned char key[KEY_BYTES];
    unsigned count;
    struct roster_list entries;
    UT_hash_handle hh;
};

void roster_init(struct roster *roster)
{
    TAILQ_INIT(&roster->entries);
    roster->count = 0;
    roster->addresses = NULL;
}

/* An IPv4 address is the end of a key that no /64 of the public net begins with. */
static void make_key(const struct sockaddr *address, unsigned char key[KEY_BYTES])
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;

    memset(key, 0, KEY_BYTES);
    if (address->sa_family != AF_INET6)
        memcpy(key + 4, &((const struct sockaddr_in *)address)->sin_addr, 4);
    else if (IN6_IS_ADDR_V4MAPPED(six))
        memcpy(key + 4, six->s6_addr + 12, 4);
    else
        memcpy(key, six->s6_addr, KEY_BYTES);
}

static struct roster_address *find(const struct roster *roster,
                                   const struct sockaddr *address)
{
    unsigned char key[KEY_BYTES];
    struct roster_address *found;

    make_key(address, key);
    HASH_FIND(hh, roster->addresses, key, KEY_BYTES, found);
    return found;
}

static struct roster_address *find_or_add(struct roster *roster,
                                          const struct sockaddr *address)
{
    struct roster_address *found = find(roster, address);

    if (found)
        return found;
    found = calloc(1, sizeof(*found));
    if (!found)
        return NULL;
    make_key(address, found->key);
    TAILQ_INIT(&found->entries);
    HASH_ADD(hh, roster->addresses, key, KEY_BYTES, found);
    return found;
}

int roster_add(struct roster *roster, struct roster_entry *entry,
               const struct sockaddr *address, uint64_t now_ms)
{
    entry->address = find_or_add(roster, address);
    if (!entry->address)
        return -1;
    entry->since_ms = now_ms;
    entry->address->count++;
    roster->count++;
    TAILQ_INSERT_TAIL(&entry->address->entries, entry, same);
    TAILQ_INSERT_TAIL(&roster->entries, entry, all);
    return 0;
}

void roster_remove(struct roster *roster, struct roster_entry *entry)
{
    struct roster_address *address = entry->address;

    if (!address)
        return;
    TAILQ_REMOVE(&roster->entries, entry, all);
    TAILQ_REMOVE(&address->entries, entry, same);
    entry->address = NULL;
    roster->count--;
    if (--address->count > 0)
        return;
    HASH_DEL(roster->addresses, address);
    free(address);
}

struct roster_entry *roster_oldest(const struct roster *roster)
{
    return TAILQ_FIRST(&roster->entries);
}

struct roster_entry *roster_oldest_of(const struct roster *roster,
                                      const struct sockaddr *address, unsigned *count)
{
    const struct roster_address *found = find(roster, address);

    *count = found ? found->count : 0;
    return found ? TAILQ_FIRST(&found->entries) : NULL;
}
