/* SPDX-License-Identifier: Apache-2.0 */
/* fake_root.h - a folder that stands for a host's / */
#ifndef RINGBENCH_TESTS_UNIT_FAKE_ROOT_H
#define RINGBENCH_TESTS_UNIT_FAKE_ROOT_H

#include <ftw.h>
#include <sys/stat.h>

#include "tests/unit/test.h"

static char root[64];

static inline int set_up(void **state)
{
    (void)state;
    /* Thousands of files of memory take no time on a busy disk. */
    snprintf(root, sizeof(root), "%s/test-root-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *st, int type,
                               struct FTW *place)
{
    (void)st;
    (void)type;
    (void)place;
    return remove(path);
}

static inline int tear_down(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write a file there, with the folders above it. */
static inline void put(const char *path, const char *text)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
