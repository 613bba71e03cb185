/* SPDX-License-Identifier: Apache-2.0 */
/* test_choice.c - whether the algorithm that ran is one that was asked for */
#include "test.h"

#include "agent/worker/bench/choice.h"

TEST(settings_are_read_as_nccl_reads_them)
{
    static const struct {
        const char *setting, *name;
        bool is_requested;
    } samples[] = {
        {NULL, "RING", true},
        {"", "RING", true},
        {"Ring", "RING", true},
        {"ring", "TREE", false},
        {"Tree,Ring", "RING", true},
        {"^Tree", "RING", true},
        {"^Tree", "TREE", false},
        {"^Tree,Ring", "RING", false},
        {"NVLSTree", "NVLS_TREE", true},
        {"NVLS", "NVLS_TREE", false},
        {"CollnetDirect", "COLLNET_DIRECT", true},
        {"allreduce:tree;broadcast:ring", "TREE", true},
        {"allreduce:tree;broadcast:ring", "RING", false},
        {"broadcast:ring", "TREE", true},
        {"ring;allreduce:tree,nvls", "NVLS", true},
        {"ring;allreduce:tree,nvls", "RING", false},
        {"ring;allreduce:^ring", "PAT", true},
        {"LL128", "LL", false},
        {"LL128", "LL128", true},
        {"Simple", "SIMPLE", true},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (choice_is_requested(samples[i].setting, COLLECTIVE_ALL_REDUCE,
                                samples[i].name) != samples[i].is_requested)
            fail_msg("%s, %s", samples[i].setting, samples[i].name);
}

TEST(one_rank_is_enough)
{
    struct choice all = {.algo = "RING"},
                  other = {.algo = "RING", .is_unrequested = true};

    choice_add(&all, &other);
    json_t *json = choice_json(&all);
    assert_true(json_is_true(json_object_get(json, "unrequested")));
    json_decref(json);
}
