/* test_csv.c - result rows as CSV */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/json_util.h"
#include "server/api/csv.h"

static void quotes_only_what_needs_it(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"plain words; and more", "plain words; and more"},
        {"a,b", "\"a,b\""},
        {"say \"no\"", "\"say \"\"no\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"cr\r", "\"cr\r\""},
    };
    struct buf out;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_init(&out, 4096);
        csv_field(cases[i].text, &out);
        assert_string_equal(out.data ? out.data : "", cases[i].want);
        buf_release(&out);
    }
}

static void row_becomes(const char *json, const char *want)
{
    json_t *row = json_parse(json, strlen(json), NULL);
    struct buf out;

    assert_non_null(row);
    buf_init(&out, 4096);
    csv_row(CSV_MEASUREMENTS, row, &out);
    assert_string_equal(out.data, want);
    buf_release(&out);
    json_decref(row);
}

static void writes_every_column_of_a_row(void **state)
{
    (void)state;
    row_becomes("{\"case\":0,\"attempt\":1,\"row\":3,\"series\":1,\"collective\":"
                "\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\",\"root\":-1,"
                "\"in_place\":true,\"size\":8,\"count\":2,\"iters\":20,\"time_us\":0.1,"
                "\"time_min_us\":1e-7,\"time_max_us\":9.1,\"algbw_gbs\":3,\"busbw_gbs\":"
                "0.30000000000000004,\"first_us\":1234567.25,\"times_us\":[1.5,2,0.1],"
                "\"samples_us\":[],\"wrong\":null,\"errors\":[{\"rank\":1}]}",
                "0,1,3,1,all_reduce,float32,sum,-1,true,8,2,20,0.1,1e-07,9.1,3,"
                "0.30000000000000004,1234567.25,,,1.5;2;0.1,,,\r\n");
}

static void leaves_the_figures_of_a_skipped_row_empty(void **state)
{
    (void)state;
    row_becomes("{\"case\":0,\"size\":0,\"skipped\":\"needs 9 GiB, has 8 GiB\"}",
                "0,,,,,,,,,0,,,,,,,,,,\"needs 9 GiB, has 8 GiB\",,,,\r\n");
}

static void says_which_figures_are_not_measured(void **state)
{
    (void)state;
    row_becomes("{\"case\":0,\"size\":8,\"simulated\":true}",
                "0,,,,,,,,,8,,,,,,,,,,,,,true,\r\n");
    row_becomes("{\"case\":0,\"size\":8,\"emulated\":true}",
                "0,,,,,,,,,8,,,,,,,,,,,,,,true\r\n");
}

static void heads_as_many_columns_as_a_row_has(void **state)
{
    json_t *row = json_object();
    size_t heads = 0, fields = 0;
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    csv_header(CSV_MEASUREMENTS, &out);
    assert_memory_equal(out.data, "case,attempt,row,", 17);
    for (const char *p = out.data; *p; p++)
        heads += *p == ',';
    buf_clear(&out);
    csv_row(CSV_MEASUREMENTS, row, &out);
    for (const char *p = out.data; *p; p++)
        fields += *p == ',';
    assert_int_equal(heads, fields);
    buf_release(&out);
    json_decref(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_only_what_needs_it),
        cmocka_unit_test(writes_every_column_of_a_row),
        cmocka_unit_test(leaves_the_figures_of_a_skipped_row_empty),
        cmocka_unit_test(says_which_figures_are_not_measured),
        cmocka_unit_test(heads_as_many_columns_as_a_row_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
