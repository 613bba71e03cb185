/* SPDX-License-Identifier: Apache-2.0 */
/* auth.c - reads the token file and checks the tokens of requests */
#include "server/http/auth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/secret_file.h"

#define TOKEN_MIN 16
#define TOKEN_SIZE 256 /* including the final NUL; a comparison covers all bytes */
#define TOKENS_MAX 1000
#define LINE_MAX_BYTES 512

#define BIT(role) (1u << (role))
#define EVERY_ROLE (BIT(ROLE_VIEWER) | BIT(ROLE_OPERATOR) | BIT(ROLE_AGENT))

struct token {
    unsigned roles;
    char text[TOKEN_SIZE]; /* padded with NULs */
    char name[HTTP_AUTH_NAME_MAX + 1];
};

struct http_auth {
    struct token *tokens;
    size_t count, capacity;
};

static int parse_role(const char *word, unsigned *roles)
{
    if (!strcmp(word, "viewer"))
        *roles = BIT(ROLE_VIEWER);
    else if (!strcmp(word, "operator"))
        *roles = BIT(ROLE_OPERATOR) | BIT(ROLE_VIEWER);
    else if (!strcmp(word, "agent"))
        *roles = BIT(ROLE_AGENT) | BIT(ROLE_VIEWER);
    else
        return -1;
    return 0;
}

static int add_token(struct http_auth *auth, const char *text, unsigned roles,
                     const char *name, int line, struct error *err)
{
    size_t len = strlen(text);
    struct token *token;

    if (len < TOKEN_MIN || len >= TOKEN_SIZE)
        return error_set(
            err, ERROR_INVALID,
            "line %d: the token must be %d to %d characters long; its length is %zu",
            line, TOKEN_MIN, TOKEN_SIZE - 1, len);
    for (const char *p = text; *p; p++) {
        if (*p < '!' || *p > '~')
            return error_set(err, ERROR_INVALID,
                             "line %d: a token may contain only visible ASCII characters",
                             line);
    }
    if (auth->count == TOKENS_MAX)
        return error_set(err, ERROR_LIMIT, "the file contains more than %d tokens",
                         TOKENS_MAX);
    auth->tokens = memory_grown(auth->tokens, auth->count, &auth->capacity,
                                sizeof(*auth->tokens), "tokens");
    token = &auth->tokens[auth->count++];
    *token = (struct token){.roles = roles};
    memcpy(token->text, text, len);
    snprintf(token->name, sizeof(token->name), "%s", name);
    return 0;
}

static int parse_line(struct http_auth *auth, char *text, int line, struct error *err)
{
    static const char blanks[] = " \t\r\n";
    static const char name_characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        "0123456789._-@";
    char *save = NULL, *first, *second, *name;
    unsigned roles = EVERY_ROLE;

    first = strtok_r(text, blanks, &save);
    if (!first || *first == '#')
        return 0;
    second = strtok_r(NULL, blanks, &save);
    if (!second)
        return add_token(auth, first, roles, "", line, err);
    name = strtok_r(NULL, blanks, &save);
    if (name && strtok_r(NULL, blanks, &save))
        return error_set(err, ERROR_INVALID, "line %d: expected ROLE TOKEN [NAME]", line);
    if (name &&
        (strlen(name) > HTTP_AUTH_NAME_MAX || name[strspn(name, name_characters)]))
        return error_set(err, ERROR_INVALID,
                         "line %d: NAME may have at most %d letters, digits and . _ - @",
                         line, HTTP_AUTH_NAME_MAX);
    if (parse_role(first, &roles))
        return error_set(err, ERROR_INVALID,
                         "line %d: ROLE must be viewer, operator or agent", line);
    return add_token(auth, second, roles, name ? name : "", line, err);
}

static int read_tokens(struct http_auth *auth, FILE *file, struct error *err)
{
    char text[LINE_MAX_BYTES];

    for (int line = 1; fgets(text, sizeof(text), file); line++) {
        if (!strchr(text, '\n') && !feof(file))
            return error_set(err, ERROR_INVALID, "line %d is too long", line);
        if (parse_line(auth, text, line, err))
            return -1;
    }
    if (ferror(file))
        return error_set_errno(err, ERROR_IO, errno, "cannot read");
    if (auth->count == 0)
        return error_set(err, ERROR_INVALID, "the file contains no token");
    return 0;
}

struct http_auth *http_auth_load(const char *path, struct error *err)
{
    FILE *file = secret_file_open("token file", path, err);
    struct http_auth *auth;

    if (!file)
        return NULL;
    auth = memory_zeroed(1, sizeof(*auth), "tokens");
    if (read_tokens(auth, file, err)) {
        error_prefix(err, "token file %s", path);
        http_auth_destroy(auth);
        auth = NULL;
    }
    fclose(file);
    return auth;
}

void http_auth_destroy(struct http_auth *auth)
{
    if (!auth)
        return;
    if (auth->tokens)
        explicit_bzero(auth->tokens, auth->count * sizeof(*auth->tokens));
    free(auth->tokens);
    free(auth);
}

/* Return the token's roles from all lines that contain it, and its user's name. Every
 * entry is compared over its whole size, so the duration reveals nothing about a guessed
 * token. */
static unsigned token_roles(const struct http_auth *auth, const char *token,
                            const char **name)
{
    char given[TOKEN_SIZE] = {0};
    size_t len = token ? strlen(token) : 0;
    unsigned roles = 0;

    if (len < TOKEN_MIN || len >= TOKEN_SIZE)
        return 0;
    memcpy(given, token, len + 1);
    for (size_t i = 0; i < auth->count; i++) {
        unsigned difference = 0;

        for (size_t j = 0; j < TOKEN_SIZE; j++)
            difference |= (unsigned)(auth->tokens[i].text[j] ^ given[j]) & 0xffu;
        roles |= auth->tokens[i].roles & (0u - (unsigned)(difference == 0));
        *name = difference || !auth->tokens[i].name[0] ? *name : auth->tokens[i].name;
    }
    return roles;
}

const char *http_auth_name(const struct http_auth *auth, const char *token)
{
    const char *name = NULL;

    token_roles(auth, token, &name);
    return name;
}

const char *http_auth_bearer(const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    return authorization + 7 + strspn(authorization + 7, " ");
}

int http_auth_check_token(const struct http_auth *auth, const char *token,
                          enum http_role role)
{
    const char *name = NULL;
    unsigned roles = token_roles(auth, token, &name);

    if (role == ROLE_NONE)
        return 0;
    if (roles == 0)
        return 401;
    return roles & BIT(role) ? 0 : 403;
}

int http_auth_check(const struct http_auth *auth, const char *authorization,
                    enum http_role role)
{
    return http_auth_check_token(auth, http_auth_bearer(authorization), role);
}
