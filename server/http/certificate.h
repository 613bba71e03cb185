/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h - what a TLS connection shows its client
 *
 * The library takes one certificate for life. To change it, each new session is given
 * ours in its place; sessions that began with the one before keep that, so it is counted.
 */
#ifndef RINGBENCH_SERVER_HTTP_CERTIFICATE_H
#define RINGBENCH_SERVER_HTTP_CERTIFICATE_H

#include <gnutls/gnutls.h>

#include "common/base/error.h"

struct certificate;

/* From PEM texts (only read), the chain and its key; used once. NULL if they don't fit.
 */
struct certificate *certificate_create(char *chain, char *key, struct error *err);

/* Used once more, by a session that has not begun its handshake. */
struct certificate *certificate_give(struct certificate *certificate,
                                     gnutls_session_t session);

/* Used once less; the last one frees it. Takes NULL. */
void certificate_release(struct certificate *certificate);

#endif
