/* stats.mjs - result rows made into series to plot and table rows to read. No DOM. */

export function median(values) {
    if (values.length === 0) {
        return null;
    }
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* What busbw is of algbw, as nccl-tests defines it, for n ranks. */
export function busFactor(collective, n) {
    switch (collective) {
    case 'all_reduce':
        return (2 * (n - 1)) / n;
    case 'all_gather':
    case 'reduce_scatter':
    case 'alltoall':
    case 'gather':
    case 'scatter':
        return (n - 1) / n;
    default:
        return 1;
    }
}

/* A row's line in a plot, in words and without the placement. */
export function lineLabel(row) {
    const parts = [row.collective, row.dtype];
    if (row.redop && row.redop !== 'none') {
        parts.push(row.redop);
    }
    if (row.root >= 0) {
        parts.push(`root ${row.root}`);
    }
    return parts.join(' · ');
}

export const placement = row => (row.in_place ? 'in place' : 'out of place');

export function seriesKey(row) {
    return [
        row.collective, row.dtype, row.redop, row.root, row.in_place ? 'in' : 'out'
    ].join('/');
}

const lineKey = row => [row.collective, row.dtype, row.redop, row.root].join('/');

/* The repeats of one row as one figure: medians, and the widest bounds that any repeat
 * or rank saw. A bandwidth times its time is the same for all of them (the bytes that
 * count), so the bounds of bandwidths follow from the times'. */
export function summarise(rows) {
    const timed = rows.filter(row => row.skipped === undefined);
    const checked = timed.filter(row => row.wrong !== null && row.wrong !== undefined);
    const low = Math.min(...timed.map(row => row.time_min_us ?? row.time_us));
    const high = Math.max(...timed.map(row => row.time_max_us ?? row.time_us));
    const bounds = key => (timed.length === 0 ? null : [high,
        low].map(time => timed[0][key] * timed[0].time_us / time));
    return {
        rows,
        repeats: timed.length,
        time_us: median(timed.map(row => row.time_us)),
        time_bounds_us: timed.length ? [low, high] : null,
        algbw_gbs: median(timed.map(row => row.algbw_gbs)),
        algbw_bounds_gbs: bounds('algbw_gbs'),
        busbw_gbs: median(timed.map(row => row.busbw_gbs)),
        busbw_bounds_gbs: bounds('busbw_gbs'),
        wrong: checked.length ? checked.reduce((sum, row) => sum + row.wrong, 0) : null,
        skipped: timed.length ? undefined : rows[0]?.skipped
    };
}

/* One line per series: {key, label, row, points}, in the order in which they first came;
 * points are sorted by size and carry `summarise`'s figures. */
export function buildSeries(rows) {
    const series = new Map();
    for (const row of rows) {
        const key = seriesKey(row);
        let line = series.get(key);
        if (!line) {
            line = {
                key,
                collective: row.collective,
                label: lineLabel(row),
                lineKey: lineKey(row),
                inPlace: row.in_place,
                bySize: new Map()
            };
            series.set(key, line);
        }
        const at = line.bySize.get(row.size);
        if (at) {
            at.push(row);
        } else {
            line.bySize.set(row.size, [row]);
        }
    }
    for (const line of series.values()) {
        line.points =
            [...line.bySize.entries()].sort((a, b) => a[0] - b[0]).map(([size,
                group]) => ({size, ...summarise(group)}));
        delete line.bySize;
    }
    return [...series.values()];
}

/* One table row per size and line, with the out-of-place and the in-place figures side by
 * side. Two asked sizes may round to the same one: they keep a row each. */
export function pivot(rows) {
    const table = new Map();
    for (const row of rows) {
        const base = `${lineKey(row)}/${row.size}`;
        const side = row.in_place ? 'in' : 'out';
        let entry = null;
        for (let n = 0; entry === null; n += 1) {
            const key = n === 0 ? base : `${base}#${n}`;
            const found = table.get(key);
            if (!found) {
                entry = newPivotRow(key, row);
                table.set(key, entry);
            } else if (found.index[side] === undefined || found.index[side] === row.row) {
                entry = found;
            }
        }
        entry.index[side] = row.row;
        entry.order = Math.min(entry.order, row.row);
        entry.sides[side].push(row);
    }
    return [...table.values()]
        .sort((a, b) => a.order - b.order)
        .map(({ index, sides, ...entry }) => ({
            ...entry,
            out: sides.out.length ? summarise(sides.out) : null,
            in: sides.in.length ? summarise(sides.in) : null
        }));
}

function newPivotRow(key, row) {
    return {
        key,
        order: row.row,
        collective: row.collective,
        dtype: row.dtype,
        redop: row.redop,
        root: row.root,
        size: row.size,
        count: row.count,
        index: {},
        sides: {out: [], in : []}
    };
}

const SORT_VALUES = {
    size: entry => entry.size,
    count: entry => entry.count,
    type: entry => `${entry.collective} ${entry.dtype} ${entry.redop} ${entry.root}`,
    out_time: entry => entry.out?.time_us,
    out_algbw: entry => entry.out?.algbw_gbs,
    out_busbw: entry => entry.out?.busbw_gbs,
    out_wrong: entry => entry.out?.wrong,
    in_time: entry => entry.in?.time_us,
    in_algbw: entry => entry.in?.algbw_gbs,
    in_busbw: entry => entry.in?.busbw_gbs,
    in_wrong: entry => entry.in?.wrong
};

/* Sorted by a column, "size" or "-size"; what has no figure comes last both ways. An
 * unknown column leaves the order of measuring. */
export function sortPivot(entries, order) {
    const descending = order.startsWith('-');
    const value = SORT_VALUES[descending ? order.slice(1) : order];
    if (!value) {
        return entries;
    }
    const sign = descending ? -1 : 1;
    return [...entries].sort((a, b) => {
        const x = value(a) ?? null;
        const y = value(b) ?? null;
        if (x === null || y === null) {
            return (x === null) - (y === null) || a.order - b.order;
        }
        return sign * (x < y ? -1 : x > y ? 1 : 0) || a.order - b.order;
    });
}

/* Every wrong element that the rows name, and how many there are in all. */
export function wrongElements(rows, limit) {
    const found = {total: 0, rows: 0, named: []};
    for (const row of rows) {
        if (!row.wrong) {
            continue;
        }
        found.total += row.wrong;
        found.rows += 1;
        for (const error of row.errors ?? []) {
            if (found.named.length < limit) {
                found.named.push({...error, row});
            }
        }
    }
    return found;
}
