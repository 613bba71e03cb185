/* SPDX-License-Identifier: Apache-2.0 */
/* case_fixture.h - the case file that a test's worker processes read */
#ifndef RINGBENCH_TESTS_UNIT_CASE_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_CASE_FIXTURE_H

#include "common/base/json_util.h"
#include "tests/unit/test.h"

static char case_path[] = "/tmp/ringbench-case-XXXXXX";

/* Takes the case. */
static inline void case_write(json_t *json)
{
    assert_int_equal(json_write_file(json, case_path, NULL), 0);
    json_decref(json);
}

/* GROUP_FIXTURE(make_case_file, remove_case_file); */
static inline int make_case_file(void **state)
{
    int fd = mkstemp(case_path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static inline int remove_case_file(void **state)
{
    (void)state;
    return unlink(case_path);
}

#endif
