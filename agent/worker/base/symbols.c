/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c - find the exported function and the file of an address */
#include "agent/worker/base/symbols.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Tables that a module's dynamic section points to. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    size_t n, names_bytes;
};

struct search {
    uintptr_t address;
    struct symbol *symbol;
};

/* Number of symbols that a DT_GNU_HASH table covers: the last chain ends with the last
 * symbol. */
static size_t count_symbols(const uint32_t *hash)
{
    uint32_t n_buckets = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + n_buckets;

    for (uint32_t i = 0; i < n_buckets; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return first;
    while (!(chains[last - first] & 1))
        last++;
    return (size_t)last + 1;
}

/* The dynamic linker replaces offsets by addresses, but not in all modules. */
static const void *place(const struct dl_phdr_info *info, ElfW(Addr) at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return (const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
}

static struct tables tables_of(const struct dl_phdr_info *info, const ElfW(Phdr) * part)
{
    struct tables tables = {.n = 0};

    for (const ElfW(Dyn) *entry = place(info, part->p_vaddr); entry->d_tag != DT_NULL;
         entry++)
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = place(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            tables.names = place(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRSZ)
            tables.names_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_GNU_HASH)
            tables.n = count_symbols(place(info, entry->d_un.d_ptr));
        else if (entry->d_tag == DT_HASH && tables.n == 0)
            tables.n = ((const uint32_t *)place(info, entry->d_un.d_ptr))[1];
    return tables;
}

static bool covers(const ElfW(Sym) * entry, uintptr_t offset)
{
    return ELF64_ST_TYPE(entry->st_info) == STT_FUNC && entry->st_shndx != SHN_UNDEF &&
           offset >= entry->st_value && offset - entry->st_value < entry->st_size;
}

/* If several names belong to a function, prefer the one that its callers use, without a
 * leading underscore. */
static void find_name(const struct tables *tables, struct symbol *symbol)
{
    for (size_t i = 0; tables->symbols && tables->names && i < tables->n; i++) {
        const ElfW(Sym) *entry = &tables->symbols[i];
        const char *name = tables->names + entry->st_name;

        if (entry->st_name < tables->names_bytes && covers(entry, symbol->offset) &&
            (symbol->name[0] == '\0' || (symbol->name[0] == '_' && *name != '_'))) {
            snprintf(symbol->name, sizeof(symbol->name), "%s", name);
            symbol->into = symbol->offset - entry->st_value;
        }
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!*path)
        return program_invocation_short_name;
    return slash ? slash + 1 : path;
}

static int search_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct search *search = arg;
    struct symbol *symbol = search->symbol;
    uintptr_t offset = search->address - info->dlpi_addr;
    const ElfW(Phdr) *dynamic = NULL;
    bool is_here = false;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_DYNAMIC)
            dynamic = part;
        is_here = is_here || (part->p_type == PT_LOAD && offset >= part->p_vaddr &&
                              offset - part->p_vaddr < part->p_memsz);
    }
    if (!is_here)
        return 0;
    snprintf(symbol->module, sizeof(symbol->module), "%s", file_name(info->dlpi_name));
    symbol->offset = offset;
    if (dynamic) {
        struct tables tables = tables_of(info, dynamic);
        find_name(&tables, symbol);
    }
    return 1;
}

void symbol_find(uintptr_t address, struct symbol *symbol)
{
    struct search search = {address, symbol};

    memset(symbol, 0, sizeof(*symbol));
    snprintf(symbol->module, sizeof(symbol->module), "?");
    symbol->offset = address;
    dl_iterate_phdr(search_module, &search);
}
