/* SPDX-License-Identifier: Apache-2.0 */
/* test_options.c - a program's options from command line, environment and file */
#include "common/base/options.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

struct config {
    char *name, *data_dir, *config;
    long port;
    bool insecure;
    struct option_list label;
};

#define FIELD(member) offsetof(struct config, member)

static const struct option table[] = {
    {"name", OPTION_STRING, FIELD(name), NULL, "N", "the name", 0, 0},
    {"data-dir", OPTION_STRING, FIELD(data_dir), "/var/lib", "DIR", "where to keep", 0,
     0},
    {"port", OPTION_INT, FIELD(port), "8080", "N", "the port", 0, 65535},
    {"insecure", OPTION_FLAG, FIELD(insecure), NULL, NULL, "no token", 0, 0},
    {"label", OPTION_LIST, FIELD(label), NULL, "K=V", "a label", 0, 0},
    {"config", OPTION_STRING, FIELD(config), NULL, "F", "the file", 0, 0},
    {NULL, OPTION_STRING, 0, NULL, NULL, NULL, 0, 0},
};

#define PARSE(config, err, ...)                                                          \
    parse(config, err, (char *[]){ARG("program"), __VA_ARGS__, NULL})
#define ARG(text) ((char[]){text})

static int parse(struct config *config, struct error *err, char **argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    memset(config, 0, sizeof(*config));
    memset(err, 0, sizeof(*err));
    return options_parse("program", "does things", table, config, argc, argv, err);
}

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("RINGBENCH_NAME");
    unsetenv("RINGBENCH_DATA_DIR");
    unsetenv("RINGBENCH_PORT");
    unsetenv("RINGBENCH_INSECURE");
    unsetenv("RINGBENCH_LABEL");
    unsetenv("RINGBENCH_CONFIG");
    return 0;
}

EACH_FIXTURE(clear_environment, clear_environment);

/* Write a config file and put its path into path. */
static void write_file(char path[64], const char *text)
{
    FILE *file;
    int fd;

    snprintf(path, 64, "/tmp/test_options.XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(defaults_apply)
{
    struct config config;
    struct error err;

    assert_int_equal(PARSE(&config, &err, NULL), 0);
    assert_null(config.name);
    assert_string_equal(config.data_dir, "/var/lib");
    assert_int_equal(config.port, 8080);
    assert_false(config.insecure);
    assert_int_equal(config.label.count, 0);
    options_release(table, &config);
    options_release(table, &config);
}

TEST(both_spellings_are_read)
{
    struct config config;
    struct error err;

    assert_int_equal(PARSE(&config, &err, ARG("--name"), ARG("a b"), ARG("--port=1"),
                           ARG("--insecure"), ARG("--label"), ARG("k=v"),
                           ARG("--label=x=y=z"), ARG("--data-dir=")),
                     0);
    assert_string_equal(config.name, "a b");
    assert_int_equal(config.port, 1);
    assert_true(config.insecure);
    assert_int_equal(config.label.count, 2);
    assert_string_equal(config.label.items[0], "k=v");
    assert_string_equal(config.label.items[1], "x=y=z");
    assert_string_equal(config.data_dir, "");
    options_release(table, &config);
    assert_null(config.name);
    assert_int_equal(config.label.count, 0);
}

TEST(the_last_use_counts)
{
    struct config config;
    struct error err;

    assert_int_equal(PARSE(&config, &err, ARG("--name=a"), ARG("--name=b"),
                           ARG("--insecure"), ARG("--insecure=off")),
                     0);
    assert_string_equal(config.name, "b");
    assert_false(config.insecure);
    options_release(table, &config);
}

TEST(each_source_overrides_the_one_below)
{
    struct config config;
    struct error err;
    char path[64];

    write_file(path, "# a comment\n\n name = file \n port=1\ninsecure = yes\n"
                     "label = a=1\nlabel = b=2\ndata-dir = /file");
    assert_int_equal(PARSE(&config, &err, ARG("--config"), path), 0);
    assert_string_equal(config.name, "file");
    assert_string_equal(config.data_dir, "/file");
    assert_int_equal(config.port, 1);
    assert_true(config.insecure);
    assert_int_equal(config.label.count, 2);
    options_release(table, &config);

    setenv("RINGBENCH_NAME", "environment", 1);
    setenv("RINGBENCH_DATA_DIR", "/environment", 1);
    setenv("RINGBENCH_INSECURE", "false", 1);
    setenv("RINGBENCH_LABEL", "c=3", 1);
    setenv("RINGBENCH_CONFIG", path, 1);
    assert_int_equal(PARSE(&config, &err, ARG("--data-dir=/line")), 0);
    assert_string_equal(config.name, "environment");
    assert_string_equal(config.data_dir, "/line");
    assert_int_equal(config.port, 1);
    assert_false(config.insecure);
    assert_int_equal(config.label.count, 1);
    assert_string_equal(config.label.items[0], "c=3");
    options_release(table, &config);

    assert_int_equal(PARSE(&config, &err, ARG("--label=d"), ARG("--label=e")), 0);
    assert_int_equal(config.label.count, 2);
    assert_string_equal(config.label.items[0], "d");
    options_release(table, &config);
    unlink(path);
}

TEST(the_config_option_is_seen_wherever_it_stands)
{
    struct config config;
    struct error err;
    char first[64], last[64];

    write_file(first, "name = first\nport = 1\n");
    write_file(last, "name = last\n");
    assert_int_equal(PARSE(&config, &err, ARG("--port=5"), ARG("--config"), first,
                           ARG("--config"), last),
                     0);
    assert_string_equal(config.name, "last");
    assert_int_equal(config.port, 5);
    options_release(table, &config);
    unlink(first);
    unlink(last);
}

TEST(mistakes_on_the_command_line_are_said)
{
    static const struct {
        const char *one, *two;
        const char *names; /* each sentence is whole in one row */
    } cases[] = {
        {"--nme", "x", "unknown option '--nme'; try --help"},
        {"--nam=x", NULL, "'--nam'"},
        {"name", NULL, "unexpected argument 'name'; try --help"},
        {"-n", NULL, "'-n'"},
        {"--name", NULL, "--name needs a value"},
        {"--port", "eighty", "--port: 'eighty' is not a whole number from 0 to 65535"},
        {"--port", "", "--port: '' 0 65535"},
        {"--port", "65536", "--port: '65536' 0 65535"},
        {"--port", "-1", "--port: '-1' 0 65535"},
        {"--port", "99999999999999999999", "--port: '99999999999999999999' 0 65535"},
        {"--port", "8080x", "--port: '8080x' 0 65535"},
        {"--insecure=perhaps", NULL, "--insecure: 'perhaps' is not true or false"},
        {"--insecure=", NULL, "--insecure: ''"},
        {"--config", "/no/such/file",
         "cannot open config file /no/such/file: No such file"},
        {"--config", "/", "cannot read config file /: Is a directory"},
        {"--config=", NULL, "No such file"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct config config;
        struct error err;
        char *one = strdup(cases[i].one);
        char *two = cases[i].two ? strdup(cases[i].two) : NULL;

        assert_int_equal(PARSE(&config, &err, one, two), -1);
        if (!mentions(err.text, cases[i].names))
            fail_msg("%s: %s", cases[i].one, err.text);
        options_release(table, &config);
        free(one);
        free(two);
    }
}

TEST(mistakes_in_the_environment_name_the_variable)
{
    struct config config;
    struct error err;

    setenv("RINGBENCH_PORT", "x", 1);
    assert_int_equal(PARSE(&config, &err, NULL), -1);
    assert_non_null(strstr(err.text, "environment variable RINGBENCH_PORT: --port: 'x'"));
    options_release(table, &config);
    unsetenv("RINGBENCH_PORT");
    /* An empty variable must not switch something off that protects. */
    setenv("RINGBENCH_INSECURE", "", 1);
    assert_int_equal(PARSE(&config, &err, NULL), -1);
    assert_non_null(strstr(err.text, "RINGBENCH_INSECURE"));
    options_release(table, &config);
}

TEST(mistakes_in_a_file_name_the_line)
{
    static const struct {
        const char *text;
        const char *names;
    } cases[] = {
        {"name = a\nport\n", " line 2: 'port' is not \"name = value\""},
        {"\n\nprot = 1\n", "line 3: 'prot'"},
        {"port = x", "line 1: --port: 'x'"},
        {"= x", "line 1: ''"},
    };
    struct config config;
    struct error err;
    char path[64], text[5000];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file(path, cases[i].text);
        assert_int_equal(PARSE(&config, &err, ARG("--config"), path), -1);
        if (!mentions(err.text, cases[i].names))
            fail_msg("%s", err.text);
        options_release(table, &config);
        unlink(path);
    }
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text, "name = ", 7);
    write_file(path, text);
    assert_int_equal(PARSE(&config, &err, ARG("--config"), path), -1);
    assert_non_null(strstr(err.text, " line 1: the line is longer than 4094 bytes"));
    options_release(table, &config);
    unlink(path);
}

TEST(help_shows_every_option)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    options_print_help(out, "program", "does things", table);
    fclose(out);
    assert_non_null(strstr(text, "usage: program [options]\n\ndoes things\n"));
    for (const struct option *o = table; o->name; o++)
        assert_non_null(strstr(text, o->help));
    assert_non_null(strstr(text, "--data-dir DIR"));
    assert_non_null(strstr(text, "(default: /var/lib)"));
    assert_non_null(strstr(text, "--label K=V"));
    assert_non_null(strstr(text, "RINGBENCH_NAME"));
    free(text);
}

TEST(help_and_version_end_the_program)
{
    struct config config;
    struct error err;

    assert_int_equal(PARSE(&config, &err, ARG("--port=x"), ARG("--help")), 1);
    assert_int_equal(PARSE(&config, &err, ARG("--version")), 1);
    options_release(table, &config);
}
