/* table.h - what the emulated NCCL 2.18 and 2.19 print of what they choose by */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_TABLE_H
#define RINGBENCH_TESTS_NCCL_EMULATION_TABLE_H

/* When a communicator of n is formed. */
void table_say(int rank, int n);

#endif
