/* shared_object.c - a library that is looked for at run time, and its functions */
#include "agent/worker/nccl/shared_object.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void note_failure(char *text, size_t size, const char *name)
{
    size_t len = strlen(text);
    const char *why = dlerror();

    snprintf(text + len, size - len, "%s%s", len ? "; " : "", why ? why : name);
}

void *shared_object_open(const char *override, const char *const *names,
                         struct error *err)
{
    const char *const forced[] = {override, NULL};
    char tried[512] = "";

    if (override && *override)
        names = forced;
    for (size_t i = 0; names[i]; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
        note_failure(tried, sizeof(tried), names[i]);
    }
    error_set(err, ERROR_UNSUPPORTED, "can't load it: %s", tried);
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
            return error_set(err, ERROR_UNSUPPORTED, "it has no function %s",
                             symbols[i].name);
        }
        /* A function pointer has the size of a data pointer wherever dlsym exists. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof(address));
    }
    return 0;
}

const char *shared_object_path(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}
