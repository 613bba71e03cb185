/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - the main of every program of unit tests: runs the tests of one file
 *
 *     units_common row_fields            all tests of test_row_fields.c
 *     units_common row_fields 'reads_*'  those whose names match
 *
 * Each file has a process of its own, since tests change signals, limits and variables.
 */
#include <fnmatch.h>
#include <sys/prctl.h>

#include "tests/unit/test.h"

static struct test_entry *entries;
static struct test_fixtures *all_fixtures;

/* A test signals the processes that it starts. If it gets one wrong and signals all of
 * its group, only this program is to end, and not ctest with everything else. */
static void lead_own_group(void)
{
    setpgid(0, 0);
    /* Ctrl-C ends ctest alone then. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Are the first one's tests before the other's? */
static bool is_before(const struct test_entry *a, const struct test_entry *b)
{
    int order = strcmp(a->path, b->path);

    return order ? order < 0 : a->line < b->line;
}

void test_add(struct test_entry *entry)
{
    struct test_entry **at = &entries;

    while (*at && is_before(*at, entry))
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
}

void test_add_fixtures(struct test_fixtures *fixtures)
{
    fixtures->next = all_fixtures;
    all_fixtures = fixtures;
}

/* PATH/test_NOUN.c is the file of NOUN. */
static bool is_file(const char *path, const char *noun)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(noun);

    return strncmp(name, "test_", 5) == 0 && strncmp(name + 5, noun, len) == 0 &&
           strcmp(name + 5 + len, ".c") == 0;
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s FILE [TEST]\nFILE TEST, where TEST may have * and ?:\n",
            program);
    for (const struct test_entry *it = entries; it; it = it->next) {
        const char *slash = strrchr(it->path, '/'), *name = slash ? slash + 1 : it->path;

        fprintf(stderr, "  %.*s %s\n", (int)strlen(name) - 7, name + 5, it->unit.name);
    }
    return 2;
}

static int run(const char *noun, const char *pattern)
{
    CMFixtureFunction set_up = NULL, tear_down = NULL, each_set_up = NULL,
                      each_tear_down = NULL;
    struct CMUnitTest *tests;
    size_t n = 0;
    int rc;

    for (const struct test_fixtures *it = all_fixtures; it; it = it->next)
        if (is_file(it->path, noun)) {
            set_up = it->set_up ? it->set_up : set_up;
            tear_down = it->tear_down ? it->tear_down : tear_down;
            each_set_up = it->each_set_up ? it->each_set_up : each_set_up;
            each_tear_down = it->each_tear_down ? it->each_tear_down : each_tear_down;
        }
    for (const struct test_entry *it = entries; it; it = it->next)
        n++;
    tests = calloc(n + 1, sizeof(*tests));
    if (!tests)
        return 2;
    n = 0;
    for (const struct test_entry *it = entries; it; it = it->next)
        if (is_file(it->path, noun) && fnmatch(pattern, it->unit.name, 0) == 0) {
            tests[n] = it->unit;
            if (!tests[n].setup_func && !tests[n].teardown_func) {
                tests[n].setup_func = each_set_up;
                tests[n].teardown_func = each_tear_down;
            }
            n++;
        }
    rc = n ? _cmocka_run_group_tests(noun, tests, n, set_up, tear_down) : -1;
    free(tests);
    return rc;
}

size_t test_seeds(size_t full)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return (full + 9) / 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return (full + 9) / 10;
#else
    return full;
#endif
#else
    return full;
#endif
}

int main(int argc, char **argv)
{
    int rc;

    lead_own_group();
    rc = argc < 2 || argc > 3 ? -1 : run(argv[1], argc == 3 ? argv[2] : "*");
    return rc < 0 ? usage(argv[0]) : rc > 0;
}
