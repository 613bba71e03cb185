/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_hca.h - decides which RDMA ports NCCL may use, from NCCL_IB_HCA:
 * "[^][=]NAME[:PORT],..."
 *
 * Names match as prefixes, or as whole names after `=` (NCCL, src/misc/utils.cc,
 * parseStringList and matchIfList). */
#ifndef RINGBENCH_SERVER_ANALYSIS_NCCL_HCA_H
#define RINGBENCH_SERVER_ANALYSIS_NCCL_HCA_H

#include <stdbool.h>

/* Return true if the list contains a device's port. A leading `^` is ignored. is_whole:
 * names must match as a whole, even without `=`. */
bool nccl_hca_has(const char *value, const char *device, int port, bool is_whole);

/* Return true if NCCL may use the port. "" allows all ports. */
bool nccl_hca_allows(const char *value, const char *device, int port);

#endif
