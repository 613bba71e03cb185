/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_identity.c - compare the ranks' GPUs and libraries before NCCL connects them */
#include "agent/worker/nccl/nccl_identity.h"

#include <stdio.h>
#include <string.h>

#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_lib.h"

#define LISTED_MAX 4 /* maximum number of ranks listed per value */
#define VALUES_MAX 4 /* maximum number of values listed */
#define NCCL_WITH_UUIDS 23000

/* A property that must be equal on all ranks, and the texts that describe it. */
struct trait {
    int (*value)(const struct nccl_identity *identity);
    const char *(*name)(int value, char text[32]);
    const char *title;
};

static int nccl_version_of(const struct nccl_identity *identity)
{
    return identity->nccl_version;
}

static int runtime_of(const struct nccl_identity *identity)
{
    return identity->cuda_runtime;
}

static int driver_of(const struct nccl_identity *identity)
{
    return identity->cuda_driver;
}

static int emulated_of(const struct nccl_identity *identity)
{
    return identity->is_emulated;
}

static const char *name_nccl(int value, char text[32])
{
    return nccl_version_text(value, text);
}

static const char *name_cuda(int value, char text[32])
{
    return cuda_version_text(value, text);
}

static const char *name_emulated(int value, char text[32])
{
    snprintf(text, 32, "%s", value ? "emulated" : "real");
    return text;
}

static const struct trait emulation = {emulated_of, name_emulated,
                                       "the ranks' libraries"};
static const struct trait nccl_version = {nccl_version_of, name_nccl,
                                          "the ranks' NCCL versions"};
static const struct trait runtime = {runtime_of, name_cuda,
                                     "the ranks' CUDA runtime versions"};
static const struct trait driver = {driver_of, name_cuda,
                                    "the CUDA versions of the ranks' drivers"};

static void append(char *text, size_t size, const char *more)
{
    size_t len = strlen(text);

    snprintf(text + len, size - len, "%s", more);
}

/* Return n if there is no next rank with this value. */
static int next_rank(const struct nccl_identity *all, int n, const struct trait *trait,
                     int value, int after)
{
    int rank = after + 1;

    while (rank < n && trait->value(&all[rank]) != value)
        rank++;
    return rank;
}

/* Append the ranks with this value: "ranks 1, 2 (node-1), 3 (node-2) and 5 more". */
static void list_ranks(const struct nccl_identity *all, int n, const struct trait *trait,
                       int value, char *text, size_t size)
{
    int rank = next_rank(all, n, trait, value, -1), count = 0;
    bool is_one = next_rank(all, n, trait, value, rank) == n;
    char part[128];

    append(text, size, is_one ? "rank" : "ranks");
    for (; rank < n; count++) {
        int next = next_rank(all, n, trait, value, rank);
        bool is_last_here = count + 1 == LISTED_MAX || next == n ||
                            strcmp(all[rank].node, all[next].node) != 0;
        if (count < LISTED_MAX) {
            snprintf(part, sizeof(part), "%s %d%s%s%s", count ? "," : "", rank,
                     is_last_here ? " (" : "", is_last_here ? all[rank].node : "",
                     is_last_here ? ")" : "");
            append(text, size, part);
        }
        rank = next;
    }
    if (count > LISTED_MAX) {
        snprintf(part, sizeof(part), " and %d more", count - LISTED_MAX);
        append(text, size, part);
    }
}

static bool is_new(const struct nccl_identity *all, int rank, const struct trait *trait)
{
    for (int before = 0; before < rank; before++)
        if (trait->value(&all[before]) == trait->value(&all[rank]))
            return false;
    return true;
}

/* "TITLE differ: X on rank ...; Y on rank ...", or "" if all ranks agree. */
static void describe(const struct nccl_identity *all, int n, const struct trait *trait,
                     char *text, size_t size)
{
    int values = 0;

    snprintf(text, size, "%s differ:", trait->title);
    for (int rank = 0; rank < n && values < VALUES_MAX; rank++) {
        char name[32], part[64];
        if (!is_new(all, rank, trait))
            continue;
        snprintf(part, sizeof(part), "%s %s on ", values++ ? ";" : "",
                 trait->name(trait->value(&all[rank]), name));
        append(text, size, part);
        list_ranks(all, n, trait, trait->value(&all[rank]), text, size);
    }
    if (values < 2)
        *text = '\0';
}

static int check_trait(const struct nccl_identity *all, int n, const struct trait *trait,
                       struct error *err)
{
    char text[sizeof(err->text)];

    describe(all, n, trait, text, sizeof(text));
    return *text ? error_set(err, ERROR_CONFLICT, "%s", text) : 0;
}

static bool is_same_device(const struct nccl_identity *a, const struct nccl_identity *b)
{
    return memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0;
}

/* MIG instances of a GPU have different UUIDs and the same PCI address. */
static bool is_same_gpu(const struct nccl_identity *a, const struct nccl_identity *b)
{
    return is_same_device(a, b) ||
           (strcmp(a->node, b->node) == 0 && strcmp(a->bus_id, b->bus_id) == 0);
}

/* NCCL before 2.30 identifies GPUs by PCI address only. Later versions use UUIDs, and
 * NCCL_MULTI_RANK_GPU_ENABLE lets ranks share a GPU (src/init.cc). */
static bool is_one_to_nccl(const struct nccl_identity *a, const struct nccl_identity *b)
{
    bool is_one = a->nccl_version < NCCL_WITH_UUIDS
                      ? is_same_gpu(a, b)
                      : is_same_device(a, b) && !(a->may_share && b->may_share);

    return is_one && strcmp(a->nccl_hostid, b->nccl_hostid) == 0;
}

static const char *how_to_share(const struct nccl_identity *a,
                                const struct nccl_identity *b)
{
    if (a->nccl_version >= NCCL_WITH_UUIDS)
        return ". Fix: set NCCL_MULTI_RANK_GPU_ENABLE=1 in the run's env";
    return is_same_device(a, b) ? ". Fix: use NCCL 2.30 or newer with "
                                  "NCCL_MULTI_RANK_GPU_ENABLE=1 in the run's env"
                                : ", and this version counts MIG instances as one. Fix: "
                                  "use NCCL 2.30 or newer";
}

static int check_devices(const struct nccl_identity *all, int n, struct error *err)
{
    for (int rank = 1; rank < n; rank++) {
        for (int other = 0; other < rank; other++) {
            const struct nccl_identity *a = &all[other], *b = &all[rank];
            if (is_one_to_nccl(a, b)) {
                return error_set(err, ERROR_CONFLICT,
                                 "ranks %d and %d are both on GPU %s of %s (%s): NCCL "
                                 "allows one rank per GPU%s",
                                 other, rank, b->bus_id, b->node, b->device_name,
                                 how_to_share(a, b));
            }
        }
    }
    return 0;
}

static int check_failures(const struct nccl_identity *all, int n, struct error *err)
{
    int failed = 0, first = 0;

    for (int rank = n - 1; rank >= 0; rank--) {
        if (all[rank].failure_code != ERROR_NONE) {
            failed++;
            first = rank;
        }
    }
    if (failed == 0)
        return 0;
    char more[48] = "";
    if (failed > 1) {
        snprintf(more, sizeof(more), " (and %d more rank%s failed)", failed - 1,
                 failed == 2 ? "" : "s");
    }
    return error_set(err, all[first].failure_code, "rank %d on %s: %s%s", first,
                     all[first].node, all[first].failure, more);
}

int nccl_identity_compare(const struct nccl_identity *all, int n, struct error *err)
{
    if (check_failures(all, n, err) || check_trait(all, n, &emulation, err) ||
        check_trait(all, n, &nccl_version, err))
        return -1;
    return check_devices(all, n, err);
}

void nccl_identity_remark(const struct nccl_identity *all, int n, char *text, size_t size)
{
    describe(all, n, &driver, text, size);
    if (!*text)
        describe(all, n, &runtime, text, size);
}

void nccl_identity_older(const struct nccl_identity *all, int n, int capability,
                         char *text, size_t size)
{
    int oldest = 0;

    for (int rank = 1; rank < n; rank++)
        oldest = all[rank].capability < all[oldest].capability ? rank : oldest;
    *text = '\0';
    if (all[oldest].capability < capability) {
        snprintf(text, size, "the GPU of rank %d on %s (%s) has compute capability %d.%d",
                 oldest, all[oldest].node, all[oldest].device_name,
                 all[oldest].capability / 10, all[oldest].capability % 10);
    }
}

int nccl_identity_sharers(const struct nccl_identity *all, int n, int rank)
{
    int sharers = 0;

    for (int i = 0; i < n; i++)
        sharers += is_same_gpu(&all[i], &all[rank]);
    return sharers;
}
