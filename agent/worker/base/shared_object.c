/* SPDX-License-Identifier: Apache-2.0 */
/* shared_object.c - find and load a library at run time, and bind its functions */
#include "agent/worker/base/shared_object.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/lib/python3*/{site,dist}-packages/{nvidia/*/lib,torch/lib}"

/* Glob patterns of folders that may contain libraries. With a variable, the pattern
 * follows the variable's value; with NULL, the pattern is an absolute path. Folders that
 * the environment selects come first. */
static const struct place {
    const char *variable, *folders;
} places[] = {
    {"NCCL_HOME", "/{lib,lib64}"},
    {"CUDA_HOME", "/{lib64,lib}"},
    {"CUDA_PATH", "/{lib64,lib}"},
    {"VIRTUAL_ENV", PYTHON},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", PYTHON},
    {"NVHPC_ROOT", "/{cuda/lib64,comm_libs/nccl/lib}"},
    {NULL, "/usr/local/cuda{,-*}/{lib64,lib}"},
    {"HOME", "/.local" PYTHON},
    {NULL, "/usr{,/local}" PYTHON},
    {NULL, "/usr/lib/python3/dist-packages/nvidia/*/lib"},
    {NULL, "/opt/*{,/envs/*}/lib"},
    {NULL, "/opt/*{,/envs/*}" PYTHON},
    {"HOME", "/{*conda*{,/envs/*},.venv,.pyenv/versions/*}" PYTHON},
    {NULL, "/opt/nvidia/hpc_sdk/Linux_*/*/{cuda/lib64,comm_libs/nccl/lib}"},
};

#define REFUSED_MAX 64

struct search {
    shared_object_check *check;
    void *arg;
    void *refused[REFUSED_MAX];
    int n_refused;
    char tried[512]; /* the libraries tried, with reasons */
};

static void note(struct search *search, const char *why)
{
    size_t len = strlen(search->tried);

    snprintf(search->tried + len, sizeof(search->tried) - len, "%s%s", len ? "; " : "",
             why);
}

/* Returns the handle, or NULL if the check refuses it. A library that is found again, for
 * example through a symbolic link, has the same handle. */
static void *accept(struct search *search, void *handle)
{
    struct error why = {0};

    for (int i = 0; i < search->n_refused; i++)
        if (search->refused[i] == handle)
            return NULL;
    if (!handle || !search->check || !search->check(handle, search->arg, &why))
        return handle;
    if (search->n_refused < REFUSED_MAX)
        search->refused[search->n_refused++] = handle;
    note(search, why.text);
    return NULL;
}

/* Try the files of a place in reverse order, so that the newest version comes first. */
static void *open_at(struct search *search, const struct place *place, const char *name)
{
    const char *root = place->variable ? getenv(place->variable) : "";
    char pattern[PATH_MAX];
    glob_t found = {0};
    void *handle = NULL;

    if (!root || (place->variable && *root != '/'))
        return NULL;
    snprintf(pattern, sizeof(pattern), "%s%s/%s", root, place->folders, name);
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i > 0 && !handle; i--)
            handle = accept(search, dlopen(found.gl_pathv[i - 1], RTLD_NOW | RTLD_LOCAL));
    globfree(&found);
    return handle;
}

static void *open_by_name(struct search *search, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            const char *why = dlerror();
            note(search, why ? why : names[i]);
        }
        handle = accept(search, handle);
        if (handle)
            return handle;
    }
    return NULL;
}

static void *open_at_places(struct search *search, const char *const *names)
{
    void *handle = NULL;

    for (size_t i = 0; names[i] && !handle; i++)
        for (size_t k = 0; k < sizeof(places) / sizeof(*places) && !handle; k++)
            handle = open_at(search, &places[k], names[i]);
    return handle;
}

void *shared_object_open(const char *override, const char *const *names,
                         shared_object_check *check, void *arg, struct error *err)
{
    const char *const forced[] = {override, NULL};
    struct search search = {.check = check, .arg = arg};
    bool is_forced = override && *override;

    void *handle = open_by_name(&search, is_forced ? forced : names);
    if (!handle && !is_forced)
        handle = open_at_places(&search, names);
    if (handle)
        return handle;
    if (search.n_refused > 0) {
        error_set(err, ERROR_UNSUPPORTED, "%s", search.tried);
        return NULL;
    }
    error_set(err, ERROR_UNSUPPORTED, "cannot load the library: %s%s", search.tried,
              is_forced ? ""
                        : "; not found below CUDA_HOME, NCCL_HOME, /opt, "
                          "conda or Python packages either");
    return NULL;
}

static void *find(void *handle, const struct shared_symbol *symbol)
{
    void *address = dlsym(handle, symbol->name);

    return !address && symbol->instead ? dlsym(handle, symbol->instead) : address;
}

int shared_object_bind(void *handle, const struct shared_symbol *symbols, size_t n,
                       void *table, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        void *address = find(handle, &symbols[i]);
        if (!address && !symbols[i].is_optional) {
            return error_set(err, ERROR_UNSUPPORTED,
                             "the library does not export function %s", symbols[i].name);
        }
        /* POSIX's dlsym implies that function and data pointers have the same size. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof(address));
    }
    return 0;
}

const char *shared_object_path(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}
