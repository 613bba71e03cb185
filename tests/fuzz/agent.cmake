# SPDX-License-Identifier: Apache-2.0
fuzz_test(agent_lines rb_agent)
fuzz_test(pci rb_agent)
