/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h - provides the certificates of TLS sessions
 *
 * The library keeps the certificate with which it was started. To replace it, the server
 * sets a newer certificate in each new session. A session uses its certificate until it
 * ends, so uses are counted. */
#ifndef RINGBENCH_SERVER_HTTP_CERTIFICATE_H
#define RINGBENCH_SERVER_HTTP_CERTIFICATE_H

#include <gnutls/gnutls.h>

#include "common/base/error.h"

struct certificate;

/* Parse the chain and its key from PEM texts, which are not modified. The use count is 1.
 * NULL if chain and key do not match. */
struct certificate *certificate_create(char *chain, char *key, struct error *err);

/* Set the certificate of a session that has not begun its handshake, and increment the
 * use count. */
struct certificate *certificate_give(struct certificate *certificate,
                                     gnutls_session_t session);

/* Decrement the use count. The certificate is freed with its last use. NULL is ignored.
 */
void certificate_release(struct certificate *certificate);

#endif
