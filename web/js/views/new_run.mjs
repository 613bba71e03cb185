/* new_run.mjs - the form that starts a run, checked by the server as it is filled in */
import { ApiError } from '../api.mjs';
import { debounce, h, setHidden, setText } from '../dom.mjs';
import { buildField } from '../fields.mjs';
import { alertBox, copyBlock, copyButton, fold, switcher } from '../parts.mjs';
import { buildGroups } from '../spec_fields.mjs';
import { emptyForm, errorsByField, fromSpec, isShown, toSpec } from '../spec_form.mjs';
import { curlLine, idempotencyKey, prettyJson } from '../spec_text.mjs';
import { costLines, isHopeless, usableBackend } from '../validation.mjs';

const CHECK_AFTER_MS = 200;

export default function view(root, app, { query }) {
  app.title('New run');
  const page = new NewRunPage(app);
  root.append(h('h1', 'New run'), page.note, page.form);
  page.begin(query.from);
  return { destroy: () => page.destroy() };
}

class NewRunPage {
  constructor(app) {
    this.app = app;
    this.fields = [];
    this.controls = new Map();
    this.extra = {};
    this.what = 'measure';
    this.refused = null;
    this.hopeless = false;
    this.sent = { body: '', key: '' };
    this.checking = null;
    this.later = debounce(() => this.check(), CHECK_AFTER_MS);
    this.build();
  }

  build() {
    this.curl = copyBlock('', 'the curl line');
    this.json = h('textarea', {
      rows: '9',
      spellcheck: 'false',
      'aria-label': 'The request as JSON',
      on: { input: () => this.readJson() },
    });
    this.jsonError = h('p.field-error', { hidden: true, role: 'status' });
    this.go = h('button.primary.big', { type: 'submit' }, 'Start the run');
    this.errors = h('div.alerts');
    this.cost = h('div.cost', { role: 'status' });
    this.note = h('p.muted', { role: 'status' });
    this.groups = h('div.stack');
    this.whatSwitch = switcher(
      'What to run',
      [
        ['measure', 'Measure collectives'],
        ['program', 'Run a program'],
      ],
      (what) => {
        this.what = what;
        this.preview();
      },
    );
    this.form = h(
      'form.new-run',
      { novalidate: true, hidden: true },
      h('div.stack', this.whatSwitch.group, this.groups),
      h(
        'aside.card.preview',
        { 'aria-label': 'The request' },
        this.errors,
        this.go,
        this.cost,
        h('p.help', 'Blank fields take the server’s defaults.'),
        h(
          'h2',
          'The request ',
          copyButton('the request', () => this.json.value),
        ),
        this.json,
        this.jsonError,
        h('h2', 'The same from a shell'),
        this.curl.block,
      ),
    );
    this.form.addEventListener('submit', (event) => this.submit(event));
  }

  /* The form follows from what the server says it takes; nobody fills it in before. */
  async begin(from) {
    setText(this.note, 'Asking the server…');
    try {
      const [schema, backend] = await Promise.all([
        this.app.api.schema(),
        from ? '' : usableBackend(this.app.api).catch(() => ''),
      ]);
      const groups = buildGroups(schema);
      this.fields = groups.flatMap((group) => group.fields);
      this.groups.replaceChildren(...groups.map((group) => this.buildGroup(group)));
      this.write({ ...emptyForm(this.fields), backend });
      this.offer();
      this.askAccess();
      setText(this.note, '');
      if (from) {
        await this.load(from);
      }
      this.form.hidden = false;
    } catch (error) {
      setText(this.note, `The form could not be loaded: ${error.message}`);
    }
  }

  buildGroup({ title, closed, fields }) {
    const built = fields.map((field) => {
      const control = buildField(field, () => this.preview());
      this.controls.set(field.id, control);
      return control.element;
    });
    const grid = h('div.field-grid', built);
    return closed ? fold(title, null, grid) : h('section.card', h('h2', title), grid);
  }

  read() {
    const form = { ...emptyForm(this.fields), extra: this.extra, what: this.what };
    this.controls.forEach((control, id) => {
      form[id] = control.read();
    });
    return form;
  }

  write(form, source = null) {
    this.extra = form.extra;
    this.what = form.what;
    this.controls.forEach((control, id) => control.write(form[id]));
    this.preview(source);
  }

  /* Show what fits the choices, and the request as it now stands. */
  preview(source = null) {
    const form = this.read();
    this.whatSwitch.set(this.what);
    for (const field of this.fields) {
      setHidden(this.controls.get(field.id).element, !isShown(field, form));
    }
    for (const group of this.groups.children) {
      const shown = [...group.querySelectorAll('.field')].some((one) => !one.hidden);
      setHidden(group, !shown);
    }
    const spec = source ?? toSpec(this.fields, form);
    this.spec = spec;
    this.curl.set(curlLine(spec, location.origin, this.app.api.token() !== null));
    if (source === null) {
      this.json.value = prettyJson(spec);
      setHidden(this.jsonError, true);
    }
    this.later();
  }

  /* What is typed as JSON fills the form, and is sent as it stands. */
  readJson() {
    let spec = null;
    try {
      spec = JSON.parse(this.json.value || '{}');
    } catch (error) {
      setText(this.jsonError, error.message);
    }
    const isObject = spec !== null && typeof spec === 'object' && !Array.isArray(spec);
    setHidden(this.jsonError, isObject);
    if (isObject) {
      this.write(fromSpec(this.fields, spec), spec);
    }
  }

  /* The server's own word on it; a later question makes an earlier one void. */
  async check() {
    this.checking?.abort();
    const checking = new AbortController();
    this.checking = checking;
    const asked = this.spec;
    try {
      const answer = await this.app.api.validate(asked, checking.signal);
      this.showErrors({});
      this.showCost(costLines(answer, asked));
      this.hopeless = isHopeless(answer, asked);
    } catch (error) {
      if (!checking.signal.aborted && (error.status === 400 || error.status === 422)) {
        const byField = errorsByField(this.fields, error.problem, this.read());
        this.showErrors(byField);
        const loose = (byField[''] ?? []).map((text) => ['bad', text]);
        this.showCost([['bad', 'The server would refuse this.'], ...loose]);
        this.hopeless = false;
      }
    }
    this.allowStart();
  }

  allowStart() {
    this.go.disabled = Boolean(this.refused || this.sending || this.hopeless);
  }

  showCost(lines) {
    this.cost.replaceChildren(
      ...lines.map(([tone, text]) => h('p', { class: tone === 'bad' ? 'bad' : null }, text)),
    );
  }

  showErrors(byField) {
    this.controls.forEach((control, id) => control.error(byField[id] ?? []));
    if (!this.refused) {
      this.errors.replaceChildren();
    }
  }

  /* The same body goes out under the same key, so a second try starts nothing twice. */
  async submit(event) {
    event.preventDefault();
    if (this.refused || this.hopeless) {
      return;
    }
    this.later.cancel();
    this.checking?.abort();
    const body = JSON.stringify(this.spec);
    this.sent = this.sent.body === body ? this.sent : { body, key: idempotencyKey() };
    this.sending = true;
    this.allowStart();
    this.showErrors({});
    try {
      const run = await this.app.api.create(this.spec, this.sent.key);
      this.app.go({ view: 'run', id: run.id });
    } catch (error) {
      this.showFailure(error);
    } finally {
      this.sending = false;
      this.allowStart();
    }
  }

  /* The server's faults, each at its field; the first of them gets the focus. */
  showFailure(error) {
    const refused = error instanceof ApiError;
    const byField = refused ? errorsByField(this.fields, error.problem, this.read()) : {};
    this.showErrors(byField);
    const loose = byField[''] ?? [];
    this.errors.replaceChildren(
      alertBox(
        'bad',
        refused ? 'The server refused it. ' : 'The server did not answer. ',
        refused ? error.message : 'Try again: the run is started once, however often you ask.',
        loose.length
          ? h(
              'ul',
              loose.map((text) => h('li', text)),
            )
          : null,
      ),
    );
    const first = this.fields.find((field) => byField[field.id]);
    if (first) {
      const control = this.controls.get(first.id);
      const fold = control.element.closest('details');
      if (fold) {
        fold.open = true;
      }
      control.focus();
    }
  }

  /* Who may not start runs reads why, and can still have requests checked. */
  async askAccess() {
    const { operator, reason } = await this.app.api.access().catch(() => ({ operator: true }));
    this.refused = operator ? null : reason;
    this.allowStart();
    this.errors.replaceChildren(operator ? '' : alertBox('warn', reason));
  }

  /* What there is to choose from; the header says when the server is gone. */
  async offer() {
    const { api } = this.app;
    const [nodes, programs, launchers] = await Promise.allSettled([
      api.nodes(),
      api.programs(),
      api.json('/api/v1/launchers'),
    ]);
    if (nodes.value) {
      const here = nodes.value.nodes.filter((node) => node.state !== 'left');
      this.controls.get('nodes_names').offer(here);
    }
    if (programs.value) {
      this.controls.get('program').offer(programs.value.programs);
    }
    if (launchers.value?.launchers.length) {
      this.controls.get('launch').offer(launchers.value.launchers);
      this.controls.get('nodes_mode').offer(['launch']);
    }
  }

  async load(id) {
    setText(this.note, 'Loading the earlier run…');
    try {
      const run = await this.app.api.run(id);
      const spec = { ...run.spec, name: run.name, labels: run.labels };
      this.write(fromSpec(this.fields, spec));
      setText(this.note, `As run ${id} had it; change what should differ.`);
    } catch (error) {
      setText(this.note, `Run ${id} could not be loaded: ${error.message}`);
    }
  }

  destroy() {
    this.later.cancel();
    this.checking?.abort();
  }
}
