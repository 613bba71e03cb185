/* SPDX-License-Identifier: Apache-2.0 */
/* many_cases.c - measures the server's work per event in a run of many cases
 *
 * The run has CASES repeats on RANKS ranks (default: 1000 and 64). This program plays
 * the agent. Prints the CPU time of the loop's thread and of the process, and the
 * bytes written to disk. */
#include "tests/unit/scheduler_fixture.h"

#include <sys/resource.h>

struct spent {
    double loop_s, process_s, written_bytes;
};

static double written_bytes(void)
{
    FILE *file = fopen("/proc/self/io", "re");
    char line[128];
    double bytes = 0.0;

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "wchar: ", 7) == 0)
            bytes = strtod(line + 7, NULL);
    if (file)
        fclose(file);
    return bytes;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double cpu_s(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

static struct spent spent_now(void)
{
    return (struct spent){cpu_s(RUSAGE_THREAD), cpu_s(RUSAGE_SELF), written_bytes()};
}

/* Post an event of each rank in one batch. `rest`: JSON members with a leading comma. */
static void say_all(struct agent *agent, const char *run, int case_no, const char *type,
                    const char *rest)
{
    struct acknowledgement answer;
    struct buf lines;

    buf_init(&lines, 1 << 24);
    for (int rank = 0; rank < agent->ranks; rank++)
        buf_printf(&lines,
                   "{\"seq\":%lld,\"time_ms\":5,\"run\":\"%s\",\"case\":%d,"
                   "\"attempt\":1,\"type\":\"%s\",\"rank\":%d%s}\n",
                   (long long)++agent->seq, run, case_no, type, rank, rest);
    answer = agent_post(agent, lines.data);
    assert_int_equal(answer.code, ERROR_NONE);
    buf_release(&lines);
}

static void play_case(struct agent *agent, const char *run, int case_no)
{
    agent_await(agent, "start");
    say_all(agent, run, case_no, "spawn", "");
    say_all(agent, run, case_no, "phase", ",\"phase\":\"joined\"");
    say_all(agent, run, case_no, "phase", ",\"phase\":\"connected\"");
    say_all(agent, run, case_no, "done", ",\"ok\":true");
    say_all(agent, run, case_no, "exit", ",\"code\":0");
    say_all(agent, run, case_no, "gone", "");
}

int main(int argc, char **argv)
{
    int cases = argc > 1 ? atoi(argv[1]) : 1000, ranks = argc > 2 ? atoi(argv[2]) : 64;
    char text[100], run[16];
    struct spent before, after;
    struct world *world;
    struct agent agent;
    void *state;

    setup(&state);
    world = state;
    agent_start_ranks(&agent, world, "a", ranks);
    snprintf(text, sizeof(text), "{\"sizes\":[8],\"repeats\":%d,\"timeout_s\":864000}",
             cases);
    before = spent_now();
    submit(world, text, run);
    for (int i = 0; i < cases; i++)
        play_case(&agent, run, i);
    json_decref(await_end(world, run));
    after = spent_now();
    printf(
        "%d cases of %d ranks: loop %.3f ms, process %.3f ms, %.1f kB written a case\n",
        cases, ranks, (after.loop_s - before.loop_s) * 1e3 / cases,
        (after.process_s - before.process_s) * 1e3 / cases,
        (after.written_bytes - before.written_bytes) / 1e3 / cases);
    release_agent(&agent);
    return teardown(&state);
}
