/* SPDX-License-Identifier: Apache-2.0 */
/* keys.jsx - dialog with the keyboard shortcuts */
import { Dialog } from '../ui.jsx';

/* [where, [[keys, effect], ...]] */
const KEYS = [
  ['Anywhere', [['?', 'show this list']]],
  [
    'Runs',
    [
      ['/', 'filter'],
      ['↑ ↓ or k j', 'previous, next run'],
      ['x', 'select the run'],
      ['Enter', 'open the run'],
    ],
  ],
  [
    'Charts',
    [
      ['← →', 'previous, next point'],
      ['Shift ← →', 'select a range; Enter zooms to it'],
      ['0', 'reset the zoom'],
      ['Enter', 'in a trend: compare the run'],
      ['Escape', 'close the tooltip, leave full screen'],
    ],
  ],
  [
    'Maps of pairs and ranks',
    [
      ['↑ ↓ ← →', 'move between cells'],
      ['Enter', 'open the cell'],
    ],
  ],
  ['Tabs', [['← → Home End', 'switch tabs']]],
];

export const Keys = ({ onClose }) => (
  <Dialog title="Keyboard shortcuts" onSubmit={() => true} onClose={onClose}>
    {KEYS.map(([where, keys]) => (
      <section key={where}>
        <h3>{where}</h3>
        <dl class="facts">
          {keys.map(([key, effect]) => [<dt key={key}>{key}</dt>, <dd key={effect}>{effect}</dd>])}
        </dl>
      </section>
    ))}
    <div class="actions">
      <button type="submit" class="primary">
        Close
      </button>
    </div>
  </Dialog>
);
