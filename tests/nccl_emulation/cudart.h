/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.h - the emulated CUDA runtime: "GPU" memory is host memory, streams are threads
 *
 * It has the functions that agent/worker/nccl/cuda_lib.c binds. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_CUDART_H
#define RINGBENCH_TESTS_NCCL_EMULATION_CUDART_H

#include <stddef.h>

#include "agent/worker/nccl/cuda_abi.h"

extern const int ringbench_emulated;

const char *cudaGetErrorString(int code);
int cudaGetLastError(void);
int cudaRuntimeGetVersion(int *version);
int cudaDriverGetVersion(int *version);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaGetDeviceProperties(struct cuda_properties *properties, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaDeviceGetPCIBusId(char *text, int len, int device);
int cudaMemGetInfo(size_t *free_bytes, size_t *total);
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *memory);
int cudaMemcpyAsync(void *to, const void *from, size_t len, int kind, cuda_stream stream);
int cudaMemsetAsync(void *to, int byte, size_t len, cuda_stream stream);
int cudaStreamCreateWithFlags(cuda_stream *out, unsigned flags);
int cudaStreamDestroy(cuda_stream stream);
int cudaStreamQuery(cuda_stream stream);
int cudaStreamBeginCapture(cuda_stream stream, int mode);
int cudaStreamEndCapture(cuda_stream stream, cuda_graph *out);
int cudaGraphInstantiateWithFlags(cuda_graph_exec *out, cuda_graph graph,
                                  unsigned long long flags);
int cudaGraphLaunch(cuda_graph_exec exec, cuda_stream stream);
int cudaGraphExecDestroy(cuda_graph_exec exec);
int cudaGraphDestroy(cuda_graph graph);
int cudaEventCreate(cuda_event *out);
int cudaEventDestroy(cuda_event event);
int cudaEventRecord(cuda_event event, cuda_stream stream);
int cudaEventQuery(cuda_event event);
int cudaEventElapsedTime(float *ms, cuda_event start, cuda_event end);
/* The driver's */
int cuModuleLoadData(cuda_module *out, const void *image);
int cuModuleGetFunction(cuda_function *out, cuda_module module, const char *name);
int cuLaunchKernel(cuda_function kernel, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, cuda_stream stream, void **arguments,
                   void **more);

#endif
