/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - result rows in nccl-tests' columns */
#include "golden_file.h"

#include "common/base/json_util.h"
#include "server/render/table.h"
#include "tests/unit/test.h"

static void render(const char *input, const char *output, bool is_paired,
                   bool names_cases)
{
    char *text = golden_read(input), *rest = text, *line;
    json_t *spec =
        json_pack("{s:o}", "in_place", is_paired ? json_string("both") : json_false());
    struct table table;
    struct buf out;

    buf_init(&out, 1 << 20);
    table_init(&table, spec, names_cases);
    json_decref(spec);
    while ((line = strsep(&rest, "\n"))) {
        json_t *row = *line ? json_parse(line, strlen(line), NULL) : NULL;

        if (row)
            table_row(&table, row, &out);
        json_decref(row);
    }
    table_end(&table, &out);
    golden_compare(output, out.data);
    table_release(&table);
    buf_release(&out);
    free(text);
}

TEST(prints_pairs_under_a_heading_per_series)
{
    render("api/pairs.ndjson", "api/pairs.txt", true, false);
}

TEST(says_what_was_skipped_and_why)
{
    render("api/skipped.ndjson", "api/skipped.txt", true, false);
}

TEST(starts_a_heading_for_each_case_and_attempt)
{
    render("api/cases.ndjson", "api/cases.txt", false, true);
}

TEST(says_the_cycle_and_what_shares_a_gpu)
{
    render("api/cycles.ndjson", "api/cycles.txt", false, false);
}

TEST(ends_a_line_with_its_group)
{
    render("api/groups.ndjson", "api/groups.txt", true, false);
}

TEST(has_labels_behind_a_figure)
{
    json_t *row = json_pack("{s:s, s:f, s:s, s:{s:s}}", "metric", "loss", "value", 9.5,
                            "unit", "us", "labels", "way", "a\nb");
    struct table table;
    struct buf out;

    buf_init(&out, 1 << 20);
    table_init(&table, NULL, false);
    table_row(&table, row, &out);
    assert_string_equal(
        strchr(out.data + 2, '\n') + 1,
        "loss                                    9.5  us            all  way=a\\nb\n");
    table_release(&table);
    buf_release(&out);
    json_decref(row);
}

TEST(holds_a_row_back_only_for_its_pair)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:i, s:i, s:b, s:f}", "collective", "reduce",
                            "dtype", "int8", "redop", "sum", "root", 0, "size", 16,
                            "in_place", 0, "time_us", 1.0);
    json_t *spec;
    struct table table;
    struct buf out;
    size_t len;

    buf_init(&out, 1 << 20);
    table_init(&table, NULL, false);
    table_row(&table, row, &out);
    assert_int_equal(out.len, 0);
    table_flush(&table, &out);
    len = out.len;
    assert_true(len > 0);
    table_flush(&table, &out);
    assert_int_equal(out.len, len);
    table_release(&table);
    buf_clear(&out);
    spec = json_pack("{s:b}", "in_place", 0);
    table_init(&table, spec, false);
    table_row(&table, row, &out);
    assert_int_equal(out.len, len);
    json_decref(spec);
    table_release(&table);
    buf_release(&out);
    json_decref(row);
}

static json_t *row_of(int case_no, bool is_in_place)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:f}", "case", case_no,
                     "collective", "all_reduce", "dtype", "float32", "redop", "sum",
                     "root", -1, "size", 8, "count", 2, "in_place", (int)is_in_place,
                     "time_us", 10.0 * (case_no + 1) + is_in_place);
}

/* The lines that are no comment. */
static size_t lines_of(const struct buf *out, const char *has)
{
    size_t n = 0;

    for (const char *line = out->len ? out->data : ""; *line;) {
        const char *end = strchr(line, '\n'), *found = strstr(line, has);

        n += *line != '#' && found && found < end;
        line = end + 1;
    }
    return n;
}

/* Cases that go side by side come in turns; their halves are pairs all the same. */
TEST(keeps_the_rows_of_each_case_together)
{
    json_t *spec = json_pack("{s:s}", "pattern", "pairs");
    struct table table;
    struct buf out;

    buf_init(&out, 1 << 20);
    table_init(&table, spec, false);
    for (int i = 0; i < 6; i++) {
        json_t *row = row_of(i % 3, i >= 3);

        table_row(&table, row, &out);
        json_decref(row);
    }
    assert_int_equal(out.len, 0);
    table_end_case(&table, 1, &out);
    assert_int_equal(lines_of(&out, "  20.00"), 1);
    assert_int_equal(lines_of(&out, "  21.00"), 1);
    assert_int_equal(lines_of(&out, "  -  "), 0);
    table_end_case(&table, 1, &out);
    table_end_case(&table, 7, &out);
    assert_int_equal(lines_of(&out, ""), 1);
    table_end(&table, &out);
    assert_int_equal(lines_of(&out, ""), 3);
    assert_int_equal(lines_of(&out, "  -  "), 0);
    /* One heading for all, since who ends a case says which it was. */
    assert_ptr_equal(strstr(out.data, "# all_reduce"), out.data + 2);
    assert_null(strstr(out.data + 4, "# all_reduce"));
    table_release(&table);
    buf_release(&out);
    json_decref(spec);
}

TEST(keeps_no_more_rows_than_it_may)
{
    json_t *spec = json_pack("{s:s}", "pattern", "pairs");
    struct table table;
    struct buf out;

    buf_init(&out, 4 << 20);
    table_init(&table, spec, true);
    for (int i = 0; i < 10000; i++) {
        json_t *row = row_of(i / 2, i % 2);

        table_row(&table, row, &out);
        json_decref(row);
        assert_true(table.n_held < 4096);
    }
    table_end(&table, &out);
    assert_int_equal(table.n_held, 0);
    assert_int_equal(lines_of(&out, ""), 5000);
    table_release(&table);
    buf_release(&out);
    json_decref(spec);
}

TEST(says_nothing_of_a_run_without_rows)
{
    struct table table;
    struct buf out;

    buf_init(&out, 1 << 20);
    table_init(&table, NULL, false);
    table_end(&table, &out);
    assert_int_equal(out.len, 0);
    table_release(&table);
}

TEST(fits_numbers_into_their_column)
{
    static const struct {
        double value;
        int width;
        const char *want;
    } cases[] = {
        {0.0, 7, "   0.00"},      {1234.567, 7, "1234.57"}, {12345.67, 7, "12345.7"},
        {123456.7, 7, " 123457"}, {99999.96, 7, " 100000"}, {12345678.0, 7, "1.2e+07"},
        {999.994, 6, "999.99"},   {1000.0, 6, "1000.0"},    {1234567.0, 6, " 1e+06"},
    };
    char text[16];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(table_number(cases[i].value, cases[i].width, text),
                            cases[i].want);
}
