/* run_edit.mjs - a dialog that changes a run's labels and notes */
import { h } from '../dom.mjs';
import { ask } from '../parts.mjs';

const linesOf = (labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

/* The labels of lines NAME=VALUE. */
function labelsOf(lines) {
  const pairs = lines.split('\n').map((line) => line.trim().split('='));
  return Object.fromEntries(
    pairs.filter(([name]) => name !== '').map(([name, ...value]) => [name.trim(), value.join('=').trim()]),
  );
}

/* The merge patch from the labels that the dialog began with to those that it ended with. */
function patchOf(before, after) {
  const removed = Object.keys(before).filter((name) => !(name in after));
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null])]);
}

const faultsOf = (error) =>
  error.problem?.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`) ?? [error.message];

/* Resolves to the run as it is then; null: nothing was changed. */
export async function editRun(api, run) {
  const labels = h('textarea', { id: 'edit-labels', rows: 4, spellcheck: 'false' });
  const notes = h('textarea', { id: 'edit-notes', rows: 6, maxlength: 4000 });
  const faults = h('div', { role: 'alert' });
  labels.value = linesOf(run.labels);
  notes.value = run.notes;
  const content = [
    h('label', { for: labels.id }, 'Labels, a line NAME=VALUE each'),
    labels,
    h('label', { for: notes.id }, 'Notes'),
    notes,
    faults,
  ];
  const buttons = [
    h('button.quiet', { value: 'no', formnovalidate: true }, 'Cancel'),
    h('button.primary', { value: 'save' }, 'Save'),
  ];
  while ((await ask('Labels and notes', content, ...buttons)) === 'save') {
    try {
      return await api.edit(run.id, {
        labels: patchOf(run.labels, labelsOf(labels.value)),
        notes: notes.value === run.notes ? undefined : notes.value,
      });
    } catch (error) {
      faults.replaceChildren(...faultsOf(error).map((text) => h('p.field-error', text)));
    }
  }
  return null;
}
