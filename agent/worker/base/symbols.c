/* symbols.c - names for addresses, from ELF's symbol tables */
#include "agent/worker/base/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void symbols_release(struct symbols *symbols)
{
    if (symbols->len) {
        /* munmap wants what mmap gave. */
        munmap((void *)(uintptr_t)symbols->file, symbols->len);
    }
    memset(symbols, 0, sizeof(*symbols));
}

static void open_file(struct symbols *symbols, const struct link_map *map)
{
    int fd = open(*map->l_name ? map->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat stat;

    symbols_release(symbols);
    symbols->module = map;
    if (fd < 0)
        return;
    if (fstat(fd, &stat) == 0 && stat.st_size >= (off_t)sizeof(ElfW(Ehdr))) {
        void *file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (file != MAP_FAILED) {
            symbols->file = file;
            symbols->len = (size_t)stat.st_size;
        }
    }
    close(fd);
}

static bool fits(const struct symbols *symbols, uint64_t offset, uint64_t len)
{
    return offset % 8 == 0 && offset <= symbols->len && len <= symbols->len - offset;
}

/* The file's sections; 0 where it has none. */
static size_t sections_of(const struct symbols *symbols, const ElfW(Shdr) * *sections)
{
    const ElfW(Ehdr) *head = (const void *)symbols->file;

    if (!symbols->len || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        !fits(symbols, head->e_shoff, head->e_shnum * sizeof(ElfW(Shdr))))
        return 0;
    *sections = (const void *)(symbols->file + head->e_shoff);
    return head->e_shnum;
}

static bool covers(const ElfW(Sym) * entry, uintptr_t offset)
{
    return ELF64_ST_TYPE(entry->st_info) == STT_FUNC && entry->st_shndx != SHN_UNDEF &&
           offset >= entry->st_value && offset - entry->st_value < entry->st_size;
}

/* Of a function's names the one without underscores is what its callers write. */
static void find_in_table(const struct symbols *symbols, const ElfW(Shdr) * table,
                          const ElfW(Shdr) * strings, struct symbol *symbol)
{
    const ElfW(Sym) *entries = (const void *)(symbols->file + table->sh_offset);
    const char *names = (const char *)symbols->file + strings->sh_offset;

    for (size_t i = 0; i < table->sh_size / sizeof(*entries); i++) {
        if (!covers(&entries[i], symbol->offset) ||
            entries[i].st_name >= strings->sh_size)
            continue;
        const char *name = names + entries[i].st_name;
        size_t len = strnlen(name, strings->sh_size - entries[i].st_name);

        if (symbol->name[0] == '\0' || (symbol->name[0] == '_' && *name != '_')) {
            snprintf(symbol->name, sizeof(symbol->name), "%.*s",
                     (int)(len < sizeof(symbol->name) ? len : sizeof(symbol->name)),
                     name);
            symbol->into = symbol->offset - entries[i].st_value;
        }
    }
}

static void find_by_type(const struct symbols *symbols, unsigned type,
                         struct symbol *symbol)
{
    const ElfW(Shdr) *sections = NULL;
    size_t n = sections_of(symbols, &sections);

    for (size_t i = 0; i < n; i++) {
        const ElfW(Shdr) *table = &sections[i];

        if (table->sh_type != type || table->sh_link >= n)
            continue;
        const ElfW(Shdr) *strings = &sections[table->sh_link];

        if (fits(symbols, table->sh_offset, table->sh_size) &&
            strings->sh_offset <= symbols->len &&
            strings->sh_size <= symbols->len - strings->sh_offset)
            find_in_table(symbols, table, strings, symbol);
    }
}

static const char *file_name(const struct link_map *map)
{
    const char *slash = strrchr(map->l_name, '/');

    if (!*map->l_name)
        return program_invocation_short_name;
    return slash ? slash + 1 : map->l_name;
}

void symbols_find(struct symbols *symbols, uintptr_t address, struct symbol *symbol)
{
    struct dl_find_object found;

    memset(symbol, 0, sizeof(*symbol));
    /* An address is all that there is. */
    if (_dl_find_object((void *)address,
                        &found)) { /* NOLINT(performance-no-int-to-ptr) */
        snprintf(symbol->module, sizeof(symbol->module), "?");
        symbol->offset = address;
        return;
    }
    const struct link_map *map = found.dlfo_link_map;

    snprintf(symbol->module, sizeof(symbol->module), "%s", file_name(map));
    symbol->offset = address - map->l_addr;
    if (symbols->module != map)
        open_file(symbols, map);
    find_by_type(symbols, SHT_SYMTAB, symbol);
    if (!symbol->name[0])
        find_by_type(symbols, SHT_DYNSYM, symbol);
}
