/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lib.h - load the CUDA Runtime and the driver's library at run time */
#ifndef RINGBENCH_WORKER_NCCL_CUDA_LIB_H
#define RINGBENCH_WORKER_NCCL_CUDA_LIB_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "common/base/error.h"

struct cuda_functions {
    const char *(*error_string)(int);
    int (*runtime_version)(int *);
    int (*driver_version)(int *);
    int (*device_count)(int *);
    int (*set_device)(int);
    int (*properties)(struct cuda_properties *, int);
    int (*attribute)(int *, int, int);
    int (*pci_bus_id)(char *, int, int);
    int (*mem_info)(size_t *, size_t *);
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*memcpy_async)(void *, const void *, size_t, int, cuda_stream);
    int (*memset_async)(void *, int, size_t, cuda_stream);
    int (*stream_create)(cuda_stream *, unsigned);
    int (*stream_destroy)(cuda_stream);
    int (*stream_query)(cuda_stream);
    int (*event_create)(cuda_event *);
    int (*event_destroy)(cuda_event);
    int (*event_record)(cuda_event, cuda_stream);
    int (*event_query)(cuda_event);
    int (*event_elapsed_ms)(float *, cuda_event, cuda_event);
    int (*get_last_error)(void);
    int (*capture_begin)(cuda_stream, int);
    int (*capture_end)(cuda_stream, cuda_graph *);
    int (*graph_instantiate)(cuda_graph_exec *, cuda_graph, unsigned long long);
    int (*graph_launch)(cuda_graph_exec, cuda_stream);
    int (*graph_exec_destroy)(cuda_graph_exec);
    int (*graph_destroy)(cuda_graph);
    /* Exists only in the tests' emulation of the library. */
    const int *emulated;
};

struct cuda_lib {
    struct cuda_functions call;
    int runtime, driver; /* CUDA versions: 13000 is 13.0; driver 0: no driver */
    const char *path;
    bool is_emulated;
};

/* Load the first of the usual libraries that the driver supports. If RINGBENCH_CUDART_LIB
 * is set, only that file is tried. */
int cuda_lib_load(struct cuda_lib *cuda, struct error *err);

/* The driver's functions for kernels. Runtimes before 12.8 cannot load kernels, but every
 * driver can. Error codes are those of the runtime. */
struct cuda_driver {
    int (*module_load_data)(cuda_module *, const void *);
    int (*module_get_function)(cuda_function *, cuda_module, const char *);
    int (*launch_kernel)(cuda_function, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, unsigned, cuda_stream, void **, void **);
};

/* Load libcuda.so.1, which the runtime uses. The tests' runtime contains the functions
 * itself. */
int cuda_driver_load(const struct cuda_lib *cuda, struct cuda_driver *driver,
                     struct error *err);

/* Set "WHAT: the runtime's text (CUDA error N)". Returns -1. */
int cuda_failed(const struct cuda_lib *cuda, int code, const char *what,
                struct error *err);

/* Format a version: 13000 is "13.0". */
#define CUDA_VERSION_TEXT_MAX 16
const char *cuda_version_text(int version, char text[CUDA_VERSION_TEXT_MAX]);

#endif
