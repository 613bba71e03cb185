/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.c - the variables that workers and programs inherit from the agent */
#include "agent/config/inherit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/env_names.h"
#include "common/base/env_policy.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"

#define LINE_BYTES 1500 /* limit of the list of names in one log line */

static const char *const passed_on[] = {
    /* user, host and dynamic loader */
    "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LC_*", "LOGNAME", "PATH", "SHELL", "TEMP",
    "TERM", "TMP", "TMPDIR", "TZ", "USER", "XDG_*", "LD_*", "GLIBC_TUNABLES", "MALLOC_*",
    "KRB5CCNAME", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    /* Software environments of sites. */
    "APPTAINER*", "BASH_ENV", "CC", "CONDA_*", "CPATH", "CRAYPE_*", "CRAY_*", "CXX",
    "EBDEVEL*", "EBROOT*", "EBVERSION*", "FC", "LIBRARY_PATH", "LMOD_*", "LOADEDMODULES",
    "MAMBA_*", "MODULE*", "NVHPC*", "PE_*", "PYTHON*", "SINGULARITY*", "SPACK_*",
    "VIRTUAL_ENV*", "_LMFILES_*", "_ModuleTable*", "__LMOD_*",
    /* Batch systems and launchers. */
    "ALPS_*", "FLUX_*", "HPCX_*", "HYDRA_*", "I_MPI_*", "JOB_COMPLETION_INDEX",
    "JOB_NAME", "LSB_*", "LSF_*", "MPICH_*", "MPIR_*", "MPI_*", "MV2_*", "OMPI_*",
    "OPAL_*", "PALS_*", "PBS_*", "PMIX_*", "PMI_*", "PRTE_*", "SGE_*", "SLURMD_*",
    "SLURM_*",
    /* Networks and collectives. */
    "CCL_*", "CXI_*", "FI_*", "GDRCOPY_*", "GLOO_*", "HCOLL_*", "HFI_*", "IBV_*",
    "MLX4_*", "MLX5_*", "NCCL_*", "NVSHMEM_*", "OFI_NCCL_*", "PSM2_*", "PSM3_*", "RCCL_*",
    "RDMAV_*", "SHARP_*", "SLINGSHOT_*", "TP_*", "UCC_*", "UCX_*",
    /* Devices and threads. */
    "BLIS_*", "CUBLAS_*", "CUDA_*", "CUDNN_*", "GOMP_*", "GPU_*", "HABANA_*", "HIP_*",
    "HSA_*", "KMP_*", "MIOPEN_*", "MKLROOT", "MKL_*", "NEURON_*", "NVIDIA_*", "NVTX_*",
    "OMP_*", "ONEAPI_*", "OPENBLAS_*", "ROCBLAS_*", "ROCM_*", "ROCR_*", "SYCL_*", "ZE_*",
    /* Frameworks, and variables of ringbench workers. */
    "HF_*", "JAX_*", "PYTORCH_*", "TF_*", "TORCH*", "TRITON_*", "XLA_*", "SIM_*",
    "RINGBENCH_*"};

/* A name belongs to a secret if one of its words ends with an entry of secret_ends or
 * equals an entry of secret_words. PKEY (a fabric partition) and TOKENIZERS (a library)
 * are therefore not secrets. */
static const char *const secret_ends[] = {
    "APIKEY", "COOKIE",   "CREDENTIAL", "CREDENTIALS", "JWT",   "PASSPHRASE",
    "PASSWD", "PASSWORD", "PASSWORDS",  "SECRET",      "TOKEN", "TOKENS"};
static const char *const secret_words[] = {"AUTH", "KEY", "KEYS",
                                           "PASS", "PWD", "SECRETS"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_secret_word(const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(secret_ends); i++) {
        size_t n = strlen(secret_ends[i]);

        if (len >= n && strncasecmp(word + len - n, secret_ends[i], n) == 0)
            return true;
    }
    for (size_t i = 0; i < COUNT(secret_words); i++)
        if (len == strlen(secret_words[i]) &&
            strncasecmp(word, secret_words[i], len) == 0)
            return true;
    return false;
}

/* A variable that any run may set is no secret, whatever its name is. */
static bool looks_secret(const char *name)
{
    if (env_policy_check(name, NULL) == ENV_POLICY_ALLOW)
        return false;
    for (const char *word = name; *word; word += *word == '_') {
        size_t len = strcspn(word, "_");

        if (is_secret_word(word, len))
            return true;
        word += len;
    }
    return false;
}

static bool is_family(const char *pattern)
{
    return pattern[0] != '\0' && pattern[strlen(pattern) - 1] == '*';
}

bool inherit_passes(const char *name, const struct option_list *added)
{
    bool is_passed = false;

    for (size_t i = 0; i < added->count; i++) {
        if (!env_name_matches(added->items[i], name))
            continue;
        if (!is_family(added->items[i]))
            return true;
        is_passed = true;
    }
    for (size_t i = 0; i < COUNT(passed_on) && !is_passed; i++)
        is_passed = env_name_matches(passed_on[i], name);
    return is_passed && !looks_secret(name);
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text), n = left;

    for (; left > 0 && n > 0; text += n, left -= n)
        n = utf8_sequence(text, left);
    return left == 0;
}

void inherit_environment(struct env_list *out, char *const *environment,
                         const struct option_list *added)
{
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        char *name = memory_text(*environment, "an environment");

        name[strcspn(name, "=")] = '\0';
        if (!equals || !inherit_passes(name, added))
            ;
        else if (is_utf8(*environment))
            env_list_set(out, name, equals + 1);
        else
            log_warn("workers and programs do not inherit %s, because it is not UTF-8",
                     name);
        free(name);
    }
}

static int compare_items(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void log_names(char *const *items, size_t n, const struct env_list *passed,
                      bool is_passed)
{
    const char *what = is_passed ? "workers and programs inherit"
                                 : "not inherited (--pass-env NAME adds a variable)";
    char line[LINE_BYTES];
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        char name[128];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(items[i], "="), items[i]);
        if ((env_list_get(passed, name) != NULL) != is_passed)
            continue;
        if (len + strlen(name) + 2 > sizeof(line)) {
            log_debug("%s:%s", what, line);
            len = 0;
        }
        len += (size_t)snprintf(line + len, sizeof(line) - len, " %s", name);
    }
    log_debug("%s:%s", what, len > 0 ? line : " nothing");
}

void inherit_log(const struct env_list *passed, char *const *environment)
{
    char **items;
    size_t n = 0;

    while (environment[n])
        n++;
    items = memory_zeroed(n + 1, sizeof(*items), "an environment");
    memcpy(items, environment, n * sizeof(*items));
    qsort(items, n, sizeof(*items), compare_items);
    log_names(items, n, passed, true);
    log_names(items, n, passed, false);
    free(items);
}
