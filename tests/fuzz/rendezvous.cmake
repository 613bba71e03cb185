# SPDX-License-Identifier: Apache-2.0
fuzz_test(tcpstore rb_rendezvous rb_common)
