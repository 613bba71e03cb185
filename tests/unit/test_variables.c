/* SPDX-License-Identifier: Apache-2.0 */
/* test_variables.c - a mistyped RINGBENCH_ variable is named */
#include "common/base/variables.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static const struct option table[] = {
    {"listen", OPTION_STRING, 0, NULL, "ADDR", "", 0, 0},
    {"data-dir", OPTION_STRING, 0, NULL, "DIR", "", 0, 0},
    {NULL, OPTION_STRING, 0, NULL, NULL, NULL, 0, 0},
};

/* What is said of a variable; the caller frees it. */
static char *said_of(const char *name)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    clearenv();
    setenv("PATH", "/bin", 1);
    setenv(name, "x", 1);
    variables_check(out, "prog", table);
    fclose(out);
    return text;
}

TEST(unknown_ones_are_named)
{
    static const struct {
        const char *name, *names; /* each sentence is whole in one row */
    } cases[] = {
        {"RINGBENCH_LISEN", "prog: warning: RINGBENCH_LISEN --help"},
        {"RINGBENCH_DATADIR", "RINGBENCH_DATADIR"},
        {"RINGBENCH_", "RINGBENCH_ --help"},
        {"RINGBENCH_LISTEN", ""},
        {"RINGBENCH_DATA_DIR", ""},
        {"RINGBENCH_HOSTID", ""},
        {"RINGBENCH_PORT_8080_TCP", ""},
        {"RING_LISEN", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = said_of(cases[i].name);

        if (*cases[i].names)
            assert_mentions(text, cases[i].names);
        else
            assert_string_equal(text, "");
        free(text);
    }
}

TEST(long_names_are_survived)
{
    char name[300];
    char *text;

    memset(name, 'A', sizeof(name));
    memcpy(name, "RINGBENCH_", 10);
    name[sizeof(name) - 1] = '\0';
    text = said_of(name);
    assert_string_equal(text, "");
    free(text);
    name[200] = '\0';
    text = said_of(name);
    assert_non_null(strstr(text, "AAA"));
    free(text);
}
