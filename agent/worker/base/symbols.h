/* symbols.h - what code an address belongs to, from the symbol tables of the files that
 * it was loaded from
 *
 * Unlike dladdr this needs no lock, so that it answers also while another thread is stuck
 * inside of dlopen, and it knows static functions where the file was not stripped. It
 * allocates no memory. */
#ifndef RINGBENCH_WORKER_BASE_SYMBOLS_H
#define RINGBENCH_WORKER_BASE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The file looked at last, mapped. */
struct symbols {
    const void *module; /* its link map; NULL: none */
    const unsigned char *file;
    size_t len; /* 0: can't be read */
};

struct symbol {
    char module[64];  /* the file's name without its folders; "?": none known */
    char name[80];    /* the function's, "" if there is none */
    uintptr_t into;   /* the function, bytes */
    uintptr_t offset; /* into the module, as addr2line wants it */
};

/* `symbols` is all zero at first. */
void symbols_find(struct symbols *symbols, uintptr_t address, struct symbol *symbol);
void symbols_release(struct symbols *symbols);

#endif
