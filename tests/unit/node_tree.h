/* SPDX-License-Identifier: Apache-2.0 */
/* node_tree.h - the machines of tests/data/nodes as folders (its README.md has the form)
 */
#ifndef RINGBENCH_TESTS_UNIT_NODE_TREE_H
#define RINGBENCH_TESTS_UNIT_NODE_TREE_H

#include "tests/unit/fake_root.h"

/* "\n" and "\t" as in C. */
static inline void unescape(char *text)
{
    char *out = text;

    for (; *text; text++)
        if (text[0] == '\\' && (text[1] == 'n' || text[1] == 't'))
            *out++ = *++text == 'n' ? '\n' : '\t';
        else
            *out++ = *text;
    *out = '\0';
}

static inline void put_bytes(const char *full, char *rest)
{
    char *hex;
    long offset = strtol(rest, &hex, 10);
    FILE *file = fopen(full, "w");
    unsigned byte;

    assert_non_null(file);
    fseek(file, offset, SEEK_SET);
    for (hex++; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        fputc((int)byte, file);
    fclose(file);
}

/* A file of a folder, as "mtu=1500". */
static inline void put_item(const char *dir, char *item)
{
    size_t name = strcspn(item, "=>@!");
    char path[512], full[600], how = item[name], *rest = item + name + 1;

    item[name] = '\0';
    snprintf(path, sizeof(path), "%s/%s", dir, item);
    snprintf(full, sizeof(full), "%s%s", root, path);
    if (how == '!') {
        nftw(full, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        return;
    }
    unescape(rest);
    unlink(full);
    put(path, how == '=' ? rest : "");
    if (how == '@')
        put_bytes(full, rest);
    if (how == '>')
        assert_true(unlink(full) == 0 && symlink(rest, full) == 0);
}

static inline void put_tree(const char *name)
{
    char path[512], line[4096], *dir, *item, *rest;
    FILE *file;

    snprintf(path, sizeof(path), NODES "/%s", name);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '<')
            put_tree(line + 2);
        if (line[0] != '/')
            continue;
        dir = strtok_r(line, "\t", &rest);
        for (item = strtok_r(NULL, "\t", &rest); item; item = strtok_r(NULL, "\t", &rest))
            put_item(dir, item);
    }
    fclose(file);
}

#endif
