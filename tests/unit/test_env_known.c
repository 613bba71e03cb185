/* SPDX-License-Identifier: Apache-2.0 */
/* test_env_known.c - every variable that the libraries installed here know was judged */
#include <glob.h>

#include "common/base/env_policy.h"
#include "tests/unit/test.h"

/* Texts in libnccl that look like variables: kinds of log lines, constants' names. */
static const char *const no_variables[] = {
    "NCCL_ALL",
    "NCCL_ALLOC",
    "NCCL_BOOTSTRAP",
    "NCCL_CALL",
    "NCCL_COLL",
    "NCCL_ENV",
    "NCCL_GIN_IB_ALLGATHER_TAG",
    "NCCL_GIN_IB_ALLTOALL_TAG",
    "NCCL_GRAPH",
    "NCCL_IB_SL_DEFAULT",
    "NCCL_IB_TC_DEFAULT",
    "NCCL_INIT",
    "NCCL_IPC_COLLECTIVE",
    "NCCL_IPC_SENDRECV",
    "NCCL_LOG_ABORT",
    "NCCL_LOG_INFO",
    "NCCL_LOG_NONE",
    "NCCL_LOG_TRACE",
    "NCCL_LOG_VERSION",
    "NCCL_LOG_WARN",
    "NCCL_NET_DEVICE_GIN_GDAKI",
    "NCCL_NET_DEVICE_GIN_PROXY",
    "NCCL_NET_DEVICE_HOST",
    "NCCL_NET_DEVICE_UNPACK",
    "NCCL_NVLS",
    "NCCL_P2P",
    "NCCL_PROFILE",
    "NCCL_PROXY",
    "NCCL_RAS",
    "NCCL_REG",
    "NCCL_SHM",
    "NCCL_TUNING",
};

static size_t n_names, n_unjudged;

static bool is_variable(const char *name)
{
    for (size_t i = 0; i < sizeof(no_variables) / sizeof(no_variables[0]); i++)
        if (strcmp(no_variables[i], name) == 0)
            return false;
    return true;
}

static void check(const char *name)
{
    const char *reason = "";

    if (!is_variable(name))
        return;
    n_names++;
    if (env_policy_check(name, &reason) == ENV_POLICY_ALLOW ||
        !strstr(reason, "is not among"))
        return;
    n_unjudged++;
    print_error("nobody has judged %s: harmless belongs into env_names/, what needs "
                "consent among the rules of env_policy.c\n",
                name);
}

/* At least as many as the oldest release has that is looked for. */
static void all_judged(size_t at_least)
{
    assert_true(n_names >= at_least);
    assert_int_equal(n_unjudged, 0);
}

static bool is_part(int c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Texts that consist of a name and nothing else. */
static void check_strings(FILE *file, const char *prefix)
{
    char text[ENV_POLICY_NAME_MAX + 1];
    size_t len = 0;
    bool is_name = true;
    int c;

    while ((c = getc(file)) != EOF) {
        if (c == '\0') {
            text[len] = '\0';
            if (is_name && strncmp(text, prefix, strlen(prefix)) == 0 &&
                len > strlen(prefix))
                check(text);
            len = 0;
            is_name = true;
        } else if (is_part(c) && len < sizeof(text) - 1) {
            text[len++] = (char)c;
        } else {
            is_name = false;
        }
    }
}

/* The first word of each line, after a "# ", if it begins with the prefix. */
static void check_output(const char *command, const char *prefix)
{
    FILE *pipe = popen(command, "r");
    char line[4096];

    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe)) {
        char *name = line + (strncmp(line, "# ", 2) == 0 ? 2 : 0);
        size_t len = 0;

        while (is_part((unsigned char)name[len]))
            len++;
        name[len] = '\0';
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            check(name);
    }
    pclose(pipe);
}

static int start(void **state)
{
    (void)state;
    n_names = n_unjudged = 0;
    return 0;
}

EACH_FIXTURE(start, NULL);

TEST(of_nccl)
{
    static const char *const places[] = {"/usr/lib/*/libnccl.so.2",
                                         "/usr/local/cuda*/lib*/libnccl.so.2"};
    glob_t found = {0};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        glob(places[i], i ? GLOB_APPEND : 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");

        assert_non_null(file);
        check_strings(file, "NCCL_");
        fclose(file);
    }
    if (found.gl_pathc == 0)
        print_message("no libnccl.so.2 in the usual places\n");
    globfree(&found);
    if (n_names == 0)
        skip();
    all_judged(100);
}

static void judged_all_of(const char *command, const char *prefix, const char *package)
{
    check_output(command, prefix);
    if (n_names == 0) {
        print_message("nothing from '%s' here (package %s)\n", command, package);
        skip();
    }
    all_judged(50);
}

TEST(of_ucx)
{
    judged_all_of("ucx_info -c -a 2>/dev/null", "UCX_", "ucx-utils");
}

TEST(of_libfabric)
{
    judged_all_of("fi_info -e 2>/dev/null", "FI_", "libfabric-bin");
}
