/* SPDX-License-Identifier: Apache-2.0 */
/* chooser.h - the algorithm that the emulated NCCL selects for a call */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_CHOOSER_H
#define RINGBENCH_TESTS_NCCL_EMULATION_CHOOSER_H

#include <stdbool.h>

#include "tests/nccl_emulation/operation.h"

/* Values are NCCL's numbers. */
struct chosen {
    int algo, proto, channels;
    bool is_symmetric; /* a symmetric kernel; the other members do not apply */
};

struct chosen chooser_take(const struct operation *operation);

const char *chooser_function(const struct operation *operation); /* "AllReduce" */
const char *chooser_algorithm(int algo);
const char *chooser_protocol(int proto);

#endif
