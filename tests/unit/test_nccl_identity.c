/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_identity.c - which ranks can form a communicator, and the reason if not */
#include "agent/worker/nccl/nccl_identity.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 6

static void make_ranks(struct nccl_identity all[RANKS])
{
    memset(all, 0, RANKS * sizeof(*all));
    for (int rank = 0; rank < RANKS; rank++) {
        struct nccl_identity *identity = &all[rank];
        identity->nccl_version = 22809;
        identity->cuda_runtime = 13000;
        identity->cuda_driver = 13000;
        identity->uuid[0] = (unsigned char)(rank + 1);
        snprintf(identity->bus_id, sizeof(identity->bus_id), "0000:0%d:00.0", rank);
        snprintf(identity->device_name, sizeof(identity->device_name), "H200");
        snprintf(identity->node, sizeof(identity->node), "node-%d", rank / 3);
    }
}

TEST(equal_ranks_are_accepted)
{
    struct nccl_identity all[RANKS];
    char remark[256];

    make_ranks(all);
    assert_int_equal(nccl_identity_compare(all, RANKS, NULL), 0);
    assert_int_equal(nccl_identity_compare(all, 1, NULL), 0);
    nccl_identity_remark(all, RANKS, remark, sizeof(remark));
    assert_string_equal(remark, "");
    assert_int_equal(nccl_identity_sharers(all, RANKS, 3), 1);
}

static void refuse(const struct nccl_identity all[RANKS], const char *names)
{
    struct error err = {0};

    assert_int_equal(nccl_identity_compare(all, RANKS, &err), -1);
    assert_mentions(err.text, names);
}

TEST(other_versions_of_nccl_are_refused)
{
    struct nccl_identity all[RANKS];

    make_ranks(all);
    all[4].nccl_version = 22803;
    refuse(all, "the ranks' NCCL versions differ: 2.28.9 on ranks 0, 1, 2 (node-0), 3 "
                "(node-1) and 1 more; 2.28.3 on rank 4 (node-1)");
}

TEST(a_mix_with_emulated_libraries_is_refused)
{
    struct nccl_identity all[RANKS];

    make_ranks(all);
    all[0].is_emulated = true;
    refuse(all, "the ranks' libraries differ: emulated on rank 0 (node-0); real on ranks "
                "1, 2 (node-0), 3, 4 (node-1) and 1 more");
}

TEST(the_oldest_gpu_is_named)
{
    struct nccl_identity all[RANKS];
    char text[256];

    make_ranks(all);
    for (int rank = 0; rank < RANKS; rank++)
        all[rank].capability = 90;
    nccl_identity_older(all, RANKS, 90, text, sizeof(text));
    assert_string_equal(text, "");
    all[1].capability = 89;
    all[4].capability = 80;
    nccl_identity_older(all, RANKS, 90, text, sizeof(text));
    assert_string_equal(text,
                        "the GPU of rank 4 on node-1 (H200) has compute capability 8.0");
}

TEST(one_gpu_for_two_ranks_is_refused)
{
    struct nccl_identity all[RANKS];

    make_ranks(all);
    all[5].uuid[0] = all[3].uuid[0];
    refuse(all, "3 5 0000:05:00.0 node-1 (H200)");
}

TEST(ranks_may_share_a_gpu_since_nccl_2_30)
{
    struct nccl_identity all[RANKS];
    struct error err = {0};

    make_ranks(all);
    all[5].uuid[0] = all[3].uuid[0];
    for (int rank = 0; rank < RANKS; rank++)
        all[rank].may_share = true;
    refuse(all, "3 5 use NCCL 2.30 or newer with NCCL_MULTI_RANK_GPU_ENABLE=1");
    for (int rank = 0; rank < RANKS; rank++)
        all[rank].nccl_version = 23000;
    assert_int_equal(nccl_identity_compare(all, RANKS, &err), 0);
    all[5].may_share = false;
    refuse(all, "3 5 set NCCL_MULTI_RANK_GPU_ENABLE=1");
}

TEST(two_instances_of_a_gpu_are_refused_too)
{
    struct nccl_identity all[RANKS];

    make_ranks(all);
    memcpy(all[5].bus_id, all[3].bus_id, sizeof(all[5].bus_id));
    refuse(all,
           "ranks 3 and 5 are both on GPU 0000:03:00.0 of node-1 (H200): NCCL allows "
           "one rank per GPU, and this version counts MIG instances as one. Fix: use "
           "NCCL 2.30 or newer");
    assert_int_equal(nccl_identity_sharers(all, RANKS, 5), 2);
    /* The same address in another machine is another GPU. */
    make_ranks(all);
    memcpy(all[5].bus_id, all[2].bus_id, sizeof(all[5].bus_id));
    assert_int_equal(nccl_identity_compare(all, RANKS, NULL), 0);
    /* Newer ones may be told to tell them apart. */
    make_ranks(all);
    memcpy(all[5].bus_id, all[3].bus_id, sizeof(all[5].bus_id));
    for (int rank = 0; rank < RANKS; rank++)
        all[rank].nccl_version = 23100;
    assert_int_equal(nccl_identity_compare(all, RANKS, NULL), 0);
}

TEST(ranks_on_machines_of_their_own_making_may_share)
{
    struct nccl_identity all[RANKS];

    make_ranks(all);
    all[5].uuid[0] = all[4].uuid[0] = all[3].uuid[0];
    for (int rank = 3; rank < RANKS; rank++)
        snprintf(all[rank].nccl_hostid, sizeof(all[rank].nccl_hostid), "job-%d", rank);
    assert_int_equal(nccl_identity_compare(all, RANKS, NULL), 0);
    assert_int_equal(nccl_identity_sharers(all, RANKS, 4), 3);
    assert_int_equal(nccl_identity_sharers(all, RANKS, 0), 1);
}

TEST(a_rank_that_cannot_is_named)
{
    struct nccl_identity all[RANKS];
    struct error err = {0};

    make_ranks(all);
    all[2].failure_code = ERROR_UNSUPPORTED;
    snprintf(all[2].failure, sizeof(all[2].failure), "it failed");
    all[2].nccl_version = 0; /* says less than why */
    nccl_identity_compare(all, RANKS, &err);
    assert_string_equal(err.text, "rank 2 on node-0: it failed");
    all[4].failure_code = ERROR_MEMORY;
    all[5].failure_code = ERROR_MEMORY;
    refuse(all, "rank 2 on node-0: it failed (and 2 more ranks failed)");
    nccl_identity_compare(all, RANKS, &err);
    assert_int_equal(err.code, ERROR_UNSUPPORTED);
}

TEST(other_drivers_are_remarked)
{
    struct nccl_identity all[RANKS];
    char remark[256];

    make_ranks(all);
    all[1].cuda_driver = 12080;
    assert_int_equal(nccl_identity_compare(all, RANKS, NULL), 0);
    nccl_identity_remark(all, RANKS, remark, sizeof(remark));
    assert_string_equal(remark,
                        "the CUDA versions of the ranks' drivers differ: 13.0 on ranks "
                        "0, 2 (node-0), 3, 4 (node-1) and 1 more; 12.8 on rank 1 "
                        "(node-0)");
}
