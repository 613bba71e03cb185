/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.jsx - table of the fastest setting of a matrix, by size */
import { Head, Region } from '../parts.jsx';
import { rankingOf } from '../ranking.mjs';
import { formatPercent, formatSize } from '../units.mjs';

export function Ranking({ run: { book } }) {
  const ranges = rankingOf(book);
  if (ranges.length === 0) {
    return null;
  }
  return (
    <Region label="Fastest setting by size">
      <table class="legend">
        <Head columns={['Sizes', 'Collective', 'Fastest setting', 'Lead over the next']} />
        <tbody>
          {ranges.map(({ collective, from, to, best, ahead }) => (
            <tr key={`${collective} ${from}`}>
              <th scope="row">{spanOf(from, to, formatSize)}</th>
              <td>{collective}</td>
              <td>{best ?? 'no clear difference'}</td>
              <td class="number">{best && spanOf(...ahead, formatPercent)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Region>
  );
}

const spanOf = (low, high, format) =>
  format(low) === format(high) ? format(low) : `${format(low)} to ${format(high)}`;
