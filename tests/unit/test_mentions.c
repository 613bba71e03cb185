/* SPDX-License-Identifier: Apache-2.0 */
/* test_mentions.c - what tests find in a message, and what they do not */
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

TEST(names_are_found_whole_and_in_their_order)
{
    static const struct {
        const char *text, *names;
        bool is_there;
    } cases[] = {
        {"1 to 8, and 0", "1 8 0", true},
        {"1 to 8, and 0", "1 8, and 0", true},
        {"1 to 8, and 0", "8 1", false},
        {"1 to 8, and 0", "1 1", false},
        {"1 to 80", "8", false},
        {"1.5 of 10 at node-1", "1", false},
        {"1.5 of 10 at node-1", "1.5 10 node-1", true},
        {"at node-1.", "node-1", true},
        {"not -1", "1", false},
        {"not -1", "-1", true},
        {"NCCL_ALGOS", "NCCL_ALGO", false},
        {"anything", "", true},
        {"", "x", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (mentions(cases[i].text, cases[i].names) != cases[i].is_there)
            fail_msg("'%s' in '%s'", cases[i].names, cases[i].text);
}
