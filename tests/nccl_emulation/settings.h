/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - what the emulated libraries are told to be, and to do wrong
 *
 * RINGBENCH_EMULATION is a list NAME[@RANK][=VALUE],...; an item with a rank counts only
 * in the process whose RANK that is. Of items with one name the last one counts.
 *
 *   devices=N         GPUs (2)                 memory_mib=N   of each (1024)
 *   cuda=N driver=N   versions (13000)         nccl=N         version (22809)
 *   no_driver no_device                        same_gpu       all have one UUID
 *   sm=N              the GPU's compute capability, times 10 (90)
 *   ib=N gdr          HCAs that it says it uses (0: sockets), and GPUDirect
 *   oom=BYTES         allocations of so many bytes or more fail
 *   init_mib=N        memory that a communicator takes (0)
 *   no_windows        no symmetric memory: registration gives what the version gives then
 *   no_vmm            ncclMemAlloc gives memory that no window can be of
 *   no_nccl_memory    ncclMemAlloc fails
 *   other_window      the rank's buffers are 2 MiB larger than it asked for
 *   no_kernels        the kernels can't be loaded
 *   no_fatbin         nor can a fatbin be, but PTX that the driver knows
 *   lazy_kernels      that shows when one is to run
 *   gpu_fault=K       the K-th operation on a stream (from 1) ends in a CUDA error
 *   init_hangs init_fails destroy_hangs
 *   hang_load         the CUDA runtime does not come back from being loaded
 *   hang_cudaFree=K   the K-th call of it never returns; so do hang_cudaSetDevice,
 *                     hang_cudaMalloc, hang_cudaMemcpyAsync, hang_cudaEventRecord,
 *                     hang_cudaStreamQuery, hang_cudaStreamDestroy
 *   register_hangs    registering a buffer or window never returns
 *   group_hangs=K     the K-th end of a group, a single call's too, never returns
 *   async_error=K     the K-th collective never ends, and NCCL reports a remote error
 *   stall=K           the same without a report
 *   die=K             the process is killed at the K-th collective
 *   warn=K            NCCL warns at the K-th collective, and goes on
 *   slow_us=N         before each collective
 *   launch_us=N       the caller waits that long in each launch
 *   slow_once=K       before the K-th collective, 100 ms
 *   connect_ms=N      the first call that sends and receives takes that for each peer
 *   slow_links=K      the K-th look at what links carried takes 3 s
 *   slow_link         GPU 0's link is narrow, in the topology
 *   algo=N            NCCL's number of the algorithm (by the size)
 *   symmetric         symmetric kernels, where buffers are registered
 *   scribble=INDEX    that element of a buffer that nothing is received into is spoiled
 *   wrong=INDEX       that element of each result is spoiled
 *
 * What a test expects of the worker; a call that is otherwise fails as invalid:
 *   expect_cta=P      CTAPolicy of the communicator
 *   expect_peers=N    maxP2pPeers of the communicator, -1: not set
 *   expect_null_stream
 *   expect_registered both buffers of each collective lie in registered memory
 *   expect_own_data   no two ranks have the same for a reduction
 *   expect_shift=B    the buffers lie B bytes behind a multiple of 16 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_SETTINGS_H
#define RINGBENCH_TESTS_NCCL_EMULATION_SETTINGS_H

#include <stdatomic.h>

/* The item's value, 1 if it has none; `absent` if there is no such item. */
long emulation_setting(const char *name, long absent);

/* Calls of one function, in this process. */
struct emulation_calls {
    atomic_long n, hangs; /* hangs: the setting, and 1 more; 0: not read yet */
};

/* Count a call; never return from the one that the setting names. */
void emulation_may_hang(const char *name, struct emulation_calls *calls);

/* Tell a test that this rank hangs: create the file that RINGBENCH_EMULATION_MARK names,
 * with ".RANK" appended. Without the variable, do nothing. */
void emulation_mark(void);

/* Mark, and never return. */
_Noreturn void emulation_hang(void);

#endif
