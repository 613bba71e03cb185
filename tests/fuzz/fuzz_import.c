/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_import.c - files of other benchmarks: whatever somebody uploads */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/import/encoding.h"
#include "server/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct import_table *table)
{
    if (table->n_rows == 0 || table->collective < 0 || table->ranks < 1)
        abort();
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct import_row *row = &table->rows[i];

        if (row->size > INT64_MAX || !isfinite(row->time_us) || !isfinite(row->busbw_gbs))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct import_hints hints = {.collective = 0, .ranks = 4};
    struct import import;
    struct error err;
    char *text = malloc(size + 1);
    size_t len = size;

    if (!text)
        return 0;
    memcpy(text, data, size);
    if (import_decode(&text, &len, &err)) {
        free(text);
        return 0;
    }
    if (import_read(text, len, &import, &err) == 0 &&
        import_settle(&import, &hints, &err) == 0)
        for (size_t i = 0; i < import.n_tables; i++)
            check(&import.tables[i]);
    if (import.n_rows > IMPORT_ROWS_MAX ||
        json_array_size(import.unread) > IMPORT_NOTES_MAX)
        abort();
    import_release(&import);
    free(text);
    return 0;
}
