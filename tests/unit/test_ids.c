/* SPDX-License-Identifier: Apache-2.0 */
/* test_ids.c - random identifiers */
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "tests/unit/test.h"

static uint64_t decode_base32(const char *text, int digits)
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    uint64_t value = 0;

    for (int i = 0; i < digits; i++) {
        const char *digit = strchr(alphabet, text[i]);

        assert_non_null(digit);
        value = value * 32 + (uint64_t)(digit - alphabet);
    }
    return value;
}

TEST(a_run_id_begins_with_its_second)
{
    int64_t before = clock_wall_ms() / 1000, after;
    char id[ID_RUN_LENGTH + 1];

    memset(id, 'x', sizeof(id));
    id_run(id);
    after = clock_wall_ms() / 1000;
    assert_int_equal(strlen(id), ID_RUN_LENGTH);
    assert_in_range(decode_base32(id, 7), before, after);
    decode_base32(id + 7, 5);
}

TEST(a_uuid_is_version_4)
{
    char id[ID_UUID_LENGTH + 1];

    for (int n = 0; n < 200; n++) {
        id_uuid(id);
        assert_int_equal(strlen(id), ID_UUID_LENGTH);
        for (int i = 0; i < ID_UUID_LENGTH; i++)
            if (i == 8 || i == 13 || i == 18 || i == 23)
                assert_int_equal(id[i], '-');
            else
                assert_non_null(strchr("0123456789abcdef", id[i]));
        assert_int_equal(id[14], '4');
        assert_non_null(strchr("89ab", id[19]));
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, ID_RUN_LENGTH);
}

TEST(ids_differ)
{
    enum { N = 200 }; /* of 2^25 in a second: equal ones once in 1,700 test runs */
    static char ids[N][ID_RUN_LENGTH + 1];
    char one[ID_UUID_LENGTH + 1], two[ID_UUID_LENGTH + 1];
    size_t equal = 0;

    for (size_t i = 0; i < N; i++)
        id_run(ids[i]);
    qsort(ids, N, sizeof(ids[0]), compare);
    for (size_t i = 1; i < N; i++)
        equal += memcmp(ids[i - 1], ids[i], ID_RUN_LENGTH) == 0;
    assert_in_range(equal, 0, 1);
    id_uuid(one);
    id_uuid(two);
    assert_string_not_equal(one, two);
}

TEST(a_node_has_a_plain_name)
{
    static const char *const good[] = {"n", "node-1", "gpu07.Rack_2"};
    static const char *const bad[] = {"",         "a b",         "a/b", "a\n",
                                      "\x1b[31m", "caf\xc3\xa9", "a:b"};
    char name[ID_NODE_MAX + 2] = "";

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(id_is_node_name(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(id_is_node_name(bad[i]));
    memset(name, 'x', ID_NODE_MAX);
    assert_true(id_is_node_name(name));
    name[ID_NODE_MAX] = 'x';
    assert_false(id_is_node_name(name));
}
