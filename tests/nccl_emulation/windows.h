/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h - memory of the emulated NCCL, and its registration */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_WINDOWS_H
#define RINGBENCH_TESTS_NCCL_EMULATION_WINDOWS_H

#include <stdbool.h>

#include "tests/nccl_emulation/operation.h"

/* True if the address is in a registered buffer or window of the communicator. */
bool emulated_is_registered(const struct ncclComm *comm, const char *buffer);

#endif
