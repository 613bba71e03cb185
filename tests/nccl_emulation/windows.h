/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h - memory of the emulated NCCL, and what of it is registered */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_WINDOWS_H
#define RINGBENCH_TESTS_NCCL_EMULATION_WINDOWS_H

#include <stdbool.h>

#include "tests/nccl_emulation/operation.h"

/* Whether the address lies in a buffer or window of the communicator. */
bool emulated_is_registered(const struct ncclComm *comm, const char *buffer);

#endif
