/* test_import.c - files of other benchmarks are read row by row, and what they lack is
 * said */
#include "common/base/json_util.h"
#include "common/spec/collective.h"
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
    assert_int_equal(import.tables[0].iters, 20);
    assert_int_equal(import.tables[0].warmup, 5);
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
        {"nccl-2.10-no-name.txt", {-1, 0}, "does not say which collective"},
        {"nccl-2.10-no-name.txt", {-1, 0}, "would suit all_reduce"},
        {"nccl-2.10-no-name.txt",
         {COLLECTIVE_ALL_GATHER, 0},
         "1.00 times the algorithm bandwidths, but of all_gather on 2 ranks they would "
         "be "
         "0.50"},
        {"osu-5.9-plain.txt", {-1, 0}, "does not say how many ranks"},
        {"README.md", {-1, 0}, "there is no row of nccl-tests or of OSU's"},
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
    assert_non_null(strstr(err.text, "how many ranks"));
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
