/* nccl_hca.h - NCCL_IB_HCA, "[^][=]NAME[:PORT],...": which RDMA ports NCCL may take.
 * Names match by their beginning, those behind `=` as a whole (NCCL, src/misc/utils.cc,
 * parseStringList and matchIfList). */
#ifndef RINGBENCH_SERVER_ANALYSIS_NCCL_HCA_H
#define RINGBENCH_SERVER_ANALYSIS_NCCL_HCA_H

#include <stdbool.h>

/* Whether a port of a device is in the list, whatever is to become of it. is_whole: names
 * match as a whole in any case. */
bool nccl_hca_has(const char *value, const char *device, int port, bool is_whole);

/* Whether NCCL may take it; "" is no list. */
bool nccl_hca_allows(const char *value, const char *device, int port);

#endif
