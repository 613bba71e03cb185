/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_releases.c - the worker's declarations, symbols and kernels agree with
 * releases of NCCL and CUDA, as far as that shows without a GPU */
#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_kernels.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "tests/unit/test.h"

/* ---- ncclConfig_t ---- */

/* The size in each release since, and where the worker's next member begins. */
TEST(the_config_of_each_release_is_the_start_of_ours)
{
    static const struct {
        const char *since;
        size_t bytes, ours;
    } releases[] = {
        {"2.18", 48, offsetof(struct nccl_config, comm_name)},
        {"2.27", 72, offsetof(struct nccl_config, n_channels_per_net_peer)},
        {"2.28", 80, offsetof(struct nccl_config, graph_usage_mode)},
        {"2.29", 88, offsetof(struct nccl_config, max_p2p_peers)},
        {"2.30", 96, sizeof(struct nccl_config)},
    };

    for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
        if (releases[i].ours != releases[i].bytes)
            fail_msg("NCCL %s: %zu bytes, not %zu", releases[i].since, releases[i].ours,
                     releases[i].bytes);
    assert_int_equal(NCCL_CONFIG_VERSION, NCCL_ABI_VERSION(2, 28, 0));
    assert_int_equal(NCCL_CONFIG_BYTES, 80);
}

#define MEMBER(name, offset)                                                             \
    {                                                                                    \
#name, offset, offsetof(struct nccl_config, name)                                \
    }

TEST(members_of_the_config_lie_where_nccl_has_them)
{
    static const struct {
        const char *name;
        size_t offset, ours;
    } members[] = {
        MEMBER(size, 0),
        MEMBER(magic, 8),
        MEMBER(version, 12),
        MEMBER(blocking, 16),
        MEMBER(cga_cluster_size, 20),
        MEMBER(min_ctas, 24),
        MEMBER(max_ctas, 28),
        MEMBER(net_name, 32),
        MEMBER(split_share, 40),
        MEMBER(traffic_class, 44),
        MEMBER(comm_name, 48),
        MEMBER(collnet_enable, 56),
        MEMBER(cta_policy, 60),
        MEMBER(shrink_share, 64),
        MEMBER(nvls_ctas, 68),
        MEMBER(n_channels_per_net_peer, 72),
        MEMBER(nvlink_centric_sched, 76),
        MEMBER(graph_usage_mode, 80),
        MEMBER(num_rma_ctx, 84),
        MEMBER(max_p2p_peers, 88),
        MEMBER(graph_stream_ordering, 92),
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (members[i].ours != members[i].offset)
            fail_msg("%s: at %zu, not %zu", members[i].name, members[i].ours,
                     members[i].offset);
}

/* ---- Symbols of the installed libraries ---- */

struct since {
    size_t at; /* of the function in its table */
    int version;
};

/* Each function of the table is there, but for `emulated` and those that came later. */
static void assert_bound(const void *table, size_t end, const struct since *since,
                         size_t n, int version)
{
    for (size_t at = 0; at < end; at += sizeof(void *)) {
        const void *address;
        bool is_later = false;

        for (size_t i = 0; i < n; i++)
            is_later = is_later || (since[i].at == at && version < since[i].version);
        memcpy(&address, (const char *)table + at, sizeof(address));
        if (!address && !is_later)
            fail_msg("version %d has no function number %zu", version,
                     at / sizeof(void *));
    }
}

static void skip_or_fail(const struct error *err)
{
    if (!strstr(err->text, "cannot load the library"))
        fail_msg("%s", err->text);
    print_message("not tried: %s\n", err->text);
    skip();
}

#define CUDA(name) offsetof(struct cuda_functions, name)
#define NCCL(name) offsetof(struct nccl_functions, name)

TEST(the_installed_cuda_runtime_has_every_function)
{
    struct error err = {0};
    struct cuda_lib cuda;

    if (cuda_lib_load(&cuda, &err))
        skip_or_fail(&err);
    print_message("%s, %d\n", cuda.path, cuda.runtime);
    assert_bound(&cuda.call, CUDA(emulated), NULL, 0, cuda.runtime);
}

TEST(the_installed_driver_has_every_function)
{
    struct cuda_driver driver;
    struct error err = {0};

    if (cuda_driver_load(&(struct cuda_lib){.is_emulated = false}, &driver, &err))
        skip_or_fail(&err);
}

TEST(a_driver_without_a_function_is_an_error)
{
    const struct cuda_lib cuda = {.is_emulated = true, .path = "libc.so.6"};
    struct cuda_driver driver;
    struct error err = {0};

    assert_int_equal(cuda_driver_load(&cuda, &driver, &err), -1);
    assert_non_null(strstr(err.text, "cuModuleLoadData"));
}

TEST(the_installed_nccl_has_every_function)
{
    static const struct since since[] = {
        {NCCL(mem_alloc), NCCL_ABI_VERSION(2, 19, 0)},
        {NCCL(mem_free), NCCL_ABI_VERSION(2, 19, 0)},
        {NCCL(register_buffer), NCCL_ABI_VERSION(2, 19, 0)},
        {NCCL(deregister_buffer), NCCL_ABI_VERSION(2, 19, 0)},
        {NCCL(init_rank_scalable), NCCL_ABI_VERSION(2, 23, 0)},
        {NCCL(register_window), NCCL_ABI_VERSION(2, 27, 0)},
        {NCCL(deregister_window), NCCL_ABI_VERSION(2, 27, 0)},
        {NCCL(alltoall), NCCL_ABI_VERSION(2, 28, 0)},
        {NCCL(gather), NCCL_ABI_VERSION(2, 28, 0)},
        {NCCL(scatter), NCCL_ABI_VERSION(2, 28, 0)},
    };
    struct error err = {0};
    struct nccl_lib nccl;

    if (nccl_lib_load(&nccl, 0, &err))
        skip_or_fail(&err);
    print_message("%s, %d\n", nccl.path, nccl.version);
    assert_bound(&nccl.call, NCCL(emulated), since, sizeof(since) / sizeof(since[0]),
                 nccl.version);
}

/* ---- The kernels ---- */

/* Drivers compile the PTX for their GPU as ptxas does. */
TEST(the_ptx_assembles_for_each_gpu)
{
    static const char *const gpus[] = {"sm_80", "sm_90", "sm_100"};
    char path[] = "/tmp/ringbench-ptx-XXXXXX", command[512];
    int n_tried = 0;

    if (nccl_kernels_ptx_len == 0 || !*PTXAS) {
        print_message("not tried: %s\n",
                      *PTXAS ? "the kernels are not built" : "no ptxas");
        skip();
    }
    int file = mkstemp(path);
    assert_int_equal(write(file, nccl_kernels_ptx, nccl_kernels_ptx_len),
                     nccl_kernels_ptx_len);
    close(file);
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        snprintf(command, sizeof(command), PTXAS " --help | grep -q \"'%s'\"", gpus[i]);
        if (system(command)) {
            print_message("not tried: %s does not know %s\n", PTXAS, gpus[i]);
            continue;
        }
        snprintf(command, sizeof(command), PTXAS " -arch=%s -o /dev/null %s", gpus[i],
                 path);
        if (system(command))
            fail_msg("%s", command);
        n_tried++;
    }
    unlink(path);
    assert_true(n_tried > 0);
}
