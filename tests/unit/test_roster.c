/* test_roster.c - who has waited longest, of all and of one address */
#include <arpa/inet.h>

#include "server/http/roster.h"
#include "tests/unit/test.h"

#define ENTRIES 5

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static union address address_of(const char *text)
{
    union address address;

    memset(&address, 0, sizeof(address));
    if (inet_pton(AF_INET, text, &address.four.sin_addr) == 1) {
        address.four.sin_family = AF_INET;
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &address.six.sin6_addr), 1);
        address.six.sin6_family = AF_INET6;
    }
    return address;
}

static unsigned count_of(const struct roster *roster, const char *text)
{
    union address address = address_of(text);
    unsigned count;

    roster_oldest_of(roster, &address.any, &count);
    return count;
}

TEST(tells_the_oldest_and_counts_by_address)
{
    static const char *const from[ENTRIES] = {"10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1",
                                              "2001:db8::1", "2001:db8::9:1"};
    struct roster_entry entries[ENTRIES] = {{.owner = NULL}};
    struct roster roster;
    union address second = address_of("10.0.0.2");
    unsigned count;

    roster_init(&roster);
    assert_null(roster_oldest(&roster));
    for (int i = 0; i < ENTRIES; i++) {
        union address address = address_of(from[i]);

        assert_int_equal(roster_add(&roster, &entries[i], &address.any, (uint64_t)i), 0);
    }
    assert_ptr_equal(roster_oldest(&roster), &entries[0]);
    assert_ptr_equal(roster_oldest_of(&roster, &second.any, &count), &entries[1]);
    assert_int_equal(count, 1);
    assert_int_equal(count_of(&roster, "10.0.0.1"), 2);
    assert_int_equal(count_of(&roster, "2001:db8::77"), 2); /* one host's /64 */
    assert_int_equal(count_of(&roster, "2001:db9::1"), 0);
    roster_remove(&roster, &entries[0]);
    roster_remove(&roster, &entries[0]);
    assert_ptr_equal(roster_oldest(&roster), &entries[1]);
    assert_int_equal(count_of(&roster, "10.0.0.1"), 1);
    for (int i = 1; i < ENTRIES; i++)
        roster_remove(&roster, &entries[i]);
    assert_int_equal(roster.count, 0);
    assert_null(roster.addresses);
}
