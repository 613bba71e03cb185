/* compare.mjs - the view that says how one run, or some of its cases, does against
 * another: all of it from the one answer of the server */
import { copyText, download, h, setHidden } from '../dom.mjs';
import { pageFile } from '../page_file.mjs';
import { alertBox, ask, timeOf } from '../parts.mjs';
import { compareQuery } from '../url_state.mjs';
import { compareForm } from './compare_form.mjs';
import { comparison, headline } from './compare_result.mjs';

const BUSY_RETRY_MS = 1000;
const LAST_RUNS = 5;

export default function view(root, app, { query }) {
  app.title('Compare');
  const page = new ComparePage(app);
  root.append(
    h('div.title', h('h1', 'Compare'), h('span.spring'), page.actions),
    page.form.element,
    page.note,
    page.result,
    page.empty,
  );
  page.show(query);
  return { update: (next) => page.show(next), destroy: () => page.destroy() };
}

class ComparePage {
  constructor(app) {
    this.app = app;
    this.asked = null;
    this.timer = null;
    this.form = compareForm(app, (set) => app.go({ view: 'compare', query: set }));
    this.note = h('div.alerts', { role: 'status' });
    this.result = h('div.stack', { hidden: true });
    this.empty = emptyState();
    this.actions = this.buildActions();
  }

  buildActions() {
    const act = (name, title, click) =>
      h('button', { title, on: { click: () => this.attempt(click) } }, name);
    this.accept = act('Accept as baseline…', 'Head becomes what later runs like it are held against', () =>
      this.acceptHead(),
    );
    return h(
      'div.actions',
      { hidden: true },
      this.accept,
      act('Copy Markdown', 'For an issue tracker', () => this.copyMarkdown()),
      act('CSV', 'Bands and sizes for a spreadsheet', () => this.saveCsv()),
      act('HTML', 'This comparison as a file that opens offline', () => this.saveHtml()),
    );
  }

  show(query) {
    this.query = query;
    this.form.set(query);
    clearTimeout(this.timer);
    const isWhole =
      query.base.length > 0 && (query.head.length > 0 || query.base_env.length + query.head_env.length > 0);
    setHidden(this.empty, isWhole);
    setHidden(this.result, true);
    setHidden(this.actions, true);
    this.note.replaceChildren();
    if (isWhole) {
      this.load(compareQuery(query));
    }
  }

  async load(asked) {
    this.asked = asked;
    this.say(h('p.muted', 'Comparing…'));
    try {
      const answer = await this.app.api.compare(asked);
      if (this.asked === asked) {
        this.draw(answer);
      }
    } catch (error) {
      if (this.asked === asked) {
        this.fail(error, asked);
      }
    }
  }

  /* The server makes a few at a time; and one that is away comes back. */
  fail(error, asked) {
    const isBusy = !error.status || error.status === 503;
    this.say(
      isBusy
        ? h(
            'p.muted',
            error.status ? 'The server makes other comparisons: waiting for it.' : 'Waiting for the server.',
          )
        : alertBox('bad', 'There is no comparison. ', error.message, this.otherWay(error)),
    );
    if (isBusy) {
      this.timer = setTimeout(() => this.load(asked), BUSY_RETRY_MS);
    }
  }

  /* Without a baseline there may be runs like it. */
  otherWay({ status }) {
    const { base, last } = this.query;
    if (status !== 404 || base[0] !== 'baseline' || last) {
      return null;
    }
    const query = compareQuery({ ...this.query, last: LAST_RUNS });
    return h('p', h('a', { href: `/compare?${query}` }, `Compare with the last ${LAST_RUNS} runs like it`));
  }

  draw(answer) {
    this.answer = answer;
    this.say();
    this.app.title(headline(answer));
    this.result.replaceChildren(...comparison(answer));
    setHidden(this.result, false);
    setHidden(this.actions, false);
    this.tellBaseline(answer);
    this.offerBaseline(answer);
  }

  /* A run that is whole, to who may. */
  async offerBaseline({ head }) {
    setHidden(this.accept, true);
    const { operator } = await this.app.api.access().catch(() => ({ operator: false }));
    setHidden(this.accept, !operator || head.runs.length !== 1 || head.unfinished > 0);
  }

  /* Who accepted it, and why. */
  async tellBaseline({ base }) {
    if (this.query.base[0] !== 'baseline' || this.query.last) {
      return;
    }
    const card = this.result.querySelector('.sides .card');
    const {
      baselines: [found],
    } = await this.app.api.baselines({ run: base.runs[0].id, limit: 1 }).catch(() => ({ baselines: [] }));
    if (found) {
      card.append(h('p', `The baseline, accepted by ${found.by} `, timeOf(found.accepted), `: ${found.why}`));
    }
  }

  say(...content) {
    this.note.replaceChildren(...content);
  }

  async attempt(act) {
    try {
      await act();
    } catch (error) {
      this.say(alertBox('bad', 'That did not work. ', error.message));
    }
  }

  file(format) {
    return this.app.api.blob(`/api/v1/compare?${compareQuery(this.query, { format })}`);
  }

  async copyMarkdown() {
    await copyText(await (await this.file('markdown')).text());
    this.say(h('p.muted', 'Copied as Markdown.'));
  }

  async saveCsv() {
    download(await this.file('csv'), `${fileName(this.answer)}.csv`);
  }

  saveHtml() {
    const text = pageFile(headline(this.answer), this.result, this.answer);
    download(new Blob([text], { type: 'text/html' }), `${fileName(this.answer)}.html`);
  }

  async acceptHead() {
    const [{ id }] = this.answer.head.runs;
    const by = h('input', { id: 'by', type: 'text', required: true, maxlength: '200' });
    const why = h('input', { id: 'why', type: 'text', required: true, maxlength: '1000' });
    const like = h(
      'select',
      { id: 'like' },
      h('option', { value: 'nodes' }, 'the same nodes'),
      h('option', { value: 'hardware' }, 'the same hardware'),
    );
    const field = (input, label) => h('div.field', h('label', { for: input.id }, label), input);
    const answer = await ask(
      `Accept run ${id} as a baseline?`,
      [
        h('p', 'Later runs like it are compared with it. Who did so, when and why is kept.'),
        field(by, 'Who accepts it'),
        field(why, 'Why'),
        field(like, 'For runs on'),
      ],
      h('button.quiet', { value: 'no', formnovalidate: true }, 'Cancel'),
      h('button.primary', { value: 'yes' }, 'Accept'),
    );
    if (answer === 'yes') {
      await this.app.api.acceptBaseline({ run: id, by: by.value, why: why.value, like: like.value });
      this.say(alertBox('good', 'Accepted. ', `Run ${id} is a baseline now.`));
    }
  }

  destroy() {
    this.asked = null;
    clearTimeout(this.timer);
  }
}

const fileName = ({ base, head }) => `ringbench-${base.runs[0]?.id ?? 'none'}-${head.runs[0]?.id ?? 'none'}`;

function emptyState() {
  const ways = [
    [
      'Two runs',
      'Give their ids above, the earlier one as base; or choose them in the ',
      h('a', { href: '/' }, 'list of runs'),
      '.',
    ],
    [
      'Two settings',
      'Start one run with a matrix, such as NCCL_ALGO with Ring and Tree, ' +
        'and 5 repeats or more: its cases take turns, so that what drifts falls out. Give ' +
        'its id as base and choose the variables of each side.',
    ],
    [
      'A run and the baseline',
      'Write baseline as base: the newest accepted one that head ' +
        'is like. A run becomes one by the button that stands above a comparison.',
    ],
  ];
  return h(
    'section.empty',
    { hidden: true },
    h('h2', 'What is compared with what?'),
    h(
      'ul.steps',
      ways.map(([title, ...text]) => h('li', h('strong', title), h('p', text))),
    ),
    h(
      'p.muted',
      'At least 3 cases a side are needed for any answer, and 5 to 10 for one ' + 'that finds 3 %.',
    ),
  );
}
