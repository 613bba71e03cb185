/* SPDX-License-Identifier: Apache-2.0 */
/* test_leftovers.c - the cases that a killed agent leaves, and who it was */
#include <sys/stat.h>

#include "agent/link/identity.h"
#include "agent/process/leftovers.h"
#include "tests/unit/test.h"

struct fixture {
    char dir[64];
    char found[512]; /* "run case attempt;" of each */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->dir, sizeof(f->dir), "/tmp/test-leftovers-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static void put_file(const struct fixture *f, const char *name, const char *text)
{
    char path[400];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", f->dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void on_case(void *arg, const struct case_id *id)
{
    struct fixture *f = arg;
    size_t len = strlen(f->found);

    snprintf(f->found + len, sizeof(f->found) - len, "%s %d %d;", id->run,
             (int)id->number, (int)id->attempt);
}

TEST(finds_cases_of_events_and_files)
{
    struct fixture *f = *state;
    struct spool *spool;

    static const char *const lines[] = {
        "{\"seq\":1,\"run\":\"r1\",\"case\":0,\"attempt\":2,\"rank\":1}",
        "{\"seq\":2,\"run\":\"\",\"case\":0,\"attempt\":0}", "{\"seq\":3,\"other\":1}"};

    put_file(f, "case-a-b.c-12-3.json", "{}");
    spool = spool_open(f->dir, NULL);
    assert_non_null(spool);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(spool_append(spool, lines[i], strlen(lines[i]), NULL), 0);
    assert_int_equal(spool_flush(spool, NULL), 0);
    leftovers_each(spool, on_case, f);
    assert_string_equal(f->found, "r1 0 2;a-b.c 12 3;");
    f->found[0] = '\0';
    spool_reset(spool);
    leftovers_each(spool, on_case, f);
    assert_string_equal(f->found, ""); /* the file was removed */
    spool_close(spool);
}

TEST(odd_names_are_no_cases)
{
    static const char *const names[] = {"case-", "case-r", "case-r-1", "case--1-1.json",
                                        "case-r-x-y.json"};
    struct fixture *f = *state;
    char text[128];
    struct spool *spool;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put_file(f, names[i], "");
    snprintf(text, sizeof(text), "case-%.*s-0-1.json", 70,
             "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr");
    put_file(f, text, "");
    spool = spool_open(f->dir, NULL);
    assert_non_null(spool);
    leftovers_each(spool, on_case, f);
    assert_string_equal(f->found, "");
    spool_close(spool);
}

TEST(an_identity_is_kept_until_it_is_removed)
{
    struct fixture *f = *state;
    struct identity first, second, third;
    struct stat st;

    assert_int_equal(identity_load(&first, f->dir, NULL), 0);
    assert_false(first.is_resumed);
    assert_int_equal(stat(first.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(identity_load(&second, f->dir, NULL), 0);
    assert_true(second.is_resumed);
    assert_string_equal(second.key, first.key);
    assert_string_equal(second.boot_id, first.boot_id);
    assert_int_equal(identity_renew(&second, NULL), 0);
    assert_int_equal(identity_load(&third, f->dir, NULL), 0);
    assert_string_equal(third.key, first.key);
    assert_string_equal(third.boot_id, second.boot_id);
    assert_string_not_equal(third.boot_id, first.boot_id);
    identity_remove(&third);
}

TEST(an_identity_that_is_no_good_is_made_anew)
{
    static const char *const files[] = {"", "{", "[]", "{\"boot_id\":7,\"key\":7}",
                                        "{\"boot_id\":\"x\",\"key\":\"y\"}"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct identity identity;

        put_file(f, "identity", files[i]);
        assert_int_equal(identity_load(&identity, f->dir, NULL), 0);
        assert_false(identity.is_resumed);
        assert_int_equal(strlen(identity.key), IDENTITY_KEY_LENGTH);
        identity_remove(&identity);
    }
}
