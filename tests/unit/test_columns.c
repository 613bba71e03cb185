/* SPDX-License-Identifier: Apache-2.0 */
/* test_columns.c - lists as tables */
#include "server/render/columns.h"
#include "tests/unit/test.h"

static const struct column columns[] = {
    COLUMN("NAME", "name"),
    COLUMN("N", "n", .form = COLUMN_NUMBER),
    COLUMN(NULL, "c.1", .name = "second"),
    COLUMN("DEEP", "a.b", .form = COLUMN_NUMBER),
    COLUMN("WHAT", "one", .otherwise = "other", .name = ""),
    COLUMNS_END,
};

/* The list's text has ' for ". */
static void becomes_in(enum form form, const char *list, size_t max, const char *want)
{
    struct columns_layout layout = {0};
    char json[2048];
    json_t *items;
    struct buf out;

    assert_true(strlen(list) < sizeof(json));
    strcpy(json, list);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    items = json_loads(json, 0, NULL);
    assert_non_null(items);
    buf_init(&out, max);
    columns_write(columns, items, form, &layout, &out);
    assert_int_equal(out.is_cut, !want);
    if (want)
        assert_string_equal(out.data, want);
    buf_release(&out);
    json_decref(items);
}

static void becomes(const char *list, size_t max, const char *want)
{
    becomes_in(FORM_TEXT, list, max, want);
}

TEST(aligns_what_there_is)
{
    becomes("[]", 1000, "NAME  N  DEEP  WHAT\n");
    becomes("[{'name':'node-1','n':5,'a':{'b':1234.56},'one':'x'},"
            "{'name':'K\xc3\xb6ln','n':12345,'a':null,'one':[],'other':['p','q']},"
            "{'name':'','n':null,'one':{'zone':'a','rack':'r1','p':{'type':'x'}}},"
            "{'name':true,'other':[{'name':'m'},{'x':1},3]}]",
            1000,
            "NAME        N  DEEP  WHAT\n"
            "node-1      5  1235  x\n"
            "K\xc3\xb6ln    12345     -  p,q\n"
            "-           -     -  zone=a,rack=r1,p\n"
            "yes         -     -  m,?,3\n");
}

TEST(keeps_an_item_in_its_line)
{
    becomes("[{'name':'a\\nb\\u001b[31m','n':1,'one':{'k\\n':'\\u202e'}}]", 1000,
            "NAME            N  DEEP  WHAT\n"
            "a\\nb\\u001b[31m  1     -  k\\n=\\u202e\n");
}

TEST(goes_on_in_parts)
{
    struct columns_layout layout = {0};
    json_t *first = json_pack("[{s:s, s:i}]", "name", "longest", "n", 1);
    json_t *second = json_pack("[{s:s, s:i}]", "name", "x", "n", 22);
    struct buf out;

    buf_init(&out, 1000);
    columns_write(columns, first, FORM_TEXT, &layout, &out);
    assert_false(out.is_cut);
    columns_write(columns, second, FORM_TEXT, &layout, &out);
    assert_false(out.is_cut);
    assert_string_equal(out.data, "NAME     N  DEEP  WHAT\n"
                                  "longest  1     -  -\n"
                                  "x        22     -  -\n");
    buf_release(&out);
    json_decref(first);
    json_decref(second);
}

TEST(fails_when_the_buffer_is_full)
{
    becomes("[{'name':'x'}]", 25, NULL);
}

static const char two_rows[] = "[{'name':'a|b','n':-5,'a':{'b':0.1},'c':[1,2.5],"
                               "'one':'x'},{'name':'=1,2','c':[true,[3,{'name':'m'}]]}]";

TEST(csv_has_whole_values_under_their_paths)
{
    becomes_in(FORM_CSV, two_rows, 1000,
               "name,n,second,a.b\r\n"
               "a|b,-5,2.5,0.1\r\n"
               "\"'=1,2\",,3;m,\r\n");
    becomes_in(FORM_CSV, "[{'name':[-0.5,2]},{'name':['-x','y,z']}]", 1000,
               "name,n,second,a.b\r\n"
               "-0.5;2,,,\r\n"
               "\"'-x;y,z\",,,\r\n");
}

TEST(markdown_escapes_its_marks)
{
    becomes_in(FORM_MARKDOWN, two_rows, 1000,
               "| NAME | N | DEEP | WHAT |\n"
               "|---|---:|---:|---|\n"
               "| a\\|b | -5 | 0.1 | x |\n"
               "| =1,2 | - | - | - |\n");
}

TEST(ndjson_has_the_items_as_they_are)
{
    becomes_in(FORM_NDJSON, "[{'n':1,'x':[]},{}]", 1000, "{\"n\":1,\"x\":[]}\n{}\n");
}

/* In the headings, behind them and in each line. */
TEST(no_form_hides_that_the_room_ended)
{
    static const enum form forms[] = {FORM_TEXT, FORM_CSV, FORM_NDJSON, FORM_MARKDOWN};
    static const struct column two[] = {COLUMN("A", "a"), COLUMN("B", "b"), COLUMNS_END};
    json_t *items = json_pack("[{s:s, s:i}]", "a", "x_y, z", "b", 1024);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct columns_layout layout = {0};
        struct buf out;
        size_t whole;

        buf_init(&out, 1000);
        columns_write(two, items, forms[i], &layout, &out);
        assert_false(out.is_cut);
        whole = out.len;
        buf_release(&out);
        for (size_t room = 1; room < whole; room++) {
            layout = (struct columns_layout){0};
            buf_init(&out, room);
            columns_write(two, items, forms[i], &layout, &out);
            assert_true(out.is_cut);
            buf_release(&out);
        }
    }
    json_decref(items);
}
