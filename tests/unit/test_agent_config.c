/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_config.c - the agent's options, their defaults and what is refused */
#include <sys/stat.h>

#include "agent/config/config.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

#define ARGS_MAX 8

/* Options as one text, parted by spaces. */
static int load(struct agent_config *config, const char *options, struct error *err)
{
    char text[512], program[] = "ringbench-agent";
    char *argv[ARGS_MAX] = {program};
    int argc = 1;
    char *save;

    snprintf(text, sizeof(text), "%s", options);
    for (char *word = strtok_r(text, " ", &save); word && argc < ARGS_MAX;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    return agent_config_load(config, argc, argv, err);
}

static int set_up(void **state)
{
    static const char *const names[] = {
        "SLURM_JOB_ID",    "SLURMD_NODENAME",         "PBS_JOBID",
        "LSB_JOBID",       "KUBERNETES_SERVICE_HOST", "JOB_NAME",
        "XDG_RUNTIME_DIR", "RINGBENCH_ALLOW_FAULTS",  "RINGBENCH_NAME",
        "SLURM_LOCALID"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

EACH_FIXTURE(set_up, NULL);

static const struct {
    const char *options, *error;
} refusals[] = {
    {"--server http://h --advertise no-such.invalid",
     "--advertise: 'no-such.invalid' is not an address and cannot be resolved"},
    {"", "--server is missing"},
    {"--server nonsense:url:x", "is not a URL"},
    {"--server ftp://h", "neither http nor https"},
    {"--server http://h --name a/b", "--name: 'a/b' is not"},
    {"--server http://h --label x", "--label: 'x' is not KEY=VALUE"},
    {"--server http://h --label =x", "--label: '=x'"},
    {"--server http://h --ranks -1", "--ranks"},
    {"--server http://h --log-level loud", "--log-level: 'loud'"},
    {"--server http://h --token-file /nonexistent",
     "cannot open token file /nonexistent"},
    {"--server https://h --ca-file /nonexistent", "cannot read CA file /nonexistent"},
    {"--server http://h --worker-dir /nonexistent", "worker directory /nonexistent"},
    {"--server http://\xe9", "--server: the value is not UTF-8"},
    {"--server http://h --spool-dir /tmp/\xe9", "--spool-dir: the value is not UTF-8"},
    {"--server http://h --config-dir /tmp/\xe9", "--config-dir: the value is not UTF-8"},
    {"--server http://h --nccl-libs /a --nccl-libs /\xe9",
     "--nccl-libs: the value is not UTF-8"},
    {"--server http://h --pass-env A=B", "--pass-env: 'A=B' is neither NAME nor PREFIX*"},
    {"--server http://h --pass-env A*B", "--pass-env: 'A*B'"},
    {"--server http://h --dance", "--dance"},
};

TEST(says_what_is_wrong)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct agent_config config;
        struct error err = {ERROR_NONE, ""};

        assert_int_equal(load(&config, refusals[i].options, &err), -1);
        if (!strstr(err.text, refusals[i].error))
            fail_msg("%s: '%s'", refusals[i].options, err.text);
        agent_config_release(&config);
    }
}

static const struct {
    const char *url, *server, *host;
} servers[] = {
    {"http://head:8080", "http://head:8080", "head"},
    {"https://head.example/", "https://head.example", "head.example"},
    {"http://[fd00::1]:8080//", "http://[fd00::1]:8080", "fd00::1"},
    {"http://10.0.0.1/ringbench/", "http://10.0.0.1/ringbench", "10.0.0.1"},
};

TEST(finds_the_servers_host)
{
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        struct agent_config config;
        char options[128];

        snprintf(options, sizeof(options), "--server %s", servers[i].url);
        assert_int_equal(load(&config, options, NULL), 0);
        assert_string_equal(config.server, servers[i].server);
        assert_string_equal(config.server_host, servers[i].host);
        agent_config_release(&config);
    }
}

static const struct {
    const char *name, *value, *group;
} jobs[] = {
    {"SLURM_JOB_ID", "8123", "slurm-8123"},
    {"PBS_JOBID", "17.head", "pbs-17.head"},
    {"LSB_JOBID", "5", "lsf-5"},
};

TEST(takes_its_group_from_the_batch_job)
{
    struct agent_config config;

    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        setenv(jobs[i].name, jobs[i].value, 1);
        assert_int_equal(load(&config, "--server http://h", NULL), 0);
        assert_string_equal(config.group, jobs[i].group);
        agent_config_release(&config);
        assert_int_equal(load(&config, "--server http://h --group g", NULL), 0);
        assert_string_equal(config.group, "g");
        agent_config_release(&config);
        unsetenv(jobs[i].name);
    }
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("JOB_NAME", "bench", 1);
    assert_int_equal(load(&config, "--server http://h", NULL), 0);
    assert_string_equal(config.group, "k8s-bench");
    agent_config_release(&config);
}

static const struct {
    const char *name, *value;
    bool is_first;
} copies[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "0", true},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1", false},
    {"MPI_LOCALRANKID", "7", false},
    {"MV2_COMM_WORLD_LOCAL_RANK", "2", false},
    {"PALS_LOCAL_RANKID", "1", false},
    {"PMI_LOCAL_RANK", "1", false},
    {"JSM_NAMESPACE_LOCAL_RANK", "1", false},
    {"FLUX_TASK_LOCAL_ID", "12", false},
    {"SLURM_LOCALID", "0", true}, /* as in each job script */
    {"SLURM_LOCALID", "3", false},
    {"SLURM_LOCALID", "", true},
    {"SLURM_LOCALID", "-1", true},
    {"SLURM_LOCALID", "1x", true},
    {"OMPI_COMM_WORLD_RANK", "1", true}, /* of the first on another node */
};

TEST(leaves_the_node_to_the_first_of_copies)
{
    struct agent_config config;

    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        setenv(copies[i].name, copies[i].value, 1);
        assert_int_equal(load(&config, "--server http://h", NULL), 0);
        if (copies[i].is_first)
            assert_null(config.not_first_by);
        else
            assert_string_equal(config.not_first_by, copies[i].name);
        agent_config_release(&config);
        assert_int_equal(load(&config, "--server http://h --name a-1", NULL), 0);
        assert_null(config.not_first_by);
        agent_config_release(&config);
        unsetenv(copies[i].name);
    }
    /* A launcher inside of another's job: the node has one first. */
    setenv("SLURM_LOCALID", "0", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    assert_int_equal(load(&config, "--server http://h", NULL), 0);
    assert_string_equal(config.not_first_by, "OMPI_COMM_WORLD_LOCAL_RANK");
    agent_config_release(&config);
    unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
}

TEST(takes_its_name_from_slurm_but_under_hydra)
{
    struct agent_config config;
    char host[256];

    gethostname(host, sizeof(host));
    setenv("SLURMD_NODENAME", "n3", 1);
    assert_int_equal(load(&config, "--server http://h", NULL), 0);
    assert_string_equal(config.name, "n3");
    agent_config_release(&config);
    setenv("MPI_LOCALRANKID", "0", 1);
    assert_int_equal(load(&config, "--server http://h", NULL), 0);
    assert_string_equal(config.name, host);
    agent_config_release(&config);
    unsetenv("MPI_LOCALRANKID");
}

TEST(has_sane_defaults)
{
    struct agent_config config;
    char host[256];

    assert_int_equal(load(&config, "--server http://h --label a=b=c", NULL), 0);
    gethostname(host, sizeof(host));
    assert_string_equal(config.name, host);
    assert_null(config.group);
    assert_null(config.token);
    assert_true(config.ranks >= 1);
    assert_int_equal(config.worker_dir[0], '/');
    assert_non_null(strstr(config.spool_dir, host));
    assert_int_equal(strncmp(config.spool_dir, "/tmp/ringbench-", 15), 0);
    assert_string_equal(json_get_str(config.labels, "a", ""), "b=c");
    agent_config_release(&config);
}

static int load_token(const char *text, mode_t mode, struct agent_config *config,
                      struct error *err)
{
    char path[] = "/tmp/test-token-XXXXXX", options[128];
    int fd = mkstemp(path);
    int result;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    snprintf(options, sizeof(options), "--server http://h --token-file %s", path);
    result = load(config, options, err);
    unlink(path);
    return result;
}

TEST(reads_a_token_that_only_its_owner_sees)
{
    static const char *const bad[] = {"", "\n", "two words\n", "bell\a\n"};
    struct agent_config config;
    struct error err;

    assert_int_equal(load_token("s3cret\n", 0640, &config, &err), 0);
    assert_string_equal(config.token, "s3cret");
    agent_config_release(&config);
    assert_int_equal(load_token("s3cret\n", 0644, &config, &err), -1);
    assert_non_null(strstr(err.text, "chmod 600"));
    agent_config_release(&config);
    assert_int_equal(load_token("s3cret\n", 0660, &config, &err), -1);
    agent_config_release(&config);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(load_token(bad[i], 0600, &config, &err), -1);
        agent_config_release(&config);
    }
}

TEST(workers_do_not_inherit_the_options)
{
    struct agent_config config;

    setenv("RINGBENCH_SERVER", "http://h", 1);
    setenv("RINGBENCH_HOSTID", "h7", 1);
    assert_int_equal(load(&config, "", NULL), 0);
    assert_null(env_list_get(&config.worker_environment, "RINGBENCH_SERVER"));
    assert_string_equal(env_list_get(&config.worker_environment, "RINGBENCH_HOSTID"),
                        "h7");
    agent_config_release(&config);
    unsetenv("RINGBENCH_SERVER");
}

TEST(looks_up_the_name_under_which_it_is_reached)
{
    static const char *const cases[][2] = {
        {"10.0.0.9", "10.0.0.9"}, {"fd00::0:9", "fd00::9"}, {"localhost", NULL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct agent_config config;
        char options[128];

        snprintf(options, sizeof(options), "--server http://h --advertise %s",
                 cases[i][0]);
        assert_int_equal(load(&config, options, NULL), 0);
        if (cases[i][1])
            assert_string_equal(config.advertise, cases[i][1]);
        else
            assert_true(strcmp(config.advertise, "127.0.0.1") == 0 ||
                        strcmp(config.advertise, "::1") == 0);
        agent_config_release(&config);
    }
}

TEST(faults_need_the_agents_own_consent)
{
    struct agent_config config;

    assert_int_equal(load(&config, "--server http://h --config-dir /nonexistent", NULL),
                     0);
    assert_int_equal(config.consented.count, 0);
    agent_config_release(&config);
    setenv("RINGBENCH_ALLOW_FAULTS", "1", 1);
    assert_int_equal(load(&config, "--server http://h --config-dir /nonexistent", NULL),
                     0);
    assert_int_equal(config.consented.count, 1);
    agent_config_release(&config);
}
