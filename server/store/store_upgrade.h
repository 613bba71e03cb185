/* store_upgrade.h - what bringing a database up to date says while it goes on, which is
 * before the server listens: to the log, and to systemd, which gives up on starts that
 * are silent */
#ifndef RINGBENCH_SERVER_STORE_STORE_UPGRADE_H
#define RINGBENCH_SERVER_STORE_STORE_UPGRADE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct store_upgrade {
    sqlite3 *db;
    int64_t began_ns, next_ns; /* 0: nothing to do so far */
    int64_t done, total;       /* results that got their records */
};

/* From now on what `db` does is watched. All zero before. */
void store_upgrade_watch(struct store_upgrade *upgrade, sqlite3 *db);

/* Say that it begins, from one version of the schema to another. */
void store_upgrade_begin(struct store_upgrade *upgrade, int from, int to);

/* Say how far it is, if that is due by now; the watch does so by itself. */
void store_upgrade_tick(struct store_upgrade *upgrade, int64_t now_ns);

/* The watch ends; what it took is said, if anything was done and it is whole. */
void store_upgrade_end(struct store_upgrade *upgrade, bool is_whole);

#endif
