/* SPDX-License-Identifier: Apache-2.0 */
/* test_shm_group.c - ranks of one host map each other's segments */
#include <sys/wait.h>

#include "agent/worker/group/shm_group.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* A process that ends once it has published its segment. It is not waited for yet, so
 * its pid still exists when the others open its files. */
static pid_t start_rank_that_ends(void)
{
    siginfo_t end;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_true(pid > 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
    return pid;
}

static void join_with_one_that_ends(bool is_known)
{
    struct shm_group group;
    struct watch watch;
    struct error err;
    struct shm_peer *peers = calloc(2, sizeof(*peers));
    pid_t pid = start_rank_that_ends();

    assert_non_null(peers);
    watch_init(&watch, NULL);
    assert_int_equal(shm_group_init(&group, &watch, NULL), 0);
    peers[0] = (struct shm_peer){.rank = 4, .pid = getpid(), .remote_fd = group.fd};
    memcpy(peers[0].token, shm_group_token(&group), SHM_TOKEN_BYTES);
    peers[1] = (struct shm_peer){.rank = 7, .pid = pid, .remote_fd = group.fd};
    if (is_known)
        watch_lose_rank(&watch, 7, ERROR_PEER, "lost rank 7");
    assert_int_equal(shm_group_join(&group, peers, 2, 0, &err), -1);
    assert_int_equal(err.code, ERROR_PEER);
    assert_int_equal(watch.lost, is_known ? 7 : -1);
    assert_mentions(err.text, "rank 7");
    shm_group_release(&group);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_rank_that_ends_before_its_segment_is_opened_is_lost)
{
    join_with_one_that_ends(true);
}

TEST(without_news_of_its_end_it_is_named)
{
    join_with_one_that_ends(false);
}
