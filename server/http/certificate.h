/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h - the certificates of TLS sessions
 *
 * The library uses one certificate for its lifetime. To replace it, each new session gets
 * a newer one. Sessions keep the certificate they began with, so uses are counted. */
#ifndef RINGBENCH_SERVER_HTTP_CERTIFICATE_H
#define RINGBENCH_SERVER_HTTP_CERTIFICATE_H

#include <gnutls/gnutls.h>

#include "common/base/error.h"

struct certificate;

/* Parse PEM texts (only read), the chain and its key; the use count is 1. NULL if they do
 * not match. */
struct certificate *certificate_create(char *chain, char *key, struct error *err);

/* Add a use by a session that has not begun its handshake. */
struct certificate *certificate_give(struct certificate *certificate,
                                     gnutls_session_t session);

/* Remove a use; the last one frees the certificate. Accepts NULL. */
void certificate_release(struct certificate *certificate);

#endif
