/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - provides the version of this ringbench build */
#include "common/base/version.h"

#include <stdio.h>

#include "build_id_value.h"

const char *version_build(void)
{
    return RINGBENCH_BUILD;
}

int version_print(const char *program)
{
    return printf("%s %s (workers' build %s)\n", program, RINGBENCH_VERSION,
                  RINGBENCH_BUILD) < 0
               ? -1
               : 0;
}
