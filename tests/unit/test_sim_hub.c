/* test_sim_hub.c - the control plane of many ranks, over real processes */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/worker/sim/hub.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 24
#define BIG 200000 /* more than a socket takes at once, times the ranks */

/* What a rank does; its return value is the process's exit status. */
typedef int rank_fn(struct hub *hub, int rank);

static int as_rank(rank_fn *fn, int rank, int n, int port)
{
    struct error err = {0};
    char text[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(text, sizeof(text), "%d", port);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", text, 10000, NULL, &err);
    struct join_config config = {
        .rank = rank, .world_size = n, .store = store, .timeout_ms = 20000};
    struct hub *hub = store ? hub_create(&config, &err) : NULL;
    if (!hub) {
        fprintf(stderr, "rank %d: %s\n", rank, err.text);
        return 99;
    }
    rendezvous_client_destroy(store);
    return fn(hub, rank);
}

/* Run n ranks; statuses as of waitpid. */
static void run_ranks(rank_fn *fn, int n, int *statuses)
{
    struct rendezvous_stub stub;
    pid_t pids[RANKS];

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    for (int rank = 0; rank < n; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0)
            _exit(as_rank(fn, rank, n, stub.port));
    }
    for (int rank = 0; rank < n; rank++)
        assert_int_equal(waitpid(pids[rank], &statuses[rank], 0), pids[rank]);
    rendezvous_stub_stop(&stub);
}

static int gather_all_sizes(struct hub *hub, int rank)
{
    static const size_t sizes[] = {0, 1, 16, 5000, BIG};
    char *mine = malloc(BIG), *all = malloc((size_t)BIG * RANKS);
    int wrong = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t len = sizes[i];
        memset(mine, 'a' + rank, len);
        wrong += hub_allgather(hub, mine, len, all, NULL) != 0;
        for (int other = 0; other < RANKS && len > 0; other++) {
            const char *part = all + (size_t)other * len;
            wrong += part[0] != 'a' + other || part[len - 1] != 'a' + other;
        }
        wrong += hub_barrier(hub, NULL) != 0;
    }
    free(mine);
    free(all);
    hub_destroy(hub);
    return wrong;
}

TEST(everybody_gets_everything)
{
    int statuses[RANKS];

    run_ranks(gather_all_sizes, RANKS, statuses);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(statuses[rank], 0);
}

static int just_end(struct hub *hub, int rank)
{
    (void)rank;
    hub_destroy(hub);
    return 0;
}

TEST(one_rank_is_enough)
{
    int status;

    run_ranks(just_end, 1, &status);
    assert_int_equal(status, 0);
}

/* Rank 5 dies; what the others then hear of: rank 0 of rank 5, they of rank 0. */
static int lose_rank_5(struct hub *hub, int rank)
{
    struct error err = {0};
    int status = 0;

    if (rank == 5)
        kill(getpid(), SIGKILL);
    while (!status)
        status = hub_barrier(hub, &err);
    int lost = hub_lost(hub);
    bool is_latched = hub_barrier(hub, NULL) == -1 && hub_lost(hub) == lost;
    hub_destroy(hub);
    return is_latched && err.code == ERROR_PEER ? lost : 98;
}

TEST(a_death_is_noticed)
{
    int statuses[8];

    run_ranks(lose_rank_5, 8, statuses);
    for (int rank = 0; rank < 8; rank++) {
        if (rank == 5) {
            assert_true(WIFSIGNALED(statuses[rank]));
        } else {
            assert_true(WIFEXITED(statuses[rank]));
            assert_int_equal(WEXITSTATUS(statuses[rank]), rank == 0 ? 5 : 0);
        }
    }
}

static int lose_rank_0(struct hub *hub, int rank)
{
    if (rank == 0)
        kill(getpid(), SIGKILL);
    while (!hub_barrier(hub, NULL)) {}
    int lost = hub_lost(hub);
    hub_abort(hub);
    return lost == 0 ? 0 : 98;
}

TEST(so_is_that_of_rank_0)
{
    int statuses[4];

    run_ranks(lose_rank_0, 4, statuses);
    for (int rank = 1; rank < 4; rank++)
        assert_int_equal(statuses[rank], 0);
}

TEST(a_stop_ends_the_wait_for_the_others)
{
    struct rendezvous_stub stub;
    struct error err = {0};
    atomic_int stop = 1;
    char port[16];

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    snprintf(port, sizeof(port), "%d", stub.port);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", port, 10000, NULL, &err);
    assert_non_null(store);
    struct join_config config = {
        .rank = 0, .world_size = 2, .store = store, .stop = &stop, .timeout_ms = 60000};
    assert_null(hub_create(&config, &err));
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    stop = 0;
    config.timeout_ms = 1;
    assert_null(hub_create(&config, &err));
    assert_int_equal(err.code, ERROR_TIMEOUT);
    assert_mentions(err.text, "0 1 rank 1");
    rendezvous_client_destroy(store);
    rendezvous_stub_stop(&stub);
}
