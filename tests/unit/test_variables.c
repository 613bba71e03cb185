/* test_variables.c - a mistyped RINGBENCH_ variable is named */
#include "common/base/variables.h"
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
        const char *name, *said;
    } cases[] = {
        {"RINGBENCH_LISEN", "prog: warning: the variable RINGBENCH_LISEN means nothing "
                            "here, should it be RINGBENCH_LISTEN; see --help\n"},
        {"RINGBENCH_DATADIR", "prog: warning: the variable RINGBENCH_DATADIR means "
                              "nothing here, should it be RINGBENCH_DATA_DIR; see "
                              "--help\n"},
        {"RINGBENCH_TOKENS_FILES", "prog: warning: the variable RINGBENCH_TOKENS_FILES "
                                   "means nothing here; see --help\n"},
        {"RINGBENCH_", "prog: warning: the variable RINGBENCH_ means nothing here; see "
                       "--help\n"},
        {"RINGBENCH_LISTEN", ""},
        {"RINGBENCH_DATA_DIR", ""},
        {"RINGBENCH_HOSTID", ""},
        {"RINGBENCH_PORT_8080_TCP", ""},
        {"RING_LISEN", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = said_of(cases[i].name);

        assert_string_equal(text, cases[i].said);
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
    assert_non_null(strstr(text, "AAA means nothing here; see"));
    free(text);
}
