/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv.c - result rows as CSV */
#include "common/base/json_util.h"
#include "server/render/csv.h"
#include "tests/unit/test.h"

TEST(quotes_only_what_needs_it)
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
        /* a spreadsheet would take these for formulas */
        {"=1+1", "'=1+1"},
        {"@SUM(A1,A2)", "\"'@SUM(A1,A2)\""},
        {"+cmd|'/c x'!A0", "'+cmd|'/c x'!A0"},
        {"-cmd", "'-cmd"},
        {"\t=1", "'\t=1"},
        {"\r=1", "\"'\r=1\""},
        {"=\"x\"", "\"'=\"\"x\"\"\""},
        /* and these for what they are */
        {"-1", "-1"},
        {"+5", "+5"},
        {"-1.5e-3", "-1.5e-3"},
        {"-1;2", "'-1;2"},
        {"-", "'-"},
        {"a=1", "a=1"},
    };
    struct buf out;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_init(&out, 4096);
        csv_field(cases[i].text, &out);
        assert_string_equal(out.data ? out.data : "", cases[i].want);
        buf_release(&out);
    }
}

/* The columns of a run; its text has ' for ". */
static void columns_of(const char *text, struct csv *columns)
{
    char json[1024];
    json_t *run;

    assert_true(strlen(text) < sizeof(json));
    strcpy(json, text);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    run = json_parse(json, strlen(json), NULL);
    assert_non_null(run);
    csv_init(columns, run);
    json_decref(run);
}

/* The end of the field that begins at `at`: a comma or line break outside of quotes. */
static const char *field_end(const char *at)
{
    bool is_quoted = false;

    while (*at && (is_quoted || (*at != ',' && *at != '\r'))) {
        is_quoted ^= *at == '"';
        at++;
    }
    return at;
}

/* Which columns of a run's line have anything, as "COLUMN=FIELD|...", and that there is a
 * column for each field. */
static void row_becomes(const char *run, const char *json, const char *want)
{
    json_t *row = json_parse(json, strlen(json), NULL);
    struct csv columns;
    struct buf head, line, got;

    assert_non_null(row);
    columns_of(run, &columns);
    buf_init(&head, 4096);
    buf_init(&line, 4096);
    buf_init(&got, 4096);
    csv_header(&columns, &head);
    csv_row(&columns, row, &line);
    for (const char *name = head.data, *field = line.data; *name != '\n';) {
        const char *name_end = field_end(name), *end = field_end(field);

        assert_int_equal(*name_end, *end);
        if (end > field)
            buf_printf(&got, "%s%.*s=%.*s", got.len ? "|" : "", (int)(name_end - name),
                       name, (int)(end - field), field);
        name = name_end + 1;
        field = end + 1;
    }
    assert_string_equal(got.data, want);
    buf_release(&head);
    buf_release(&line);
    buf_release(&got);
    csv_release(&columns);
    json_decref(row);
}

TEST(writes_every_column_of_a_row)
{
    row_becomes(
        "{}",
        "{\"case\":0,\"attempt\":1,\"row\":3,\"series\":1,\"collective\":"
        "\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\",\"root\":-1,"
        "\"in_place\":true,\"size\":8,\"count\":2,\"iters\":20,\"time_us\":0.1,"
        "\"time_min_us\":1e-7,\"time_max_us\":9.1,\"algbw_gbs\":3,\"busbw_gbs\":"
        "0.30000000000000004,\"first_us\":1234567.25,\"times_us\":[1.5,2,0.1],"
        "\"samples_us\":[],\"wrong\":null,\"errors\":[{\"rank\":1}],\"cycle\":2,"
        "\"nccl\":{\"algo\":\"TREE\",\"channels\":4},"
        "\"enqueue_us\":4.5,\"ranks_per_gpu\":8,\"blocks\":9,\"time_low_us\":1,"
        "\"noisy\":true}",
        "case=0|attempt=1|row=3|series=1|collective=all_reduce|dtype=float32|"
        "redop=sum|root=-1|in_place=true|size=8|count=2|iters=20|time_us=0.1|"
        "time_min_us=1e-07|time_max_us=9.1|algbw_gbs=3|"
        "busbw_gbs=0.30000000000000004|first_us=1234567.25|times_us=1.5;2;0.1|"
        "nccl=algo=TREE;channels=4|"
        "enqueue_us=4.5|cycle=2|ranks_per_gpu=8|blocks=9|time_low_us=1|noisy=true");
}

TEST(leaves_the_figures_of_a_skipped_row_empty)
{
    row_becomes("{}", "{\"case\":0,\"size\":0,\"skipped\":\"needs 9 GiB, has 8 GiB\"}",
                "case=0|size=0|skipped=\"needs 9 GiB, has 8 GiB\"");
}

TEST(says_which_figures_are_not_measured)
{
    row_becomes("{}", "{\"case\":0,\"size\":8,\"simulated\":true}",
                "case=0|size=8|simulated=true");
    row_becomes("{}", "{\"case\":0,\"size\":8,\"emulated\":true}",
                "case=0|size=8|emulated=true");
}

TEST(heads_as_many_columns_as_a_row_has)
{
    static const char *const runs[] = {
        "{}",
        "{'spec':{'program':{'name':'p'}}}",
        "{'spec':{'collectives':['reduce'],'matrix':{'A':['1']}}}",
    };
    json_t *row = json_object();

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        size_t heads = 0, fields = 0;
        struct csv columns;
        struct buf out;

        columns_of(runs[i], &columns);
        buf_init(&out, 4096);
        csv_header(&columns, &out);
        assert_memory_equal(out.data, "case,attempt,", 13);
        for (const char *p = out.data; *p; p++)
            heads += *p == ',';
        buf_clear(&out);
        csv_row(&columns, row, &out);
        for (const char *p = out.data; *p; p++)
            fields += *p == ',';
        assert_int_equal(heads, fields);
        buf_release(&out);
        csv_release(&columns);
    }
    json_decref(row);
}

TEST(has_a_column_for_each_variable_of_the_matrix)
{
    static const char run[] =
        "{'spec':{'program':{'name':'p'},'matrix':{'NCCL_ALGO':['Ring,Tree',null,''],"
        "'OMP_NUM_THREADS':['1']}},"
        "'cases':[{'case':0,'repeat':0,'env':{'NCCL_ALGO':'Ring,Tree',"
        "'OMP_NUM_THREADS':'1'}},"
        "{'case':1,'repeat':0,'env':{'NCCL_ALGO':null,'OMP_NUM_THREADS':'1'}},"
        "{'case':2,'repeat':7,'env':{'NCCL_ALGO':'','OMP_NUM_THREADS':'1'}}]}";

    row_becomes(run, "{\"case\":0}",
                "case=0|repeat=0|NCCL_ALGO=\"Ring,Tree\"|OMP_NUM_THREADS=1");
    row_becomes(run, "{\"case\":1}", "case=1|repeat=0|OMP_NUM_THREADS=1");
    row_becomes(run, "{\"case\":2}", "case=2|repeat=7|NCCL_ALGO=\"\"|OMP_NUM_THREADS=1");
}

TEST(has_figures_for_a_program)
{
    row_becomes("{'spec':{'program':{'name':'p'}},'cases':[{'case':0,'repeat':0}]}",
                "{\"case\":0,\"attempt\":1,\"rank\":2,\"metric\":\"loss\",\"value\":7,"
                "\"labels\":{\"bytes\":8}}",
                "case=0|attempt=1|metric=loss|value=7|rank=2|labels=bytes=8|repeat=0");
}
