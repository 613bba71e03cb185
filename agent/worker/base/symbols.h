/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - which exported function an address belongs to, and which file
 *
 * dladdr and backtrace_symbols_fd wait for the lock that a thread holds while it is stuck
 * in dlopen. This reads the same tables, which the linker has in memory, without it. It
 * allocates no memory. */
#ifndef RINGBENCH_WORKER_BASE_SYMBOLS_H
#define RINGBENCH_WORKER_BASE_SYMBOLS_H

#include <stdint.h>

struct symbol {
    char module[64];  /* the file's name without its folders; "?": not known */
    char name[80];    /* the function's; "": it is not exported */
    uintptr_t into;   /* bytes into the function */
    uintptr_t offset; /* bytes into the module, as addr2line takes it */
};

void symbol_find(uintptr_t address, struct symbol *symbol);

#endif
