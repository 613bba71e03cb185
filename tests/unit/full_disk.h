/* SPDX-License-Identifier: Apache-2.0 */
/* full_disk.h - a disk that refuses what a store writes */
#ifndef RINGBENCH_TESTS_UNIT_FULL_DISK_H
#define RINGBENCH_TESTS_UNIT_FULL_DISK_H

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/test.h"

static inline void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Stop the write-ahead log from growing, as a full disk would. */
static inline void refuse_writes(const char *dir)
{
    char path[128];
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof(path), "%s/ringbench.db-wal", dir);
    assert_int_equal(stat(path, &st), 0);
    limit_file_size((rlim_t)st.st_size);
}

static inline void allow_writes(void)
{
    limit_file_size(RLIM_INFINITY);
}

#endif
