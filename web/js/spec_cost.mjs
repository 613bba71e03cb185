/* spec_cost.mjs - how much a request asks for, before it is sent: cases, sizes, rows. An
 * estimate for people; what is allowed is the server's to say. No DOM. */
import {FIELDS} from './spec_fields.mjs';
import {formatMemory, parseSize, plural} from './units.mjs';

const REDUCING = new Set(['all_reduce', 'reduce_scatter', 'reduce']);
const ROOTED = new Set(['broadcast', 'reduce', 'gather', 'scatter']);
const SIZES_MAX = 100000;

const hintOf = id => FIELDS.find(field => field.id === id).hint;

/* {cases, sizes, rows, rows_per_rank, largest}, or null where a size can't be read. With
 * root -1 the rooted collectives run once per rank: `perRank` rows for each. */
export function specCost(spec) {
    const sizes = sizesOf(spec.sizes);
    if (sizes === null) {
        return null;
    }
    const cases = positive(spec.repeats, 1);
    const placements = typeof spec.in_place === 'boolean' ? 1 : 2;
    const each = sizes.count * placements * cases * listLength(spec.dtypes);
    const cost = {cases, sizes: sizes.count, largest: sizes.largest, rows: 0, perRank: 0};
    for (const collective of spec.collectives ?? ['all_reduce']) {
        const rows = each * (REDUCING.has(collective) ? listLength(spec.redops) : 1);
        const everyRoot = spec.root === -1 && ROOTED.has(collective);
        cost[everyRoot ? 'perRank' : 'rows'] += rows;
    }
    return cost;
}

/* "1 case, 25 sizes up to 128 MiB, 50 rows" */
export function costInWords(spec) {
    const cost = specCost(spec);
    if (cost === null) {
        return '';
    }
    const perRank = cost.perRank ? `${plural(cost.perRank, 'row')} per rank` : null;
    const rows = cost.rows || !perRank ? plural(cost.rows, 'row') : null;
    return `${plural(cost.cases, 'case')}, ${plural(cost.sizes, 'size')} up to ` +
        `${formatMemory(cost.largest)}, ${
                [rows, perRank].filter(Boolean).join(' and ')}.`;
}

const listLength = list => (Array.isArray(list) ? list.length : 1);
const positive = (value, usual) => (Number.isInteger(value) && value > 0 ? value : usual);

function sizesOf(sizes) {
    if (Array.isArray(sizes)) {
        const bytes = sizes.map(parseSize);
        return bytes.includes(null) || bytes.length === 0
            ? null
            : {count: bytes.length, largest: bytes.reduce((a, b) => Math.max(a, b))};
    }
    const low = parseSize(sizes?.min ?? hintOf('sizes_min'));
    const high = parseSize(sizes?.max ?? hintOf('sizes_max'));
    const step = sizes?.step === undefined ? null : parseSize(sizes.step);
    const factor = sizes?.factor ?? Number(hintOf('sizes_factor'));
    const readable =
        low > 0 && high >= low && (sizes?.step === undefined ? factor > 1 : step > 0);
    return readable ? countRange(low, high, step, factor) : null;
}

function countRange(low, high, step, factor) {
    if (step !== null) {
        const count = Math.floor((high - low) / step) + 1;
        return {count, largest: low + (count - 1) * step};
    }
    let count = 0;
    let largest = low;
    for (let size = low; size <= high && count < SIZES_MAX; size *= factor) {
        count += 1;
        largest = size;
    }
    return {count, largest: Math.floor(largest)};
}
