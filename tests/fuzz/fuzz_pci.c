/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pci.c - configuration spaces of bridges: what a device says of itself */
#include "agent/inventory/pci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int redirects = pci_redirects(data, size);

    if (redirects < -1 || redirects > 1)
        __builtin_trap();
    return 0;
}
