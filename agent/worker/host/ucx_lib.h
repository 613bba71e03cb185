/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_lib.h - load UCX at run time */
#ifndef RINGBENCH_WORKER_HOST_UCX_LIB_H
#define RINGBENCH_WORKER_HOST_UCX_LIB_H

#include <ucp/api/ucp.h>

#include "common/base/error.h"

/* X(member of struct ucx_lib, UCX's function) */
#define UCX_FUNCTIONS(X)                                                                 \
    X(config_read, ucp_config_read)                                                      \
    X(config_release, ucp_config_release)                                                \
    X(init, ucp_init_version)                                                            \
    X(cleanup, ucp_cleanup)                                                              \
    X(worker_create, ucp_worker_create)                                                  \
    X(worker_destroy, ucp_worker_destroy)                                                \
    X(get_address, ucp_worker_get_address)                                               \
    X(release_address, ucp_worker_release_address)                                       \
    X(progress, ucp_worker_progress)                                                     \
    X(flush, ucp_worker_flush_nbx)                                                       \
    X(ep_create, ucp_ep_create)                                                          \
    X(ep_close, ucp_ep_close_nbx)                                                        \
    X(ep_print, ucp_ep_print_info)                                                       \
    X(send, ucp_stream_send_nbx)                                                         \
    X(recv, ucp_stream_recv_data_nb)                                                     \
    X(release, ucp_stream_data_release)                                                  \
    X(status, ucp_request_check_status)                                                  \
    X(request_free, ucp_request_free)                                                    \
    X(status_text, ucs_status_string)

struct ucx_lib {
#define UCX_MEMBER(member, function) __typeof__(&function) member;
    UCX_FUNCTIONS(UCX_MEMBER)
#undef UCX_MEMBER
};

/* RINGBENCH_UCX_LIB names another library, for tests. */
int ucx_lib_open(struct ucx_lib *lib, struct error *err);

#endif
