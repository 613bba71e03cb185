/* ras.h - the emulated NCCL's RAS: where NCCL_RAS_ADDR names a port it answers as 2.28.9
 * does, missing comma included; as text where the version has no JSON */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_RAS_H
#define RINGBENCH_TESTS_NCCL_EMULATION_RAS_H

struct ncclComm;

/* Answer for this communicator from now on, and no longer. */
void ras_begin(struct ncclComm *comm);
void ras_end(struct ncclComm *comm);

#endif
