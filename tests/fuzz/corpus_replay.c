/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_replay.c - gives a fuzzer's function the files of its corpus, once each, in any
 * build
 *
 *     corpus_replay ncclog FILE...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_nouns.h" /* CMake writes it */

/* Its result is for libFuzzer alone. */
typedef int fuzz_fn(const uint8_t *data, size_t size);

/* CORPUS_NOUNS(X) is X(noun) for each fuzz_noun.c that has a corpus; its function is
 * called fuzz_noun here. */
#define DECLARE(noun) fuzz_fn fuzz_##noun;
CORPUS_NOUNS(DECLARE)

#define ENTRY(noun) {#noun, fuzz_##noun},
static const struct {
    const char *noun;
    fuzz_fn *fn;
} table[] = {CORPUS_NOUNS(ENTRY)};

static fuzz_fn *find(const char *noun)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strcmp(table[i].noun, noun) == 0)
            return table[i].fn;
    return NULL;
}

/* The data is in a block of its size, so that a sanitizer sees each read beyond it. */
static int replay(fuzz_fn *fn, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;
    int rc = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0)
        data = malloc(size ? (size_t)size : 1);
    if (data && fseek(file, 0, SEEK_SET) == 0 &&
        fread(data, 1, (size_t)size, file) == (size_t)size)
        rc = 0;
    if (rc == 0)
        fn(data, (size_t)size);
    else
        perror(path);
    free(data);
    if (file)
        fclose(file);
    return rc;
}

int main(int argc, char **argv)
{
    fuzz_fn *fn = argc > 2 ? find(argv[1]) : NULL;
    int failed = 0;

    if (!fn) {
        fprintf(stderr, "usage: %s NOUN FILE...\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        failed += replay(fn, argv[i]) != 0;
    return failed > 0;
}
