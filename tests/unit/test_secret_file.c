/* SPDX-License-Identifier: Apache-2.0 */
/* test_secret_file.c - which files with secrets are read */
#include <sys/stat.h>

#include "common/base/secret_file.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static char dir[] = "/tmp/ringbench-secret-XXXXXX";

static void opened(const char *name, const char *reason)
{
    struct error err = {ERROR_NONE, ""};
    FILE *file = secret_file_open("TLS key", name, &err);

    if ((file != NULL) != (reason == NULL) || (reason && !mentions(err.text, reason)))
        fail_msg("%s: '%s'", name, err.text);
    assert_true(file || strstr(err.text, "TLS key"));
    if (file)
        fclose(file);
}

TEST(only_the_owner_writes_and_no_others_read)
{
    static const struct {
        mode_t mode;
        const char *reason;
    } cases[] = {
        {0600, NULL},        {0400, NULL},          {0640, NULL},
        {0440, NULL},        {0644, "(mode 0644)"}, {0604, "chmod 600"},
        {0602, "chmod 600"}, {0660, "chmod 600"},   {0620, "chmod 600"},
        {0601, "chmod 600"},
    };

    fclose(fopen("key", "w"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(chmod("key", cases[i].mode), 0);
        opened("key", cases[i].reason);
    }
}

TEST(what_is_no_secret_may_be_read)
{
    static const struct {
        mode_t mode;
        bool is_fine;
    } cases[] = {{0644, true}, {0600, true}, {0664, false}, {0646, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = {ERROR_NONE, ""};
        FILE *file;

        assert_int_equal(chmod("key", cases[i].mode), 0);
        file = secret_file_open_public("list", "key", &err);
        assert_int_equal(file != NULL, cases[i].is_fine);
        if (file)
            fclose(file);
        else
            assert_non_null(strstr(err.text, "list key can be changed by others (mode "));
    }
}

TEST(follows_links_and_wants_a_file)
{
    assert_int_equal(chmod("key", 0600), 0);
    assert_int_equal(symlink("key", "link"), 0);
    opened("link", NULL);
    assert_int_equal(chmod("key", 0644), 0);
    opened("link", "can be read or changed by others");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    opened("pipe", "is not a regular file");
    opened(".", "regular file");
    opened("none", "cannot open TLS key none: No such file");
}

TEST(belongs_to_root_or_to_who_reads)
{
    if (geteuid() != 0)
        skip(); /* nobody else can give a file away */
    assert_int_equal(chmod("key", 0640), 0);
    assert_int_equal(chown("key", 1, 1), 0);
    opened("key",
           "belongs to user 1, who could change it: chown it to root or to user 0");
    assert_int_equal(chmod(".", 0711), 0);
    assert_int_equal(setegid(1), 0);
    assert_int_equal(seteuid(1), 0);
    opened("key", NULL);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chown("key", 2, 1), 0);
    assert_int_equal(seteuid(1), 0);
    opened("key", "2 1");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chown("key", 0, 1), 0);
    assert_int_equal(seteuid(1), 0);
    opened("key", NULL);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
}

static int enter(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    unlink("key");
    unlink("link");
    unlink("pipe");
    return chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1;
}

GROUP_FIXTURE(enter, leave);
