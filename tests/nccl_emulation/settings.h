/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - properties and faults of the emulated libraries
 *
 * RINGBENCH_EMULATION is a list NAME[@RANK][=VALUE],... An item with a rank applies only
 * to that rank. A rank that does not exist ends the process. Of equal names the last
 * counts.
 *
 *   devices=N         number of GPUs (2)       memory_mib=N   memory of each (1024)
 *   cuda=N driver=N   versions (13000)         nccl=N         version (22809)
 *   no_driver no_device                        same_gpu       all GPUs have the same UUID
 *   sm=N              compute capability of the GPU, times 10 (90)
 *   ib=N gdr          HCAs in the log (0: sockets), and GPUDirect
 *   oom=BYTES         allocations of at least this size fail
 *   init_mib=N        memory of a communicator (0)
 *   no_windows        no symmetric memory: registration behaves as in that version
 *   no_vmm            ncclMemAlloc returns memory that does not support windows
 *   no_nccl_memory    ncclMemAlloc fails
 *   other_window      the rank's buffers are 2 MiB larger than requested
 *   no_kernels        kernels cannot be loaded
 *   no_fatbin         a fatbin cannot be loaded, but PTX that the driver knows can
 *   lazy_kernels      with no_kernels or no_fatbin: loading fails only at the launch
 *   gpu_fault=K       the K-th operation on a stream (from 1) ends in a CUDA error
 *   init_hangs init_fails destroy_hangs
 *   hang_load         loading the CUDA runtime hangs
 *   hang_cudaFree=K   the K-th call hangs; also hang_cudaSetDevice, hang_cudaMalloc,
 *                     hang_cudaMemcpyAsync, hang_cudaEventRecord,
 *                     hang_cudaStreamQuery, hang_cudaStreamDestroy
 *   register_hangs    registering a buffer or window hangs
 *   group_hangs=K     the K-th end of a group hangs; a single call is a group, too
 *   async_error=K     the K-th collective never ends, and NCCL reports a remote error
 *   stall=K           the same without a report
 *   die=K             the process is killed at the K-th collective
 *   warn=K            NCCL logs a warning at the K-th collective and continues
 *   slow_us=N         delay before each collective
 *   launch_us=N       time of the caller in each launch
 *   slow_once=K       a delay of 100 ms before the K-th collective
 *   connect_ms=N      time per peer of the first call with sends and receives
 *   slow_links=K      the K-th query of the links' counters takes 3 s
 *   slow_link         GPU 0 has a narrow link in the topology
 *   algo=N            NCCL's number of the algorithm (default: by size)
 *   symmetric         symmetric kernels, if buffers are registered
 *   scribble=INDEX    this element of a buffer that receives nothing is changed
 *   wrong=INDEX       this element of each result is wrong
 *
 * Expectations of a test; a call that does not meet them fails as invalid:
 *   expect_cta=P      CTAPolicy of the communicator
 *   expect_peers=N    maxP2pPeers of the communicator, -1: not set
 *   expect_null_stream
 *   expect_registered both buffers of each collective are registered
 *   expect_own_data   no two ranks have the same input of a reduction
 *   expect_shift=B    the buffers start B bytes after a multiple of 16 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_SETTINGS_H
#define RINGBENCH_TESTS_NCCL_EMULATION_SETTINGS_H

#include <stdatomic.h>

/* The item's value; 1 for an item without a value; `absent` without the item. */
long emulation_setting(const char *name, long absent);

/* The calls of one function in this process. */
struct emulation_calls {
    atomic_long n, hangs; /* hangs: the setting plus 1; 0: not read yet */
};

/* Count a call. Never returns from the call whose number is in the setting. */
void emulation_may_hang(const char *name, struct emulation_calls *calls);

/* Signal a test that this rank hangs: create the file in RINGBENCH_EMULATION_MARK, with
 * ".RANK" appended. Without the variable, do nothing. */
void emulation_mark(void);

/* Signal the test, and never return. */
_Noreturn void emulation_hang(void);

#endif
