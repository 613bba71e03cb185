/* SPDX-License-Identifier: Apache-2.0 */
/* web_tree.h - a temporary directory with files in it, for tests of what is served */
#ifndef RINGBENCH_TESTS_UNIT_WEB_TREE_H
#define RINGBENCH_TESTS_UNIT_WEB_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct web_tree {
    char root[64];
    char path[256]; /* of the last web_tree_path */
};

static inline int web_tree_create(struct web_tree *tree)
{
    snprintf(tree->root, sizeof(tree->root), "/tmp/ringbench-web-XXXXXX");
    return mkdtemp(tree->root) ? 0 : -1;
}

static inline const char *web_tree_path(struct web_tree *tree, const char *name)
{
    snprintf(tree->path, sizeof(tree->path), "%s/%s", tree->root, name);
    return tree->path;
}

/* Write a file; -1 when that fails. */
static inline int web_tree_put(struct web_tree *tree, const char *name, const char *text)
{
    FILE *file = fopen(web_tree_path(tree, name), "w");

    if (!file)
        return -1;
    fputs(text, file);
    return fclose(file);
}

static inline int web_tree_remove_entry(const char *path, const struct stat *st, int type,
                                        struct FTW *position)
{
    (void)st;
    (void)type;
    (void)position;
    return remove(path);
}

static inline int web_tree_remove(struct web_tree *tree)
{
    return nftw(tree->root, web_tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
