/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.jsx - table of the fastest setting of a matrix, by size */
import { Table } from '../parts.jsx';
import { rankingOf } from '../ranking.mjs';
import { formatPercent, formatSize } from '../units.mjs';

export function Ranking({ run: { book } }) {
  const ranges = rankingOf(book);
  if (ranges.length === 0) {
    return null;
  }
  return (
    <Table
      label="Fastest setting by size"
      name="legend"
      columns={['Sizes', 'Collective', 'Fastest setting', 'Lead over the next']}
      isNumber={(column) => column === 3}
      rows={ranges.map(({ collective, from, to, best, ahead }) => [
        spanOf(from, to, formatSize),
        collective,
        best ?? 'no clear difference',
        best && spanOf(...ahead, formatPercent),
      ])}
    />
  );
}

const spanOf = (low, high, format) =>
  format(low) === format(high) ? format(low) : `${format(low)} to ${format(high)}`;
