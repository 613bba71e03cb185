/* SPDX-License-Identifier: Apache-2.0 */
/* row_detail.jsx - details of one size: repeats, ranks and wrong elements */
import { caseName } from '../case_name.mjs';
import { Facts, Head, Region } from '../parts.jsx';
import { isWithinFactor, median, placement, wayOf } from '../stats.mjs';
import { useAnswer } from '../ui.jsx';
import { formatBandwidth, formatTime, plural, shorten } from '../units.mjs';

const RANKS_SHOWN = 256;
const BLOCKS_SHOWN = 40;
const ERROR_COLUMNS = ['rank', 'index', 'expected', 'got'];

const repeatsOf = (entry) => (entry.out?.repeats ?? 0) + (entry.in?.repeats ?? 0);

/* `cases` are the run's cases by number. The rows are read when the details open, and again after
 * each further repeat. */
export function RowDetail({ app, id, entry, cases }) {
  const repeats = repeatsOf(entry);
  const rowsOf = (series) =>
    app.api.rows(
      id,
      new URLSearchParams({ series, size: entry.size, limit: String(BLOCKS_SHOWN), samples: '1' }),
    );
  const { answer: pages = [], error } = useAnswer(
    () => Promise.all([...new Set(Object.values(entry.series))].map(rowsOf)),
    [repeats],
  );
  const rows = pages.flatMap((page) => page.rows).slice(0, 2 * BLOCKS_SHOWN);
  const left = repeats - rows.length;
  /* Returns a text such as "in place, NCCL_ALGO=Ring, repeat 2, cycle 1". */
  const titleOf = (row) => {
    const found = cases.size > 1 ? cases.get(row.case) : null;
    const cycle = row.cycle ?? null;
    return [placement(row), found && caseName(found), cycle !== null && `cycle ${cycle + 1}`]
      .filter(Boolean)
      .join(', ');
  };
  /* Maps the index of a time in the row to "rank 5 on node-2". */
  const nameOf = (row) => (i) => {
    const rank = entry.members?.[i] ?? i;
    const node = cases.get(row.case)?.ranks?.get(rank)?.node;
    return `rank ${rank}${node ? ` on ${shorten(node, 40)}` : ''}`;
  };
  return (
    <div class="row-detail">
      {error && <p class="bad">{error.message}</p>}
      {rows.map((row, i) => (
        <Row key={i} row={row} title={titleOf(row)} nameOf={nameOf(row)} />
      ))}
      {rows.length > 0 && left > 0 && <p class="muted">and {left} more: the run’s CSV has all</p>}
    </div>
  );
}

function Row({ row, title, nameOf }) {
  if (row.skipped !== undefined) {
    return (
      <section>
        <h3>{title}</h3>
        <p>Skipped: {row.skipped}</p>
      </section>
    );
  }
  return (
    <section>
      <h3>{title}</h3>
      <Facts rows={facts(row)} />
      {row.times_us?.length > 0 && <RankBars times={row.times_us} nameOf={nameOf} title={title} />}
      {row.samples_us?.length > 0 && <p>{samplesInWords(row.samples_us)}</p>}
      {row.errors?.length > 0 && (
        <table class="wrong-list">
          <caption>
            The first {row.errors.length} of {row.wrong} wrong elements
          </caption>
          <Head columns={ERROR_COLUMNS} />
          <tbody>
            {row.errors.map((one, i) => (
              <tr key={i}>
                {ERROR_COLUMNS.map((key) => (
                  <td key={key} class={key === 'got' ? 'bad' : undefined}>
                    {String(one[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function facts(row) {
  return [
    [
      row.blocks === undefined
        ? 'time, mean over ranks'
        : `time, median of ${row.blocks} blocks of ${Math.round(row.iters / row.blocks)} calls`,
      (row.noisy ? '~' : '') + formatTime(row.time_us),
    ],
    [
      '95 % interval of the median',
      row.time_low_us === undefined
        ? null
        : isWithinFactor(row.time_low_us, row.time_high_us)
          ? `${formatTime(row.time_low_us)} to ${formatTime(row.time_high_us)}`
          : 'unknown',
    ],
    [
      '5th to 95th percentile of the blocks',
      row.time_p5_us === undefined ? null : `${formatTime(row.time_p5_us)} to ${formatTime(row.time_p95_us)}`,
    ],
    [
      'fastest to slowest rank',
      row.time_min_us === undefined
        ? null
        : `${formatTime(row.time_min_us)} to ${formatTime(row.time_max_us)}`,
    ],
    ['first call', row.first_us === undefined ? null : formatTime(row.first_us)],
    ['busbw', `${formatBandwidth(row.busbw_gbs)} GB/s`],
    ['algbw', `${formatBandwidth(row.algbw_gbs)} GB/s`],
    ['enqueue time per call', row.enqueue_us === undefined ? null : formatTime(row.enqueue_us)],
    ['algorithm, protocol', wayOf(row.nccl) || null],
    ['channels', row.nccl?.channels ? String(row.nccl.channels) : null],
    ['timed calls', row.iters === undefined ? null : String(row.iters)],
    ['wrong elements', row.wrong === null ? 'not checked' : String(row.wrong)],
  ].filter(([, value]) => value !== null);
}

/* Returns a text such as "64 ranks: fastest 12 µs (rank 3 on node-1), median 12.5 µs, slowest 14
 * µs (rank 37 on node-5)" */
function ranksInWords(times, nameOf) {
  const at = (find) => {
    const i = times.reduce((best, time, k) => (find(time, times[best]) ? k : best), 0);
    return `${formatTime(times[i])} (${nameOf(i)})`;
  };
  return (
    `${plural(times.length, 'rank')}: fastest ${at((a, b) => a < b)}, ` +
    `median ${formatTime(median(times))}, slowest ${at((a, b) => a > b)}`
  );
}

function RankBars({ times, nameOf, title }) {
  const top = times.reduce((a, b) => Math.max(a, b));
  return (
    <>
      {times.length > 1 && <p>{ranksInWords(times, nameOf)}</p>}
      <Region label={`Time per rank, ${title}`} name="rank-bars">
        <ul>
          {times.slice(0, RANKS_SHOWN).map((time, i) => (
            <li key={i}>
              <span class="muted" title={nameOf(i)}>
                {nameOf(i).split(' on ')[0]}
              </span>
              <span class="bar" style={{ '--share': String(time / top) }} />
              <span class="number">{formatTime(time)}</span>
            </li>
          ))}
        </ul>
      </Region>
    </>
  );
}

function samplesInWords(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => formatTime(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return (
    `${times.length} calls timed individually: median ${at(0.5)}, ` +
    `90th percentile ${at(0.9)}, slowest ${at(1)}.`
  );
}
