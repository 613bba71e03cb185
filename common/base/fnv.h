/* SPDX-License-Identifier: Apache-2.0 */
/* fnv.h - computes the 64-bit FNV-1a hash (draft-eastlake-fnv). Use it only for data that
 * an attacker cannot choose. */
#ifndef RINGBENCH_COMMON_FNV_H
#define RINGBENCH_COMMON_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_BEGIN UINT64_C(0xcbf29ce484222325)

/* Continue `hash` with `len` bytes of `data`, and return the new hash. */
static inline uint64_t fnv1a(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
