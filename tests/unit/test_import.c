/* SPDX-License-Identifier: Apache-2.0 */
/* test_import.c - files of other benchmarks are read row by row, and what they lack is
 * said */
#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "server/import/encoding.h"
#include "server/import/import.h"
#include "tests/unit/test.h"

#define FILE_MAX (64 * 1024)

static const struct import_hints nothing = {.collective = -1};

static size_t read_file(const char *name, char *text)
{
    char path[1024];
    FILE *file;
    size_t len;

    snprintf(path, sizeof(path), "%s/%s", FILES_DIR, name);
    file = fopen(path, "r");
    assert_non_null(file);
    len = fread(text, 1, FILE_MAX - 1, file);
    text[len] = '\0';
    fclose(file);
    return len;
}

/* What the file and the hints make of it; the caller releases it. */
static int read_name(const char *name, const struct import_hints *hints,
                     struct import *import, struct error *err)
{
    char *text = malloc(FILE_MAX);
    int result;

    assert_non_null(text);
    result = import_read(text, read_file(name, text), import, err);
    if (result == 0)
        result = import_settle(import, hints, err);
    free(text);
    return result;
}

/* clang-format off */
static const struct {
    const char *name;
    struct import_hints hints;
    size_t tables, rows, unread;
    int collective, ranks;
    size_t nodes;
    const char *version, *library;
    bool has_ended;
} readable[] = {
    {"nccl-2.10-no-name.txt", {COLLECTIVE_ALL_REDUCE, 0}, 1, 4, 0, COLLECTIVE_ALL_REDUCE, 2, 1, "", "", true},
    {"nccl-2.18-three-calls.txt", {-1, 0}, 3, 14, 0, COLLECTIVE_ALL_GATHER, 4, 1, "", "", true},
    {"nccl-2.19-mpirun-labels.txt", {-1, 0}, 1, 6, 1, COLLECTIVE_ALL_REDUCE, 4, 2, "2.19.6", "2.28.9", true},
    {"nccl-2.19-per-iter.txt", {-1, 0}, 1, 2, 1, COLLECTIVE_SENDRECV, 2, 1, "2.19.6", "2.18.5", true},
    {"nccl-2.18.json", {-1, 0}, 1, 5, 1, COLLECTIVE_ALL_GATHER, 4, 2, "", "2.28.9", true},
    {"nccl-2.18-broken-off.json", {-1, 0}, 1, 3, 1, COLLECTIVE_ALL_GATHER, 4, 2, "", "2.28.9", false},
    {"osu-7.4-allgather-full.txt", {-1, 4}, 1, 3, 0, COLLECTIVE_ALL_GATHER, 4, 0, "7.4", "", true},
    {"osu-5.9-plain.txt", {-1, 4}, 2, 4, 2, COLLECTIVE_ALL_REDUCE, 4, 0, "5.9", "", true},
};
/* clang-format on */

TEST(files_are_read_row_by_row)
{
    for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++) {
        struct import import;
        struct error err = {.text = ""};

        print_message("%s\n", readable[i].name);
        assert_int_equal(read_name(readable[i].name, &readable[i].hints, &import, &err),
                         0);
        assert_int_equal(import.n_tables, readable[i].tables);
        assert_int_equal(import.n_rows, readable[i].rows);
        assert_int_equal(import.n_unread, readable[i].unread);
        assert_int_equal(json_array_size(import.unread), readable[i].unread);
        assert_int_equal(import.tables[0].collective, readable[i].collective);
        assert_int_equal(import.tables[0].ranks, readable[i].ranks);
        assert_int_equal(import.tables[0].n_nodes, readable[i].nodes);
        assert_string_equal(import.tables[0].version, readable[i].version);
        assert_string_equal(import.tables[0].library, readable[i].library);
        assert_int_equal(import.tables[0].has_ended, readable[i].has_ended);
        import_release(&import);
    }
}

TEST(a_row_has_the_figures_of_its_line)
{
    struct import import;
    struct error err;
    const struct import_row *row;

    assert_int_equal(read_name("nccl-2.19-mpirun-labels.txt", &nothing, &import, &err),
                     0);
    row = &import.tables[0].rows[4];
    assert_int_equal(row->size, 8 << 20);
    assert_int_equal(row->count, 2 << 20);
    assert_int_equal(row->dtype, DTYPE_FLOAT32);
    assert_int_equal(row->redop, REDOP_SUM);
    assert_false(row->in_place);
    assert_true(row[1].in_place);
    assert_int_equal(row->wrong, 3);
    assert_true(fabs(row->time_us - 204.9) < 1e-9);
    /* From size and time, which say more than the two decimals that are printed. */
    assert_true(fabs(row->busbw_gbs - 8388608 / 204.9 * 1e-3 * 1.5) < 1e-6);
    assert_int_equal(import.tables[0].settings[IMPORT_ITERS], 20);
    assert_int_equal(import.tables[0].settings[IMPORT_WARMUP], 5);
    assert_string_equal(import.tables[0].nodes[1].name, "node-b");
    assert_int_equal(import.tables[0].nodes[1].ranks, 2);
    assert_string_equal(import.tables[0].device, "NVIDIA Imaginary 1");
    assert_int_equal(json_get_int(json_array_get(import.unread, 0), "line", 0), 17);
    import_release(&import);
}

TEST(a_difference_is_no_number_of_wrong_elements)
{
    const struct import_hints hints = {.collective = COLLECTIVE_ALL_REDUCE};
    struct import import;
    struct error err;

    assert_int_equal(read_name("nccl-2.10-no-name.txt", &hints, &import, &err), 0);
    for (size_t i = 0; i < import.n_rows; i++)
        assert_int_equal(import.tables[0].rows[i].wrong, -1);
    import_release(&import);
}

TEST(calls_that_are_alike_are_repeats)
{
    struct import import;
    struct error err;

    assert_int_equal(read_name("nccl-2.18-three-calls.txt", &nothing, &import, &err), 0);
    assert_true(import_alike(&import.tables[0], &import.tables[1]));
    assert_false(import_alike(&import.tables[0], &import.tables[2]));
    assert_false(import.tables[2].has_ended);
    assert_int_equal(import.tables[2].rows[2].dtype, DTYPE_FLOAT16);
    import_release(&import);
}

TEST(sizes_of_osu_are_counted_as_here)
{
    const struct import_hints hints = {.collective = -1, .ranks = 4};
    struct import import;
    struct error err;
    const struct import_row *row;

    assert_int_equal(read_name("osu-7.4-allgather-full.txt", &hints, &import, &err), 0);
    row = &import.tables[0].rows[2];
    assert_int_equal(row->size, 4 << 20);
    assert_true(fabs(row->time_min_us - 390.0) < 1e-9);
    assert_int_equal(row->iters, 100);
    assert_true(fabs(row->algbw_gbs - 4194304 / 400.0 * 1e-3) < 1e-9);
    assert_true(fabs(row->busbw_gbs - 4194304 / 400.0 * 1e-3 * 0.75) < 1e-9);
    import_release(&import);
}

TEST(what_is_lacking_or_does_not_fit_is_said)
{
    static const struct {
        const char *name;
        struct import_hints hints;
        const char *says;
    } files[] = {
        {"nccl-2.10-no-name.txt", {-1, 0}, "does not name its collective"},
        {"nccl-2.10-no-name.txt", {-1, 0}, "match all_reduce"},
        {"nccl-2.10-no-name.txt",
         {COLLECTIVE_ALL_GATHER, 0},
         "1.00 times the algorithm bandwidths, but all_gather on 2 ranks requires 0.50"},
        {"osu-5.9-plain.txt", {-1, 0}, "does not contain the number of ranks"},
        {"README.md", {-1, 0}, "the file contains no rows of nccl-tests or the OSU"},
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct import import;
        struct error err = {.text = ""};

        assert_int_equal(read_name(files[i].name, &files[i].hints, &import, &err), -1);
        if (!strstr(err.text, files[i].says))
            fail_msg("%s: %s", files[i].name, err.text);
        import_release(&import);
    }
}

/* A list of ranks with a gap (as long lists are cut) says nothing of their number. */
TEST(cut_lists_of_ranks_are_not_counted)
{
    static const char text[] =
        "# Collective test starting: reduce_perf\n"
        "#  Rank  0 Group  0 Pid 1 on a device 0 [0] X\n"
        "#  Rank 17 Group  0 Pid 2 on b device 0 [0] X\n"
        "  1024  256  float  sum  0  10.0  0.10  0.10  0  10.0  0.10  0.10  0\n";
    struct import import;
    struct error err = {.text = ""};

    assert_int_equal(import_read(text, strlen(text), &import, &err), 0);
    assert_int_equal(import_settle(&import, &nothing, &err), -1);
    assert_non_null(strstr(err.text, "at least 18 ranks"));
    import_release(&import);
}

TEST(benchmarks_that_are_not_had_here_are_passed_over)
{
    static const char text[] = "# OSU MPI Bandwidth Test v7.4\n"
                               "# Datatype: MPI_FLOAT.\n"
                               "# Size      Bandwidth (MB/s)\n"
                               "1024                  10.00\n";
    struct import import;
    struct error err = {.text = ""};

    assert_int_equal(import_read(text, strlen(text), &import, &err), -1);
    assert_int_equal(import.n_unread, 1);
    import_release(&import);
}

TEST(too_many_rows_are_refused)
{
    size_t len = 0, max = 2 << 20;
    char *text = malloc(max);
    struct import import;
    struct error err = {.text = ""};

    assert_non_null(text);
    for (int i = 0; i <= IMPORT_ROWS_MAX / 2; i++)
        len +=
            (size_t)snprintf(text + len, max - len,
                             "%d 1 float sum -1 1.00 0.1 0.1 0 1.00 0.1 0.1 0\n", i + 1);
    assert_int_equal(import_read(text, len, &import, &err), -1);
    assert_string_equal(err.text, "there are more than 10000 rows");
    assert_int_equal(err.code, ERROR_LIMIT);
    import_release(&import);
    free(text);
}

/* ---- in other people's forms ---- */

#define TABLE(p)                                                                         \
    p "# Collective test starting: all_reduce_perf\n" p                                  \
      "#  Rank  0 Group  0 Pid 1 on a device  0 [0000:10:00] X\n" p                      \
      "#  Rank  1 Group  0 Pid 2 on b device  0 [0000:10:00] X\n" p                      \
      "#       size  count  type  redop  root  time  algbw  busbw  #wrong\n" p           \
      "     1048576 262144 float sum -1 46.21 22.69 22.69 0 46.48 22.56 22.56 0\n" p     \
      "     2097152 524288 float sum -1 72.43 28.95 28.95 0 72.95 28.75 28.75 0\n" p     \
      "# Out of bounds values : 0 OK\n" p "# Avg bus bandwidth    : 28.3096 \n"

TEST(a_table_is_found_behind_any_prefix)
{
    static const char *const tables[] = {
        TABLE(""),
        TABLE("   "),
        TABLE("\t"),
        TABLE("0: "),
        TABLE("[1,0]<stdout>:"),
        TABLE("   [1,0]<stdout>:"),
        TABLE("[rank0]: "),
        TABLE("node-a: "),
        TABLE("[pod/bench-0/main] "),
        TABLE("bench-launcher-x7 main "),
        TABLE("2026-03-04T05:06:07.8Z "),
        TABLE("2026-03-04 05:06:07,123 INFO "),
        TABLE("Mar 04 05:06:07 node-a job[12]: "),
        TABLE("[2026-03-04 05:06:07] [0] "),
        TABLE("(RayWorker pid=4, ip=10.0.0.1) "),
        TABLE("> "),
        TABLE("12 | "),
        TABLE("\033[36mnode-a\033[0m "),
        TABLE("\033[36m"),
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct import import;
        struct error err = {.text = ""};

        print_message("%.30s\n", tables[i]);
        assert_int_equal(import_read(tables[i], strlen(tables[i]), &import, &err), 0);
        assert_int_equal(import_settle(&import, &nothing, &err), 0);
        assert_int_equal(import.n_rows, 4);
        assert_int_equal(import.n_unread, 0);
        assert_int_equal(import.tables[0].ranks, 2);
        assert_int_equal(import.tables[0].n_nodes, 2);
        assert_true(import.tables[0].has_ended);
        import_release(&import);
    }
}

TEST(what_looks_like_a_row_is_counted_with_its_line)
{
    static const struct {
        const char *text;
        size_t unread;
        long line;
        const char *why;
    } cases[] = {
        {"x\n 8 2 float4 sum -1 1.0 2.0 3.0 0 1.0 2.0 3.0 0\n", 1, 2, "data type"},
        {"x: 8 2 float sum -1 1.0 nan 3.0 0 1.0 2.0 3.0 0\n", 1, 1, "not a number"},
        {"x: 8 2 float sum -1node-a:1:2 [0] NCCL INFO y\n", 1, 1, "columns"},
        {"8 2 float sum -1 1.0 2.0\n9 2 float sum -1 1.0 2.0\n", 2, 1, "not a number"},
        {"8 2 float sum -1 1.0 2.0\n\n9 2 float sum -1 1.0 2.0\n", 2, 1,
         "2 lines could not be read (1, 3): "},
        {"5 files were found there, of 10.5 MB in 2.5 s and 3.5\n", 0, 0, "no row"},
        {"Epoch 1 20 of 30 loss 0.5 0.6 0.7\n", 0, 0, "no row"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import import;
        struct error err = {.text = ""};

        assert_int_equal(import_read(cases[i].text, strlen(cases[i].text), &import, &err),
                         -1);
        print_message("%s\n", err.text);
        assert_int_equal(import.n_unread, cases[i].unread);
        assert_int_equal(json_get_int(json_array_get(import.unread, 0), "line", 0),
                         cases[i].line);
        assert_non_null(strstr(err.text, cases[i].why));
        import_release(&import);
    }
}

/* What the text comes to with this number of ranks: 0, or the error's text. */
static const char *settle(const char *text, int ranks, struct import *import)
{
    static struct error err;
    const struct import_hints hints = {.collective = COLLECTIVE_ALL_REDUCE,
                                       .ranks = ranks};

    err.text[0] = '\0';
    if (import_read(text, strlen(text), import, &err) == 0)
        import_settle(import, &hints, &err);
    return err.text;
}

#define RANK(rank, host, device)                                                         \
    "#  Rank " rank " Group 0 Pid 1 on " host " device " device " [0000:1" device        \
    ":00] X\n"
#define ROW(size) size " 2 float sum -1 9.0 0.00 0.00 0 9.0 0.00 0.00 0\n"
#define END "# Out of bounds values : 0 OK\n"

TEST(several_worlds_are_not_one)
{
    static const char *const at_once[] = {
        /* in turns, one after the other's head, of one rank each */
        RANK("0", "a", "0") RANK("0", "b", "0") RANK("1", "a", "1") RANK("1", "b", "1")
            ROW("8") ROW("8") ROW("16") ROW("16") END END,
        RANK("0", "a", "0") RANK("1", "a", "1") RANK("0", "b", "0") RANK("1", "b", "1")
            ROW("8") ROW("16") ROW("8") ROW("16") END END,
        RANK("0", "a", "0") RANK("0", "a", "0") ROW("8") ROW("8"),
    };
    struct import import;

    for (size_t i = 0; i < sizeof(at_once) / sizeof(at_once[0]); i++)
        for (int ranks = 0; ranks <= 4; ranks += 2) {
            assert_non_null(strstr(settle(at_once[i], ranks, &import), "2 worlds of "));
            import_release(&import);
        }
    /* One after the other, and what the user has in mind is one of both. */
    assert_non_null(strstr(settle("# nThread 1\n" RANK("0", "a", "0") RANK("1", "a", "1")
                                      ROW("8") END "# nThread 1\n" RANK("0", "b", "0")
                                          RANK("1", "b", "1") ROW("8") END,
                                  4, &import),
                           "2 worlds of 2 ranks, one after another"));
    import_release(&import);
    /* A call that broke off before its first row, and was made again. */
    assert_string_equal(settle(RANK("0", "a", "0") RANK("1", "b", "0") RANK("0", "a", "0")
                                   RANK("1", "c", "0") ROW("8") END,
                               0, &import),
                        "");
    assert_int_equal(import.tables[0].ranks, 2);
    assert_string_equal(import.tables[0].nodes[1].name, "c");
    import_release(&import);
}

TEST(the_number_of_ranks_that_is_given_counts)
{
    static const struct {
        const char *list;
        int given, ranks;
        size_t nodes;
        const char *error;
    } cases[] = {
        {RANK("1", "a", "1") RANK("2", "b", "0") RANK("3", "b", "1"), 4, 4, 2, ""},
        {RANK("1", "a", "1") RANK("2", "b", "0") RANK("3", "b", "1"), 0, 0, 2,
         "at least 4 ranks"},
        {RANK("15", "b", "7"), 16, 16, 1, ""},
        {RANK("15", "b", "7"), 8, 0, 1, "lists 16 ranks, but ?ranks= is 8"},
        {RANK("0", "a", "0") RANK("1", "a", "1"), 8, 8, 1, ""},
        {RANK("0", "a", "0") RANK("1", "a", "1"), 0, 2, 1, ""},
        {"", 8, 8, 0, ""},
        {"", 0, 0, 0, "number of ranks"},
        /* two hosts of one name: the second begins with the same device */
        {RANK("0", "gpu", "0") RANK("1", "gpu", "1") RANK("2", "gpu", "0")
             RANK("3", "gpu", "1"),
         0, 4, 2, ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import import;
        char text[1000];
        const char *got;

        snprintf(text, sizeof(text), "%s%s%s", cases[i].list, ROW("8"), END);
        got = settle(text, cases[i].given, &import);
        print_message("%zu: %s\n", i, got);
        assert_int_equal(*got != '\0', *cases[i].error != '\0');
        assert_non_null(strstr(got, cases[i].error));
        assert_int_equal(import.tables[0].n_nodes, cases[i].nodes);
        if (!*got)
            assert_int_equal(import.tables[0].ranks, cases[i].ranks);
        import_release(&import);
    }
}

TEST(a_benchmark_s_own_verdict_counts)
{
    struct import import;

    settle(RANK("0", "a", "0") ROW("8") END "# Avg bus bandwidth    : 1.5 FAILED\n", 0,
           &import);
    assert_true(import.tables[0].is_below);
    import_release(&import);
    settle("# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_FLOAT.\n"
           "# Size  Avg Latency(us)  Validation\n4 9.1 Pass\n8 9.3 Fail\n16 9.5 Fail\n",
           4, &import);
    assert_int_equal(import.n_rows, 3);
    assert_int_equal(import.tables[0].wrong_at, 8);
    import_release(&import);
    settle(RANK("0", "a", "0") ROW(
               "8") "[1,0]<stderr>:node-b: Test NCCL failure common.cu:1119 'unhandled "
                    "system "
                    "error'\nnode-c: Test NCCL failure common.cu:1119 'remote error'\n",
           0, &import);
    assert_string_equal(
        import.tables[0].failure,
        "node-b: Test NCCL failure common.cu:1119 'unhandled system error'");
    import_release(&import);
    assert_non_null(strstr(settle("# nThread 1 nGpus 2\nnode1: Test CUDA failure "
                                  "common.cu:963 'invalid device ordinal'\n",
                                  0, &import),
                           "node1: Test CUDA failure"));
    import_release(&import);
}

TEST(headings_tell_settings_apart_and_not_repeats)
{
    static const struct {
        const char *first, *second;
        bool is_alike;
    } cases[] = {
        {"=== NCCL_ALGO=Ring ===", "=== NCCL_ALGO=Tree ===", false},
        {"export NCCL_ALGO=Ring", "export NCCL_ALGO=Tree", false},
        {"+ mpirun -x NCCL_PROTO=LL x", "+ mpirun -x NCCL_PROTO=Simple x", false},
        {"--- with SHARP ---", "--- without SHARP ---", false},
        {"NCCL_NTHREADS=256", "NCCL_NTHREADS=512", false},
        {"The ring:", "The tree:", false},
        {"=== run 1 ===", "=== run 2 ===", true},
        {"== Iteration 1 of 5", "== Iteration 2 of 5", true},
        {"SLURM_JOB_ID=1", "SLURM_JOB_ID=2", true},
        {"--- Mon Nov 25 10:00:00 UTC 2026 ---", "--- Tue Nov 26 10:01:00 UTC 2026 ---",
         true},
        {"=== Test 1/3 ===", "=== Test 2/3 ===", true},
        {"=== all_reduce_perf (1/5) ===", "=== all_reduce_perf (2/5) ===", true},
        {"run1:", "run2:", true},
        {"--- run-1 ---", "--- run_2 ---", true},
        {"+ ITER=1", "+ ITER=2", true},
        {"== i=1 ==", "== i=2 ==", true},
        {"NCCL_DEBUG_FILE=/tmp/run1.log x", "NCCL_DEBUG_FILE=/tmp/run2.log x", true},
        {"=== job 4711 ===", "=== job 4712 ===", true},
        {"=== 1 of 2 ===", "=== 2 of 2 ===", true},
        {"=== 1st run ===", "=== 2nd run ===", true},
        {"--- run 1, Ring ---", "--- run 2, Tree ---", false},
        {"--- no SHARP ---", "--- SHARP ---", false},
        {"--- 10:00:00 4 channels ---", "--- 10:01:00 8 channels ---", false},
        {"=== 2 NICs ===", "=== 4 NICs ===", false},
        {"NCCL_IB_HCA=mlx5_0", "NCCL_IB_HCA=mlx5_1", false},
        {"--- 2026-11-25T10:00:00Z ---", "--- 2026-11-26T10:01:00Z ---", true},
        {"--- Wed 25 Nov 10:00:00 CET 2026 ---", "--- Thu 26 Nov 10:01:00 CET 2026 ---",
         true},
        {"real 0m1.2s\nuser 0m0.1s\nsys 0m0.1s", "real 0m1.3s\nuser 0m0.1s\nsys 0m0.2s",
         true},
        {"Algorithm: Ring", "Algorithm: Tree", false},
        {"### 1", "### 2", true},
        {"Loaded modules:", "", true},
        {"", "Algorithm: Ring", true}, /* it may be any output */
        {"```", "~~~~", true},
        {"[n:1] 3 more processes have sent help", "[n:2] 4 more processes have sent help",
         true},
        {"Warning: node-1 is not in the list of hosts",
         "Warning: node-2 is not in it, too", true},
        {"", "", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import import;
        char text[2000];
        struct error err = {.text = ""};

        snprintf(text, sizeof(text), "%s\n%s%s\n%s", cases[i].first, TABLE(""),
                 cases[i].second, TABLE(""));
        assert_int_equal(import_read(text, strlen(text), &import, &err), 0);
        assert_int_equal(import_settle(&import, &nothing, &err), 0);
        print_message("%s, %s\n", import.tables[0].heading, import.tables[1].heading);
        assert_int_equal(import.n_tables, 2);
        assert_int_equal(import_alike(&import.tables[0], &import.tables[1]),
                         cases[i].is_alike);
        import_release(&import);
    }
}

TEST(rccl_s_tests_are_read)
{
    static const char text[] =
        "# rccl-tests version 2.17.9-x:f2 rccl-headers=22803 rccl-library=22803\n" RANK(
            "0", "a", "0") "1024 1024 fp8_e4m3 sum -1 9.0 0.11 0.11 0 9.0 0.11 0.11 0\n"
                           "1024 1024 fp8_e5m2 sum -1 9.0 0.11 0.11 0 9.0 0.11 0.11 "
                           "0\n" END;
    struct import import;

    assert_string_equal(settle(text, 0, &import), "");
    assert_int_equal(import.n_rows, 4);
    assert_int_equal(import.tables[0].rows[0].dtype, DTYPE_FLOAT8E4M3);
    assert_int_equal(import.tables[0].rows[2].dtype, DTYPE_FLOAT8E5M2);
    assert_string_equal(import_source(&import.tables[0]), "rccl-tests");
    assert_string_equal(import.tables[0].library, "2.28.3");
    import_release(&import);
}

TEST(files_are_utf_8_in_the_end)
{
    static const struct {
        const char *text;
        size_t len;
        const char *wanted;
    } cases[] = {
        {"abcd", 4, "abcd"},
        {"\xef\xbb\xbf"
         "ab",
         5, "ab"},
        {"\xff\xfe"
         "a\0\xe9\0\x3d\xd8\x00\xde",
         10, "a\xc3\xa9\xf0\x9f\x98\x80"},
        {"\xfe\xff\0a\x20\xac", 6, "a\xe2\x82\xac"},
        {"a\0b\0c\0d\0", 8, "abcd"},
        {"\0a\0b\0c\0d", 8, "abcd"},
        {"\xff\xfe\x00\xd8x\0", 6, "\xef\xbf\xbdx"}, /* half a character */
        {"\xff\xfe\x61", 3, ""},
        {"{\"log\":\"a\\u0001b\\n\",\"stream\":\"x\"}\nc\n{\"MESSAGE\":\"d\"}\n", 52,
         "a\001b\nc\nd\n"},
        {"{\"log\":1}\nc\n", 12, "{\"log\":1}\nc\n"},
        {"", 0, ""},
    };
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = malloc(cases[i].len + 1);
        size_t len = cases[i].len;

        memcpy(text, cases[i].text, len);
        assert_int_equal(import_decode(&text, &len, &err), 0);
        assert_int_equal(len, strlen(cases[i].wanted));
        assert_memory_equal(text, cases[i].wanted, len);
        free(text);
    }
    size_t len = 4;
    char *text = malloc(len + 1);
    memcpy(text, "\xff\xfe\0\0", len + 1);
    assert_int_equal(import_decode(&text, &len, &err), -1);
    assert_non_null(strstr(err.text, "UTF-32"));
    free(text);
}
