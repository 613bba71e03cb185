/* test_ras.c - what is taken of NCCL's RAS, and what is left */
#include "agent/ncclog/ras.h"
#include "tests/unit/test.h"

/* This node's, of a case of four ranks. */
static const long pids[] = {100, 101};

static bool is_here(const char *host)
{
    return !strcmp(host, "10.0.0.1");
}

static const struct ras_case about = {4, pids, 2, is_here};

static void check(const char *answer, const char *expected)
{
    json_t *says = ras_read(answer, strlen(answer), &about);
    char *text = says ? json_dumps(says, JSON_COMPACT) : NULL;

    if (!text || strcmp(text, expected) != 0)
        fail_msg("%s is not %s", text ? text : "nothing", expected);
    free(text);
    json_decref(says);
}

#define COMM(size, ranks, missing)                                                       \
    "OK\n{\"nccl_version\":\"2.28.9\",\"communicators\":[{\"size\":" size                \
    ",\"ranks\":[" ranks "],\"missing_ranks\":[" missing "]}]}"
#define RANK_ON(host, rank, pid, count)                                                  \
    "{\"rank\":" rank ",\"host\":\"" host "\",\"pid\":" pid                              \
    ",\"collective_counts\":{\"Reduce\":1,\"AllReduce\":" count "}}"
#define RANK(rank, pid, count) RANK_ON("10.0.0.1", rank, pid, count)
#define OTHER(rank, pid, count) RANK_ON("10.0.0.2", rank, pid, count)

TEST(ranks_that_are_behind_or_out_of_reach_are_listed)
{
    check(COMM("4",
               RANK("0", "100", "7") "," RANK("1", "101", "6") "," OTHER("2", "100", "7"),
               "{\"rank\":3,\"nvml_dev\":1\n   \"status\":{}}"),
          "{\"version\":\"2.28.9\",\"seen\":3,\"missing\":[3],\"behind\":[1],\"least\":7,"
          "\"most\":8}");
}

TEST(where_most_are_behind_or_none_nobody_is_listed)
{
    check(COMM("4",
               RANK("0", "100", "7") "," RANK("1", "101", "6") "," OTHER("2", "102", "6"),
               ""),
          "{\"version\":\"2.28.9\",\"seen\":3,\"missing\":[],\"behind\":[],\"least\":7,"
          "\"most\":8}");
}

/* A list that is cut would have some of many stand out. */
TEST(where_most_are_out_of_reach_nobody_is_listed)
{
    check(COMM("4", RANK("0", "100", "7"),
               RANK("1", "101", "7") ",{\"rank\":2},{\"rank\":3}"),
          "{\"version\":\"2.28.9\",\"seen\":1,\"missing\":[],\"behind\":[],\"least\":8,"
          "\"most\":8}");
}

TEST(what_is_of_others_is_left)
{
    static const char *const answers[] = {
        "",
        "OK\n{",
        COMM("4", RANK("0", "900", "7") "," RANK("1", "901", "7"), ""),
        COMM("4", OTHER("0", "100", "7") "," OTHER("1", "101", "7"), ""),
        COMM("4", RANK("0", "100", "7") "," RANK("1", "901", "7"), ""),
        COMM("2", RANK("0", "100", "7") "," RANK("1", "101", "7"), ""),
        "Errors\n  Process 900 on node 10.0.0.1 managing GPU 0\n",
        "Errors\n  Process 100 on node 10.0.0.2 managing GPU 0\n",
        "Errors\n  Process 100",
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        assert_null(ras_read(answers[i], strlen(answers[i]), &about));
}

TEST(text_of_older_versions_is_kept_from_its_errors_on)
{
    check("Job summary\n\nErrors\nProcess 101 on node 10.0.0.1 managing GPU 0\n",
          "{\"text\":\"Errors\\nProcess 101 on node 10.0.0.1 managing GPU 0\\n\"}");
}
