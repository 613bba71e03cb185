/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_util.c - short forms for JSON */
#include <sys/stat.h>

#include "common/base/json_util.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

TEST(members_of_another_type_give_the_fallback)
{
    json_t *object = json_of("{\"s\":\"x\",\"i\":7,\"n\":1.5,\"b\":true,\"z\":null}");

    assert_non_null(object);
    assert_string_equal(json_get_str(object, "s", "f"), "x");
    assert_string_equal(json_get_str(object, "i", "f"), "f");
    assert_string_equal(json_get_str(object, "none", "f"), "f");
    assert_null(json_get_str(object, "z", NULL));
    assert_int_equal(json_get_int(object, "i", 1), 7);
    assert_int_equal(json_get_int(object, "n", 1), 1);
    assert_int_equal(json_get_int(NULL, "n", 1), 1);
    assert_true(json_get_num(object, "n", 0.0) == 1.5);
    assert_true(json_get_num(object, "i", 0.0) == 7.0);
    assert_true(json_get_num(object, "s", 2.5) == 2.5);
    assert_true(json_get_bool(object, "b", false));
    assert_true(json_get_bool(object, "i", true));
    assert_false(json_get_bool(object, "none", false));
    json_decref(object);
}

TEST(an_object_is_found_by_what_a_member_says)
{
    json_t *array = json_of("[7,{\"a\":\"x\"},{\"a\":\"y\",\"n\":1},{\"a\":\"y\"}]");

    assert_int_equal(json_get_int(json_find(array, "a", "y"), "n", 0), 1);
    assert_null(json_find(array, "a", "z"));
    assert_null(json_find(array, "b", "y"));
    assert_null(json_find(NULL, "a", "x"));
    json_decref(array);
}

TEST(what_is_not_json_is_refused_with_its_place)
{
    static const char *const texts[] = {
        "",
        "{",
        "{]",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{} x",
        "\"text\"",
        "7",
        "nul",
        "{\"a\":01}",
        "{'a':1}",
        "{\"a\":1}{}",
        "[1e999]",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":\"\n\"}",
        "[99999999999999999999]",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error err = {0};

        if (json_parse(texts[i], strlen(texts[i]), &err))
            fail_msg("accepted: %s", texts[i]);
        assert_int_equal(err.code, ERROR_INVALID);
        assert_non_null(strstr(err.text, "not valid JSON: "));
        assert_non_null(strstr(err.text, " at line "));
    }
}

TEST(deep_nesting_is_refused)
{
    char *text = malloc(200001);
    struct error err = {0};

    memset(text, '[', 200000);
    text[200000] = '\0';
    assert_null(json_parse(text, 200000, &err));
    assert_non_null(strstr(err.text, "depth"));
    free(text);
}

TEST(more_names_or_values_than_a_request_may_have_are_counted)
{
    char *names = malloc(JSON_NAMES_MAX * 6 + 64), *values;
    struct error err = {0};
    size_t n = 0;

    for (size_t i = 0; i < JSON_NAMES_MAX; i++)
        n += (size_t)sprintf(names + n, "%s\"a\":1", i ? "," : "{");
    assert_int_equal(json_check_extent(names, n, &err), 0);
    sprintf(names + n, ",\"b\":1}");
    assert_int_equal(json_check_extent(names, strlen(names), &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_non_null(
        strstr(err.text, "contains 2049 names in its objects; the limit is 2048"));
    free(names);

    values = malloc(JSON_VALUES_MAX + 8);
    memset(values, ',', JSON_VALUES_MAX + 8);
    assert_int_equal(json_check_extent(values, JSON_VALUES_MAX - 1, &err), 0);
    assert_int_equal(json_check_extent(values, JSON_VALUES_MAX, &err), -1);
    assert_non_null(strstr(err.text, "contains 32769 values; the limit is 32768"));
    /* Within a string they mean nothing, also after a quote of its own. */
    memcpy(values, "[\"\\\"", 4);
    assert_int_equal(json_check_extent(values, JSON_VALUES_MAX + 8, &err), 0);
    free(values);
}

TEST(text_is_compact)
{
    json_t *value = json_of("{ \"a\" : [ 1, 2 ] }");
    char *text = json_text(value);

    assert_string_equal(text, "{\"a\":[1,2]}");
    free(text);
    json_decref(value);
}

static int enter_folder(void **state)
{
    char folder[] = "/tmp/test_json_util.XXXXXX";

    if (!mkdtemp(folder))
        return -1;
    *state = strdup(folder);
    return chdir(folder);
}

static int leave_folder(void **state)
{
    unlink("file.json");
    if (chdir("/") || rmdir(*state))
        return -1;
    free(*state);
    return 0;
}

TEST_WITH(enter_folder, leave_folder, a_file_comes_back_as_written)
{
    json_t *value = json_of("{\"a\":[1,2,{\"b\":\"\xc3\xbc\"}]}"), *back;
    struct stat info;

    assert_int_equal(json_write_file(value, "file.json", NULL), 0);
    assert_int_equal(json_write_file(value, "file.json", NULL), 0);
    assert_int_equal(stat("file.json", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(access("file.json.new", F_OK), -1);
    back = json_read_file("file.json", 1000, NULL);
    assert_true(json_equal(value, back));
    json_decref(back);
    json_decref(value);
}

TEST_WITH(enter_folder, leave_folder, a_file_that_cannot_be_written_is_said)
{
    json_t *value = json_of("{}");
    struct error err = {0};
    char path[5000];

    assert_int_equal(json_write_file(value, "no/such/file", &err), -1);
    assert_string_equal(err.text,
                        "cannot write no/such/file.new: No such file or directory");
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(json_write_file(value, path, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID);
    json_decref(value);
}

TEST_WITH(enter_folder, leave_folder, a_file_that_cannot_be_read_is_said)
{
    struct error err = {0};
    FILE *file;

    assert_null(json_read_file("missing.json", 100, &err));
    assert_int_equal(err.code, ERROR_IO);
    assert_null(json_read_file(".", 100, &err));
    assert_string_equal(err.text, "cannot read .: Is a directory");
    file = fopen("file.json", "w");
    assert_non_null(file);
    fputs("{\"a\":", file);
    fclose(file);
    assert_null(json_read_file("file.json", 100, &err));
    assert_non_null(strstr(err.text, "file.json: not valid JSON"));
    assert_null(json_read_file("file.json", 4, &err));
    assert_string_equal(err.text, "file.json is larger than 4 bytes");
    assert_int_equal(truncate("file.json", 0), 0);
    assert_null(json_read_file("file.json", 4, &err));
}
