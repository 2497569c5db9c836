import { runInThisContext } from 'node:vm';
import { spawnSync } from 'node:child_process';
import { commandOf, curlOf, typescriptOf } from '../../../console/try/code';
import type { CodeRequest } from '../../../console/try/code';
import { emptyDraft, messageOf, startOf } from '../../../console/try/request';
import { emptyTalk, heard } from '../../../console/try/talk';
import { itemsOf } from '../../../console/runs/items';
import type { ListedRun, RunEvent } from '../../../client/http/index';
import { filterText, filtersIn, queryOf } from '../../../console/runs/filters';
import { steadyRows } from '../../../console/runs/steady';

const url = 'http://127.0.0.1:4747';
const nasty = `it's "bad" $HOME \`id\` \\ !x\n-d ünïcödé 你好`;

function wordsOf(line: string): readonly string[] {
  const script = `${line.replace(/^(curl|npx holdfast)/, 'show')}`;
  const { stdout } = spawnSync('bash', ['-c', `show() { printf '%s\\0' "$@"; }\n${script}`], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}

describe('a request as code', () => {
  const run = (input: string | { readonly subject: string }): CodeRequest => ({
    kind: 'run',
    body: startOf('ticket', input, {
      ...emptyDraft,
      id: 'it-1',
      tags: `one, it's`,
      values: JSON.stringify({ note: nasty }),
      model: '--odd',
      deadline: '30d',
      by: nasty,
    }).request,
  });

  it.each([['a text', nasty] as const, ['a job', { subject: nasty }] as const])('is the same in a shell, with %s', (_, input) => {
    const request = run(input);
    const curl = wordsOf(curlOf(url, request));
    expect(curl.slice(0, 4)).toEqual(['-sS', `${url}/runs`, '-H', 'content-type: application/json']);
    expect(JSON.parse(curl[5] ?? '')).toEqual(request.body);
    const command = wordsOf(commandOf(url, request).text);
    expect(command.at(-1)).toBe(typeof input === 'string' ? input : JSON.stringify(input));
    expect(command).toEqual(expect.arrayContaining(['run', 'ticket', '--tag', `it's`, '--model=--odd', '--by', nasty.trim()]));
    expect(commandOf(url, request).missing).toEqual([]);
  });

  it('is TypeScript that means the same, also with a key that a literal takes for a prototype', () => {
    const odd = startOf('a', { ['__proto__']: 1 }, emptyDraft).request;
    for (const body of [run(nasty).body, { ...odd, input: JSON.parse('{"__proto__":{"x":1}}') }]) {
      const code = typescriptOf(url, { kind: 'run', body: body as never });
      const [, literal = ''] = /holdfast\.start\(([\s\S]*)\);\nfor await/.exec(code) ?? [];
      expect(JSON.stringify(runInThisContext(`(${literal})`))).toBe(JSON.stringify(body));
    }
  });

  it('is a message of a conversation, and says what the command cannot say', () => {
    const body = messageOf('support', nasty, { ...emptyDraft, by: 'ada', deadline: '30d', temperature: '0.5', isWhole: true }).request;
    expect(body).toEqual({ message: nasty, agent: 'support', settings: { temperature: 0.5 }, stream: false, by: 'ada' });
    const request: CodeRequest = { kind: 'message', conversation: 'talk-1', body };
    expect(wordsOf(curlOf(url, request))).toContain(`${url}/conversations/talk-1/messages`);
    const { text, missing } = commandOf(url, request);
    expect(wordsOf(text)).toEqual(['send', 'talk-1', '--agent', 'support', '--by', 'ada', '--url', url, '--', nasty]);
    expect(missing).toEqual(['settings', 'stream']);
  });

  it('leaves out what is no JSON or no number, and says so', () => {
    const draft = { ...emptyDraft, values: '{', settings: '[1]', temperature: 'warm', options: '{}' };
    const { request, problems } = startOf('a', 'hi', draft);
    expect(request).toEqual({ agent: 'a', input: 'hi', options: {} });
    expect(problems).toEqual({ values: 'not-json', settings: 'no-object', temperature: 'no-number' });
  });
});

describe('what is seen of a conversation', () => {
  const message = (id: string, role: 'user' | 'assistant', text: string) => ({ id, role, parts: [{ type: 'text' as const, text }] });
  const inAgent = { agent: 'support', runPath: ['support'] };
  let offset = 0;
  const event = (body: object): RunEvent => ({ ...body, offset: offset++, time: 0 }) as RunEvent;
  const delta = (body: object) => ({ ...inAgent, address: 'm1', attempt: 0, ...body }) as never;

  it('grows with what is said, starts anew with an attempt, and counts what the event says', () => {
    let talk = [
      event({ type: 'turn-start', turn: 1 }),
      event({ ...inAgent, type: 'message', turn: 1, id: 'q1', mode: 'after-turn', message: message('q1', 'user', 'Hi'), by: 'ada' }),
      event({ ...inAgent, type: 'model-start', turn: 0, address: 'm1' }),
      delta({ type: 'text-delta', text: 'Go' }),
      delta({ type: 'attempt-void' }),
      delta({ type: 'text-delta', text: 'Hel' }),
    ].reduce(heard, emptyTalk);
    expect(talk).toMatchObject({
      isWorking: true,
      entries: [
        { kind: 'user', by: 'ada' },
        { kind: 'agent', text: 'Hel', isOpen: true },
      ],
    });
    talk = [
      event({ ...inAgent, type: 'model-end', turn: 0, address: 'm1', message: message('a1', 'assistant', 'Hello'), model: 'x' }),
      event({ type: 'turn-end', turn: 1, status: 'done', usage: { inputTokens: 0, outputTokens: 0 } }),
    ].reduce(heard, talk);
    expect(talk).toMatchObject({ isWorking: false, entries: [{}, { text: 'Hello', isOpen: false }] });
  });

  it('has a queued message once, and none that was taken back', () => {
    const queued = event({ type: 'message-queued', id: 'q2', mode: 'after-turn', message: message('q2', 'user', 'Later') });
    expect(heard(emptyTalk, queued).entries).toMatchObject([{ kind: 'user', isQueued: true }]);
    expect(heard(heard(emptyTalk, queued), event({ type: 'message-withdrawn', id: 'q2' })).entries).toEqual([]);
  });

  it('shows a question until it is answered, and says how a conversation has ended', () => {
    const interrupt = { id: 'i1', kind: 'approval', agent: 'support', address: [], tool: 'refund', input: {}, inputHash: 'h' };
    const asked = heard(emptyTalk, event({ type: 'interrupt-start', interrupt }));
    expect(asked.entries).toMatchObject([{ kind: 'question', isOpen: true }]);
    const answered = heard(
      asked,
      event({ type: 'interrupt-end', interruptId: 'i1', answer: { type: 'approve' }, by: 'ada', reason: 'answer' }),
    );
    expect(answered.entries).toMatchObject([{ isOpen: false, ending: { by: 'ada', answer: { type: 'approve' } } }]);
    const ended = heard(answered, event({ type: 'run-end', status: 'failed', error: { code: 'internal', message: 'x' } }));
    expect(ended).toMatchObject({ isEnded: true, entries: [{}, { kind: 'error' }, { kind: 'end', status: 'failed' }] });
  });
});

describe('the list of runs', () => {
  const run = (id: string, second: number, status: ListedRun['status'] = 'running'): ListedRun => ({
    id,
    agent: 'a',
    status,
    startedAt: new Date(Date.UTC(2026, 10, 25, 0, 0, second)).toISOString(),
    interrupts: [],
    tags: [],
  });
  const idsOf = ({ rows }: ReturnType<typeof steadyRows>) => rows.map(({ run: { id }, isGone }) => (isGone ? `${id} gone` : id));
  const nothing = { rows: [], pending: 0 };

  it('stands still while somebody points at it: new ones wait, old ones stay, changed ones change', () => {
    const first = steadyRows(nothing, [run('b', 2), run('a', 1)], true);
    expect(idsOf(first)).toEqual(['b', 'a']);
    const next = steadyRows(first, [run('c', 3), run('b', 2, 'waiting'), run('z', 0)], true);
    expect([idsOf(next), next.pending, next.rows[0]?.run.status]).toEqual([['b', 'a gone', 'z'], 1, 'waiting']);
    const free = steadyRows(next, [run('c', 3), run('b', 2)], false);
    expect([idsOf(free), free.pending]).toEqual([['c', 'b'], 0]);
  });

  it('has isolated agents below their run in the order in which they began, and a word where there are none', () => {
    const rows = steadyRows(nothing, [run('b', 2), run('a', 1)], false).rows;
    const opened = new Map([
      ['b', [run('b~y', 4), run('b~x', 3)]],
      ['b~x', []],
      ['a', undefined],
    ]);
    expect(itemsOf(rows, opened).map(({ key, depth }) => `${depth} ${key}`)).toEqual([
      '0 b',
      '1 b~x',
      '2 b~x note',
      '1 b~y',
      '0 a',
      '1 a note',
    ]);
  });

  it('has its filters in the URL, in one form whatever their order', () => {
    const filters = filtersIn(new URLSearchParams('tag=b&status=failed&tag=a&agent=%20&odd=1&id=x'));
    expect(filters).toEqual({ status: 'failed', id: 'x', tag: ['b', 'a'] });
    expect(queryOf(filters)).toEqual({ status: 'failed', id: 'x', tag: ['b', 'a'] });
    expect(filterText(filters)).toBe(filterText(filtersIn(new URLSearchParams('id=x&status=failed&tag=b&tag=a'))));
    expect(filterText(filtersIn(new URLSearchParams('status=odd')))).toBe('');
  });
});
