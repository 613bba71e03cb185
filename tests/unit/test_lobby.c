/* test_lobby.c - who comes in from the lobby, and how many at a time */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "server/http/lobby.h"
#include "tests/unit/test.h"

#define CROWD 12
#define PER_TURN 2

static uv_loop_t loop;
static uv_prepare_t turn;
static struct lobby *lobby;
static struct sockaddr_in address;
static int in_turn, most_per_turn, admitted;
static int late = -1, late_place; /* a client that comes after the first is in */
static bool is_early;             /* it was there before the crowd */

static int client(const char *from)
{
    struct sockaddr_in source = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, from, &source.sin_addr);
    assert_int_equal(bind(fd, (struct sockaddr *)&source, sizeof(source)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(fd, "\x16\x03\x01\0\1x", 6, MSG_NOSIGNAL), 6);
    return fd;
}

static enum lobby_answer admit(void *arg, int fd, const struct sockaddr *from,
                               socklen_t len)
{
    (void)arg;
    (void)len;
    admitted++;
    if (++in_turn > most_per_turn)
        most_per_turn = in_turn;
    if (admitted == 1 && !is_early)
        late = client("127.0.0.1");
    else if (((const struct sockaddr_in *)(const void *)from)->sin_addr.s_addr ==
             htonl(INADDR_LOOPBACK))
        late_place = admitted;
    close(fd);
    if (admitted == CROWD + 1)
        uv_stop(&loop);
    return LOBBY_TAKEN;
}

static unsigned none_admitted(void *arg)
{
    (void)arg;
    return 0;
}

static bool reclaim_none(void *arg, uint64_t since_ms)
{
    (void)arg;
    (void)since_ms;
    return false;
}

static void on_turn(uv_prepare_t *handle)
{
    (void)handle;
    in_turn = 0;
}

static int start(void **state)
{
    struct lobby_config config = {.is_tls = true,
                                  .max = 100,
                                  .max_waiting = 100,
                                  .max_per_address = 100,
                                  .max_per_turn = PER_TURN,
                                  .patience_ms = 60000,
                                  .admit = admit,
                                  .admitted = none_admitted,
                                  .reclaim = reclaim_none};
    socklen_t len = sizeof(address);
    struct error err;

    (void)state;
    in_turn = most_per_turn = admitted = late_place = 0;
    is_early = false;
    address = (struct sockaddr_in){.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    config.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(config.listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(config.listener, 100), 0);
    getsockname(config.listener, (struct sockaddr *)&address, &len);
    uv_loop_init(&loop);
    uv_prepare_init(&loop, &turn);
    uv_prepare_start(&turn, on_turn);
    lobby = lobby_create(&loop, &config, &err);
    return lobby ? 0 : -1;
}

static void on_closed(void *arg)
{
    (void)arg;
    uv_close((uv_handle_t *)&turn, NULL);
}

static int stop(void **state)
{
    (void)state;
    lobby_close(lobby, on_closed, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    close(late);
    return uv_loop_close(&loop);
}

EACH_FIXTURE(start, stop);

/* All have said hello before the loop first looks. */
TEST(lets_few_in_per_turn_and_the_newcomer_soon)
{
    int fds[CROWD];

    for (int i = 0; i < CROWD; i++)
        fds[i] = client("127.0.1.1");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(most_per_turn, PER_TURN);
    assert_in_range(late_place, PER_TURN + 1, 3 * PER_TURN);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
}

/* Each of the others is one of several of its address. */
TEST(lets_in_one_of_each_address_first)
{
    int fds[CROWD];
    char from[] = "127.0.1.1";

    is_early = true;
    late = client("127.0.0.1");
    for (int i = 0; i < CROWD; i++) {
        from[8] = (char)('1' + i % 3);
        fds[i] = client(from);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_in_range(late_place, 1, 1 + 3 + PER_TURN);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
}
