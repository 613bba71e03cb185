/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - find the exported function and the file of an address
 *
 * dladdr and backtrace_symbols_fd wait for the dynamic linker's lock, which a thread that
 * hangs in dlopen holds. symbol_find() reads the same tables without that lock and
 * allocates no memory. */
#ifndef RINGBENCH_WORKER_BASE_SYMBOLS_H
#define RINGBENCH_WORKER_BASE_SYMBOLS_H

#include <stdint.h>

struct symbol {
    char module[64];  /* the file's base name; "?": not known */
    char name[80];    /* the function's name; "": not exported */
    uintptr_t into;   /* offset in the function */
    uintptr_t offset; /* offset in the module, for addr2line */
};

void symbol_find(uintptr_t address, struct symbol *symbol);

#endif
