/* SPDX-License-Identifier: Apache-2.0 */
/* test_inherit.c - what workers get of the agent's environment */
#include "agent/config/inherit.h"
#include "tests/unit/test.h"

static char site[] = "SITE_*", key[] = "OUR_KEY";
static char *items[] = {site, key};
static const struct option_list added = {.items = items, .count = 2}, none = {0};

static const struct sample {
    const char *name;
    bool passes;
} samples[] = {
    {"PATH", true},
    {"LC_ALL", true},
    {"LD_LIBRARY_PATH", true},
    {"EBROOTGCC", true},
    {"_ModuleTable001_", true},
    {"SLURM_JOB_ID", true},
    {"NCCL_SOCKET_IFNAME", true},
    {"UCX_IB_PKEY", true},
    {"FI_CXI_PROV_KEY_CACHE", true}, /* known to be harmless */
    {"TORCH_HOME", true},
    {"OPAL_PREFIX", true},
    {"HPCX_DIR", true},
    {"NVHPC_ROOT", true},
    {"MKLROOT", true},
    {"CRAYPE_DIR", true},
    {"PE_ENV", true},
    {"APPTAINERENV_NCCL_ALGO", true},
    {"SINGULARITY_BINDPATH", true},
    {"KRB5CCNAME", true}, /* says where, and is none itself */
    {"SIM_SEED", true},
    {"RINGBENCH_HOSTID", true},
    {"SITE_LICENSE", true},
    {"OUR_KEY", true}, /* named in full */
    {"PATH2", false},
    {"OLDPATH", false},
    {"SSH_AUTH_SOCK", false},
    {"https_proxy", false},
    {"CREDENTIALS_DIRECTORY", false},
    {"SITE_TOKEN", false},
    {"SITE_AUTHTOKEN_2", false},
    {"SITE_KEYS", false},
    {"SITE_db_password", false},
    {"SLURM_JWT", false},
    {"APPTAINER_DOCKER_PASSWORD", false},
    {"PBS_JOBCOOKIE", false},
    {"FI_CXI_COLL_MCAST_TOKEN", false},
    {"NCCL_SECRET_", false},
    {"", false},
};

TEST(passes_on_what_software_needs)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (inherit_passes(samples[i].name, &added) != samples[i].passes)
            fail_msg("%s", samples[i].name);
    assert_false(inherit_passes("SITE_LICENSE", &none));
    assert_false(inherit_passes("OUR_KEY", &none));
}

TEST(copies_it)
{
    char path[] = "PATH=/a=b", token[] = "HF_TOKEN=x", odd[] = "odd", empty[] = "LANG=";
    char latin1[] = "LD_LIBRARY_PATH=/caf\xe9", utf8[] = "TMPDIR=/caf\xc3\xa9";
    char *environment[] = {path, token, odd, empty, latin1, utf8, NULL};
    struct env_list list;

    env_list_init(&list);
    inherit_environment(&list, environment, &none);
    assert_int_equal(list.count, 3);
    assert_string_equal(env_list_get(&list, "PATH"), "/a=b");
    assert_string_equal(env_list_get(&list, "LANG"), "");
    assert_string_equal(env_list_get(&list, "TMPDIR"), "/caf\xc3\xa9");
    env_list_release(&list);
}
