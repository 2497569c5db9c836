import { RowBoard } from '../../../console/decide/board';
import type { AskingRow } from '../../../console/decide/row';
import { compareRows, rowOf } from '../../../console/decide/row';
import { absenceOf, fitsView, linesOf, viewOf } from '../../../console/inbox/rows';
import { changesOf } from '../../../console/parts/changes';
import { cutText, visibleText } from '../../../console/parts/plain-text';
import { initialValue, shapeOf } from '../../../console/parts/schema-shape';
import { effectOf } from '../../../console/service/effect';
import { agentToTry } from '../../../console/try/request';
import type { ListedAgent, ListedInterrupt } from '../../../client/http/index';

const asked = (runId: string, more: Partial<ListedInterrupt> = {}): ListedInterrupt => ({
  ...{ runId, agent: 'support', tags: [], waitingSince: '2026-11-25T08:00:00.000Z' },
  interrupt: {
    ...{ id: 'a', address: ['support'], agent: 'support', kind: 'approval', tool: 'refund', callId: 'c', inputHash: 'h' },
    input: { orderId: '42', amount: 80 },
  },
  ...more,
});
const idsOf = (rows: readonly AskingRow[]): readonly string[] => rows.map(({ listed }) => listed.runId);

describe('the rows of the inbox', () => {
  const gone: string[] = [];
  const board = (): RowBoard => new RowBoard(({ listed }) => void gone.push(listed.runId));
  const how = { sort: 'oldest', isHeld: false, selected: '', at: 1_000_000 } as const;
  const [one, two, three] = ['08', '09', '07'].map((hour, at) => asked(`run-${at}`, { waitingSince: `2026-11-25T${hour}:00:00.000Z` }));

  it('are in the order in which they wait', () => {
    expect(idsOf(board().update([one!, two!, three!], how))).toEqual(['run-2', 'run-0', 'run-1']);
  });

  it('keep their places while somebody is about to choose, and new ones come at the end', () => {
    const rows = board();
    rows.update([one!, two!], how);
    expect(idsOf(rows.update([one!, two!, three!], { ...how, isHeld: true }))).toEqual(['run-0', 'run-1', 'run-2']);
    expect(idsOf(rows.update([one!, two!, three!], how))).toEqual(['run-2', 'run-0', 'run-1']);
  });

  it('stay for a moment in their places when somebody else has decided', () => {
    const rows = board();
    rows.update([one!, two!], how);
    const left = rows.update([two!], how);
    expect([idsOf(left), left[0]?.goneAt, gone]).toEqual([['run-0', 'run-1'], how.at, ['run-0']]);
    expect(idsOf(rows.update([two!], { ...how, at: how.at + 5_000 }))).toEqual(['run-1']);
  });

  it('stay as long as somebody reads them', () => {
    const rows = board();
    const [row] = rows.update([one!, two!], how);
    rows.update([two!], how);
    expect(idsOf(rows.update([two!], { ...how, at: how.at + 60_000, selected: row!.key }))).toEqual(['run-0', 'run-1']);
  });

  it('are found by words of their names and of what is asked', () => {
    const fits = (query: string): boolean => fitsView(rowOf(asked('ticket-9', { startedBy: 'Carl' })), viewOf(new URLSearchParams(query)));
    expect(['q=refund+42', 'q=carl', 'q=TICKET', 'kind=approval', 'agent=support'].map(fits)).toEqual([true, true, true, true, true]);
    expect(['q=refund+43', 'kind=question', 'policy=refunds', 'agent=other'].map(fits)).toEqual([false, false, false, false]);
  });

  it.each([
    ['q=zzz&item=', 'hidden'],
    ['item=other', 'elsewhere'],
    ['who=all&item=other', 'unknown'],
  ])('that are not shown are hidden, elsewhere or gone: %s', (query, why) => {
    const row = rowOf(asked('a'));
    const view = viewOf(new URLSearchParams(query));
    expect(absenceOf(view.item === '' ? { ...view, item: row.key } : view, [row], false)).toBe(why);
    expect(absenceOf({ ...view, item: 'other' }, [row], true)).toBe('elsewhere');
  });

  it('are grouped under headings with counts', () => {
    const rows = [rowOf(asked('a')), rowOf(asked('b', { agent: 'other' })), rowOf(asked('c'))];
    expect(linesOf(rows, 'agent').map((line) => ('row' in line ? line.row.listed.runId : [line.heading, line.count]))).toEqual([
      ['support', 2],
      ...['a', 'c'],
      ['other', 1],
      'b',
    ]);
  });

  it('without a deadline come after those with one', () => {
    const due = asked('due');
    const rows = [rowOf(asked('a')), rowOf({ ...due, interrupt: { ...due.interrupt, deadline: 5 } })];
    expect(idsOf(rows.sort(compareRows('deadline')))).toEqual(['due', 'a']);
  });
});

describe('the changes of an edit', () => {
  it('name each place that differs, with both values', () => {
    expect(changesOf({ a: 1, b: { c: [1, 2] }, d: 'x' }, { a: 1, b: { c: [1, 3] }, e: true })).toEqual([
      { path: 'b.c.2', before: 2, after: 3 },
      { path: 'd', before: 'x' },
      { path: 'e', after: true },
    ]);
  });

  it('are none for the same value in another order', () => {
    expect(changesOf({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
  });
});

describe('text of a run', () => {
  it('shows each character that changes the direction or is not seen', () => {
    expect(visibleText('a\u202eb\u2066c\u200bd\u0000e\u{e0041}')).toBe('a⟦U+202E⟧b⟦U+2066⟧c⟦U+200B⟧d⟦U+0000⟧e⟦U+E0041⟧');
    expect(visibleText('Zeile\n\tمرحبا 👩‍👩‍👧')).toBe('Zeile\n\tمرحبا 👩‍👩‍👧');
  });

  it('is cut where it or a line of it is too long', () => {
    expect(cutText('abcdef\nab', 7, 3)).toBe('abc…\n…');
    expect(cutText('ab\ncd')).toBe('ab\ncd');
  });
});

describe('a form of a schema', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name' },
      size: { $ref: '#/$defs/size' },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      list: { type: 'array', items: { type: 'integer' } },
      sure: { type: 'boolean' },
      inner: { type: 'object', properties: { deep: { type: 'number', default: 3 } }, required: ['deep'] },
    },
    required: ['name', 'sure', 'inner'],
    $defs: { size: { enum: ['S', 'L'], default: 'L' } },
  };

  it('follows references, and draws what also may be null as what it is else', () => {
    const kinds = Object.entries(schema.properties).map(([name, part]) => shapeOf(part, name, schema).kind);
    expect(kinds).toEqual(['text', 'choice', 'text', 'list', 'boolean', 'object']);
    expect(shapeOf(schema.properties.name, 'name', schema).label).toBe('Your name');
  });

  it('begins with the defaults, and with what a box says that nobody checks', () => {
    expect(initialValue(schema, schema)).toEqual({ size: 'L', sure: false, inner: { deep: 3 } });
  });
});

describe('the agent that somebody tries first', () => {
  const agent = (name: string, more: Partial<ListedAgent> = {}): ListedAgent => ({ name, description: '', takesJob: false, ...more });
  const [job, other, shown] = [agent('job', { takesJob: true }), agent('other'), agent('shown', { example: 'Hello' })];

  it('is that of the example of the project, else one that takes a text', () => {
    expect([[job, other, shown], [job, other], [job], []].map((agents) => agentToTry(agents)?.name)).toEqual([
      'shown',
      'other',
      'job',
      undefined,
    ]);
  });
});

it.each([
  [undefined, 'none (not declared)', 'calm'],
  ['none', 'none', 'calm'],
  ['once', 'once', 'warn'],
] as const)('a tool with the effect %s is shown as "%s"', (effect, text, kind) => {
  expect(effectOf(effect === undefined ? {} : { effect })).toMatchObject({ text, kind });
});
