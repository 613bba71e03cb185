/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.c - provides the certificates of TLS sessions */
#include "server/http/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

struct certificate {
    gnutls_certificate_credentials_t credentials;
    size_t uses;
};

struct certificate *certificate_create(char *chain, char *key, struct error *err)
{
    const gnutls_datum_t chain_pem = {(unsigned char *)chain, (unsigned)strlen(chain)};
    const gnutls_datum_t key_pem = {(unsigned char *)key, (unsigned)strlen(key)};
    struct certificate *certificate =
        memory_zeroed(1, sizeof(*certificate), "a certificate");
    int rc;

    if (gnutls_certificate_allocate_credentials(&certificate->credentials))
        memory_out("a certificate");
    certificate->uses = 1;
    rc = gnutls_certificate_set_x509_key_mem(certificate->credentials, &chain_pem,
                                             &key_pem, GNUTLS_X509_FMT_PEM);
    if (rc < 0) {
        error_set(err, ERROR_INVALID, "cannot use the certificate and its key: %s",
                  gnutls_strerror(rc));
        certificate_release(certificate);
        return NULL;
    }
    return certificate;
}

struct certificate *certificate_give(struct certificate *certificate,
                                     gnutls_session_t session)
{
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, certificate->credentials);
    certificate->uses++;
    return certificate;
}

void certificate_release(struct certificate *certificate)
{
    if (!certificate || --certificate->uses > 0)
        return;
    gnutls_certificate_free_credentials(certificate->credentials);
    free(certificate);
}
