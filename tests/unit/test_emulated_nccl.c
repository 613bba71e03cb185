/* SPDX-License-Identifier: Apache-2.0 */
/* test_emulated_nccl.c - the emulated NCCL refuses what the real ones refuse */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/nccl.h"
#include "tests/unit/test.h"

#define BYTES ((size_t)2 << 20)

static struct nccl_config plain_config(void)
{
    struct nccl_config config = {.size = NCCL_CONFIG_BYTES,
                                 .magic = NCCL_CONFIG_MAGIC,
                                 .version = NCCL_CONFIG_VERSION,
                                 .blocking = 1,
                                 .cta_policy = NCCL_CONFIG_UNSET,
                                 .nvlink_centric_sched = NCCL_CONFIG_UNSET,
                                 .max_p2p_peers = NCCL_CONFIG_UNSET};

    return config;
}

static nccl_comm form_one(void)
{
    struct nccl_config config = plain_config();
    struct nccl_id id;
    nccl_comm comm;

    assert_int_equal(ncclGetUniqueId(&id), 0);
    assert_int_equal(ncclCommInitRankConfig(&comm, 1, id, 0, &config), 0);
    return comm;
}

static void be(const char *emulation)
{
    setenv("RINGBENCH_EMULATION", emulation, 1);
}

static int register_at(nccl_comm comm, char *memory, size_t bytes, nccl_window *window)
{
    return ncclCommWindowRegister(comm, memory, bytes, window, NCCL_WINDOW_SYMMETRIC);
}

TEST(a_window_is_of_memory_from_nccl_at_its_alignment)
{
    nccl_comm comm = form_one();
    nccl_window window = NULL;
    void *ours, *theirs;

    assert_int_equal(ncclMemAlloc(&ours, BYTES), 0);
    assert_int_equal(cudaMalloc(&theirs, BYTES), 0);
    assert_int_equal(register_at(comm, theirs, BYTES, &window), NCCL_RESULT_CUDA);
    assert_int_equal(register_at(comm, (char *)ours + 64, 4096, &window),
                     NCCL_RESULT_ARGUMENT);
    assert_int_equal(register_at(comm, ours, BYTES + 1, &window), NCCL_RESULT_CUDA);
    assert_null(window);
    assert_int_equal(register_at(comm, (char *)ours + 4096, 4096, &window), 0);
    assert_non_null(window);
    assert_int_equal(ncclCommWindowDeregister(comm, window), 0);
    assert_int_equal(ncclCommWindowDeregister(comm, window), NCCL_RESULT_USAGE);
    be("nccl=22707");
    window = NULL;
    assert_int_equal(register_at(comm, theirs, BYTES, &window), 0);
    assert_null(window);
    be("");
    assert_int_equal(ncclMemFree(ours), 0);
    cudaFree(theirs);
    assert_int_equal(ncclCommDestroy(comm), 0);
}

TEST(without_symmetric_memory_versions_differ)
{
    static const struct {
        const char *emulation;
        bool gives;
    } cases[] = {{"nccl=22707,no_windows", true},
                 {"nccl=22809,no_windows", true},
                 {"nccl=22902,no_windows", false},
                 {"nccl=23004,no_windows", false}};
    void *memory;

    be("");
    nccl_comm comm = form_one();
    assert_int_equal(ncclMemAlloc(&memory, BYTES), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        nccl_window window = NULL;
        be(cases[i].emulation);
        assert_int_equal(register_at(comm, memory, BYTES, &window), 0);
        assert_int_equal(window != NULL, cases[i].gives);
        assert_int_equal(ncclCommWindowDeregister(comm, window), 0);
    }
    be("");
    assert_int_equal(ncclMemFree(memory), 0);
    assert_int_equal(ncclCommDestroy(comm), 0);
}

/* One of two ranks, as a thread. */
struct rank {
    struct nccl_id id;
    int rank;
    size_t bytes;
    atomic_int *others_may; /* NULL: registers at once */
    atomic_bool is_through;
    int result;
};

static void *register_one(void *arg)
{
    struct nccl_config config = plain_config();
    struct rank *own = arg;
    nccl_window window = NULL;
    nccl_comm comm;
    void *memory;

    if (ncclCommInitRankConfig(&comm, 2, own->id, own->rank, &config) ||
        ncclMemAlloc(&memory, own->bytes))
        abort();
    while (own->others_may && !atomic_load(own->others_may))
        usleep(100);
    own->result = register_at(comm, memory, own->bytes, &window);
    atomic_store(&own->is_through, true);
    ncclCommWindowDeregister(comm, window);
    ncclMemFree(memory);
    ncclCommDestroy(comm);
    return NULL;
}

static void check_pair(size_t bytes, int result)
{
    atomic_int may = 0;
    struct rank ranks[2] = {{.rank = 0, .bytes = BYTES},
                            {.rank = 1, .bytes = bytes, .others_may = &may}};
    pthread_t threads[2];

    assert_int_equal(ncclGetUniqueId(&ranks[0].id), 0);
    ranks[1].id = ranks[0].id;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, register_one, &ranks[i]), 0);
    usleep(20000); /* enough for one that does not wait for its peer */
    assert_false(atomic_load(&ranks[0].is_through));
    atomic_store(&may, 1);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(ranks[i].result, result);
    }
}

TEST(a_window_is_a_call_of_all_ranks_with_one_size)
{
    check_pair(BYTES, 0);
    check_pair(2 * BYTES, NCCL_RESULT_CUDA);
}

/* What ends the process, or would wait for ever in the real one. */
static void assert_aborts(void (*act)(nccl_comm comm, void *memory))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        nccl_comm comm = form_one();
        void *memory;
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        if (ncclMemAlloc(&memory, BYTES))
            _exit(3);
        act(comm, memory);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void free_a_window(nccl_comm comm, void *memory)
{
    nccl_window window;

    if (!register_at(comm, memory, BYTES, &window))
        ncclMemFree(memory);
}

static void destroy_before_deregister(nccl_comm comm, void *memory)
{
    void *handle;

    if (!ncclCommRegister(comm, memory, BYTES, &handle))
        ncclCommDestroy(comm);
}

static void destroy_before_a_graph(nccl_comm comm, void *memory)
{
    cuda_stream stream;
    cuda_graph graph;
    cuda_graph_exec exec;

    if (!cudaStreamCreateWithFlags(&stream, 1) &&
        !cudaStreamBeginCapture(stream, CUDA_CAPTURE_THREAD_LOCAL_MODE) &&
        !ncclAllReduce(memory, memory, 1, NCCL_TYPE_INT8, NCCL_OP_SUM, comm, stream) &&
        !cudaStreamEndCapture(stream, &graph) &&
        !cudaGraphInstantiateWithFlags(&exec, graph, 0))
        ncclCommDestroy(comm);
}

static void destroy_during_work(nccl_comm comm, void *memory)
{
    be("slow_us=100000");
    if (!ncclAllReduce(memory, memory, 1, NCCL_TYPE_INT8, NCCL_OP_SUM, comm, NULL))
        ncclCommDestroy(comm);
}

TEST(time_of_what_is_not_reached_is_not_known)
{
    cuda_event events[2];
    cuda_stream stream;
    float ms;

    be("");
    assert_int_equal(cudaStreamCreateWithFlags(&stream, 1), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cudaEventCreate(&events[i]), 0);
    assert_int_equal(cudaEventRecord(events[0], stream), 0);
    assert_int_equal(cudaEventElapsedTime(&ms, events[0], events[1]),
                     CUDA_ERROR_NOT_READY_CODE);
    assert_int_equal(cudaEventRecord(events[1], stream), 0);
    assert_int_equal(cudaStreamDestroy(stream), 0);
    assert_int_equal(cudaEventElapsedTime(&ms, events[0], events[1]), 0);
    assert_true(ms >= 0);
    for (int i = 0; i < 2; i++)
        cudaEventDestroy(events[i]);
}

TEST(ends_in_the_wrong_order_are_noticed)
{
    be("");
    assert_aborts(free_a_window);
    assert_aborts(destroy_before_deregister);
    assert_aborts(destroy_before_a_graph);
    assert_aborts(destroy_during_work);
}

static void *reduce_from_a_thread(void *arg)
{
    nccl_comm comm = arg;
    static char byte[16];
    static int result;

    result = ncclAllReduce(byte, byte, 1, NCCL_TYPE_INT8, NCCL_OP_SUM, comm, NULL);
    return &result;
}

/* A thread begins with device 0, whatever another has set. */
TEST(a_call_is_made_on_the_communicators_device)
{
    pthread_t thread;
    void *result;

    be("");
    assert_int_equal(cudaSetDevice(1), 0);
    nccl_comm comm = form_one();
    assert_int_equal(pthread_create(&thread, NULL, reduce_from_a_thread, comm), 0);
    pthread_join(thread, &result);
    assert_int_equal(*(int *)result, NCCL_RESULT_ARGUMENT);
    assert_string_equal(ncclGetLastError(comm),
                        "emulated: the stream is another device's");
    assert_int_equal(ncclCommDestroy(comm), 0);
    assert_int_equal(cudaSetDevice(0), 0);
}

TEST(a_config_is_within_the_versions_ranges)
{
    static const struct {
        const char *emulation;
        int policy, sched, peers, result;
    } cases[] = {
        {"nccl=21805", 7, 7, NCCL_CONFIG_UNSET, 0}, /* not looked at */
        {"nccl=22707", 1, NCCL_CONFIG_UNSET, NCCL_CONFIG_UNSET, 0},
        {"nccl=22707", 2, NCCL_CONFIG_UNSET, NCCL_CONFIG_UNSET, NCCL_RESULT_ARGUMENT},
        {"nccl=22707", 0, 7, NCCL_CONFIG_UNSET, 0},
        {"nccl=22809", 2, 1, NCCL_CONFIG_UNSET, 0},
        {"nccl=22809", 3, 1, NCCL_CONFIG_UNSET, NCCL_RESULT_ARGUMENT},
        {"nccl=22809", 0, 2, NCCL_CONFIG_UNSET, NCCL_RESULT_ARGUMENT},
        {"nccl=22809", 0, 1, 0, 0},
        {"nccl=23004", 0, 1, 2, 0},
        {"nccl=23004", 0, 1, 0, NCCL_RESULT_ARGUMENT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct nccl_config config = plain_config();
        struct nccl_id id;
        nccl_comm comm;
        config.size = sizeof(config);
        config.version = NCCL_WITH_P2P_PEERS;
        config.cta_policy = cases[i].policy;
        config.nvlink_centric_sched = cases[i].sched;
        config.max_p2p_peers = cases[i].peers;
        be(cases[i].emulation);
        assert_int_equal(ncclGetUniqueId(&id), 0);
        int result = ncclCommInitRankConfig(&comm, 1, id, 0, &config);
        assert_int_equal(result, cases[i].result);
        if (!result)
            assert_int_equal(ncclCommDestroy(comm), 0);
    }
    be("");
}
