/* test_columns.c - lists as aligned columns */
#include "server/render/columns.h"
#include "tests/unit/test.h"

static const struct column columns[] = {
    {"NAME", "name", NULL, COLUMN_TEXT},  {"N", "n", NULL, COLUMN_NUMBER},
    {"DEEP", "a.b", NULL, COLUMN_NUMBER}, {"WHAT", "one", "other", COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

/* The list's text has ' for ". */
static void becomes(const char *list, size_t max, const char *want)
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
    assert_int_equal(columns_append(columns, items, &layout, &out), want ? 0 : -1);
    if (want)
        assert_string_equal(out.data, want);
    buf_release(&out);
    json_decref(items);
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
    assert_int_equal(columns_append(columns, first, &layout, &out), 0);
    assert_int_equal(columns_append(columns, second, &layout, &out), 0);
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
