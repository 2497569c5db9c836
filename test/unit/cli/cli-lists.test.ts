import { eventLine } from '../../../cli/event-line';
import { inbox, listRuns } from '../../../cli/commands/list-commands';
import { listAgents, printEvents, showRun } from '../../../cli/commands/read-commands';
import { startRun } from '../../../cli/commands/run-commands';
import { stepsOf } from '../../../cli/run-steps';
import type { EventsQuery } from '../../../client/http/index';
import type { ListedInterrupt, ListedRun } from '../../../contract/service';
import { FoundService } from '../../../cli/found-service';
import { lengthText, relativeTime } from '../../../cli/times';
import type { EventBody, RunEvent } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import { recordedTerminal } from '../../support/recorded-terminal';

const now = Date.parse('2026-11-23T12:00:00Z');
const minute = 60_000;
beforeAll(() => void jest.spyOn(Date, 'now').mockReturnValue(now));
const at = (ago: number): string => new Date(now - ago).toISOString();

const refund: Interrupt = {
  ...{ id: 'support.t2.refund-0.approval.1', address: ['support'], agent: 'support', kind: 'approval', tool: 'refund', callId: 'c' },
  ...{
    input: { orderId: '42', amount: 80, note: 'x'.repeat(100) },
    inputHash: 'h',
    deadline: now + 3 * 24 * 60 * minute + 1,
    by: ['kim', 'ada'],
  },
};

function serviceOf(answers: Readonly<Record<string, unknown>>): { readonly service: FoundService; readonly asked: string[] } {
  const asked: string[] = [];
  const answer: typeof fetch = async (url) => {
    const path = String(url).slice('http://service'.length);
    asked.push(path);
    return Response.json(answers[path.split('?')[0] ?? '']);
  };
  class Answers extends FoundService {
    override async *events(_: string, { from = 0 }: EventsQuery = {}): AsyncGenerator<RunEvent> {
      yield* (answers['events'] as readonly RunEvent[]).slice(from);
    }
  }
  return { service: new Answers('http://service', ['--url', 'http://service'], { fetch: answer }), asked };
}

const shown = async (act: (terminal: ReturnType<typeof recordedTerminal>) => Promise<number>): Promise<readonly string[]> => {
  const terminal = recordedTerminal({ live: false });
  expect(await act(terminal)).toBe(0);
  return terminal.written().trimEnd().split('\n');
};

describe('a time on the terminal', () => {
  it.each([
    [0, 'now'],
    [-40_000, '40 s ago'],
    [-2 * minute, '2 min ago'],
    [-47 * 60 * minute, '47 h ago'],
    [3 * 24 * 60 * minute, 'in 3 days'],
    [90 * minute, 'in 1 h'],
  ])('is how far it is away: %d ms', (distance, text) => expect(relativeTime(now + distance, now)).toBe(text));

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [2449, '2.4 s'],
    [59_960, '1 min'],
    [192_000, '3 min 12 s'],
    [125 * minute, '2 h 5 min'],
    [76 * 60 * minute, '3 d 4 h'],
  ])('is a length in two units: %d ms', (length, text) => expect(lengthText(length)).toBe(text));
});

describe('holdfast list', () => {
  const runs: readonly ListedRun[] = [
    {
      ...{ id: 'ticket-981', agent: 'support', status: 'waiting', startedAt: at(2 * minute), waitingSince: at(minute) },
      ...{ tags: [], interrupts: [refund] },
    },
    {
      ...{ id: 't', agent: 'orders', status: 'completed', startedAt: at(26 * 60 * minute), closedAt: at(60 * minute), startedBy: 'ada' },
      ...{ tags: ['night', 'eu'], interrupts: [] },
    },
  ];

  it('has a head line, relative times, and the command for the rest', async () => {
    const { service, asked } = serviceOf({ '/runs': { runs, more: true, next: 'WzEs-_x', total: 1200 } });
    const lines = await shown((terminal) => listRuns(service, terminal, { tag: ['night', 'a b'], startedBy: 'ada' }));
    expect(lines).toEqual([
      'RUN         AGENT    STATUS     STARTED    WAITS FOR',
      'ticket-981  support  waiting    2 min ago  approval of refund (1 min)',
      't           orders   completed  26 h ago',
      '2 of 1,200 runs are shown.',
      "more: npx holdfast list --tag night --tag 'a b' --started-by ada --after WzEs-_x --url http://service",
    ]);
    expect(asked).toEqual(['/runs?tag=night&tag=a+b&startedBy=ada&total=true']);
  });

  it('has more columns when it is wide', async () => {
    const { service } = serviceOf({ '/runs': { runs, more: false } });
    expect(await shown((terminal) => listRuns(service, terminal, { wide: true }))).toEqual([
      'RUN         AGENT    STATUS     STARTED                  ENDED                    BY   TAGS       WAITS FOR',
      'ticket-981  support  waiting    2026-11-23 11:58:00 UTC  -                        -    -          approval of refund (1 min)',
      't           orders   completed  2026-11-22 10:00:00 UTC  2026-11-23 11:00:00 UTC  ada  night, eu',
    ]);
  });

  it('does not ask for a count that the server cannot make, and says how many it shows', async () => {
    const { service, asked } = serviceOf({ '/runs': { runs, more: true, next: 'x' } });
    const lines = await shown((terminal) => listRuns(service, terminal, { mayAnswer: 'kim', wide: true, limit: '2' }));
    expect(lines.slice(-2)).toEqual([
      '2 runs are shown.',
      'more: npx holdfast list --may-answer kim --limit 2 --wide --after x --url http://service',
    ]);
    expect(asked).toEqual(['/runs?mayAnswer=kim&limit=2']);
  });

  it('says when there are none', async () => {
    const { service } = serviceOf({ '/runs': { runs: [], more: false, total: 0 } });
    expect(await shown((terminal) => listRuns(service, terminal, {}))).toEqual(['There are no such runs.']);
  });
});

describe('holdfast inbox', () => {
  const rows: readonly ListedInterrupt[] = [
    { runId: 'ticket-981', agent: 'support', waitingSince: at(5 * minute), tags: ['night'], startedBy: 'ada', interrupt: refund },
    {
      ...{ runId: 't', agent: 'orders', tags: [] },
      interrupt: { id: 'q', address: ['orders', 'ask'], agent: 'ask', kind: 'question', info: 'Which\none?' },
    },
  ];

  it('has one line for each, with what is asked in short', async () => {
    const { service } = serviceOf({ '/interrupts': { interrupts: rows, more: true, next: 'x' } });
    expect(await shown((terminal) => inbox(service, terminal, { mayAnswer: 'kim' }))).toEqual([
      'RUN         AGENT    WAITS  UNTIL      FOR       ASKS',
      'ticket-981  support  5 min  in 3 days  kim, ada  refund {"orderId":"42","amount":80,"note":"xxxxxxxxxxxxxxxxxxxxxxxx… (138 characters)',
      't           ask      -      -          anybody   question: Which one?',
      'Each with its commands: npx holdfast inbox --may-answer kim --wide --url http://service',
      '2 interrupts are shown.',
      'more: npx holdfast inbox --may-answer kim --after x --url http://service',
    ]);
  });

  const { by: _, ...anybodys } = refund;
  const ofPolicy: Interrupt = {
    ...anybodys,
    ...{ roles: ['finance'], notBy: ['kim'], steps: [{ at: now - minute, type: 'escalate', by: ['dora'] }] },
    policy: {
      ...{ name: 'refunds', version: 'abc', stage: { number: 2, of: 2, name: 'finance', need: 2 } },
      given: [
        { stage: 1, type: 'approve', by: 'sue' },
        { stage: 2, type: 'approve', by: 'kim', comment: 'Fine.' },
      ],
    },
  };

  it('says who may decide by now, which policy asks, and what was decided', async () => {
    const row: ListedInterrupt = { runId: 't', agent: 'support', tags: [], interrupt: ofPolicy };
    const { service } = serviceOf({ '/interrupts': { interrupts: [row], more: false } });
    expect((await shown((terminal) => inbox(service, terminal, {})))[1]).toMatch(/dora, the role "finance"/);
    const text = (await shown((terminal) => inbox(service, terminal, { wide: true }))).join('\n');
    expect(text).toContain('for dora, the role "finance", not kim');
    expect(text).toContain('policy refunds @abc, stage 2 of 2 (finance), 1 of 2 approved');
    expect(text).toContain('kim approved: Fine.');
  });

  it('names the tool whose call somebody else makes', async () => {
    const info = { externalCall: { tool: 'pickColor', callId: 'c1', input: { of: 'car' } } };
    const interrupt: Interrupt = { id: 'e', address: ['support'], agent: 'support', kind: 'custom', info };
    const { service } = serviceOf({ '/interrupts': { interrupts: [{ runId: 't', agent: 'support', tags: [], interrupt }], more: false } });
    expect((await shown((terminal) => inbox(service, terminal, {})))[1]).toMatch(/result of pickColor \{"of":"car"\}$/);
  });

  it('has all that a decision needs when it is wide', async () => {
    const { service } = serviceOf({ '/interrupts': { interrupts: rows.slice(0, 1), more: false } });
    const text = (await shown((terminal) => inbox(service, terminal, { wide: true }))).join('\n');
    expect(text).toContain('ticket-981  since 2026-11-23 11:55:00 UTC (5 min), started by ada, tags night');
    expect(text).toContain('x'.repeat(100));
    expect(text).toContain('npx holdfast approve ticket-981 support.t2.refund-0.approval.1 --by kim');
  });
});

const place = { agent: 'support', runPath: ['support'] };
const bodies: readonly (EventBody & { readonly after: number })[] = [
  { after: 0, type: 'run-start', agent: 'support', input: 'Refund order 42' },
  { after: 100, ...place, type: 'model-start', turn: 1, address: 'm1' },
  {
    ...{
      after: 1300,
      ...place,
      type: 'model-end',
      turn: 1,
      address: 'm1',
      model: 'openai/x',
      usage: { inputTokens: 812, outputTokens: 40 },
    },
    message: { id: '1', role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'refund', input: { orderId: '42' } }] },
  },
  { after: 1300, type: 'interrupt-start', interrupt: { ...refund, input: { orderId: '42' } } },
  { after: 61_300, type: 'interrupt-end', interruptId: refund.id, answer: { type: 'approve' }, by: 'kim', reason: 'answer' },
  { after: 61_400, ...place, type: 'tool-start', tool: 'refund', callId: 'c', input: { orderId: '42' }, address: 't1' },
  {
    ...{ after: 61_750, ...place, type: 'tool-end', tool: 'refund', callId: 'c', address: 't1' },
    message: { id: '2', role: 'tool', parts: [{ type: 'tool-result', callId: 'c', name: 'refund', output: { paid: 80 } }] },
  },
  { after: 61_800, ...place, type: 'model-start', turn: 2, address: 'm2' },
];
const events: readonly RunEvent[] = bodies.map(({ after, ...body }, offset) => ({ ...body, offset, time: now - 120_000 + after }));

it('the log says who started a run', () => {
  expect(eventLine({ ...events[0], by: 'ada' } as RunEvent)).toMatch(/ run-start +support by ada: Refund order 42$/);
});

describe('the steps of a run', () => {
  it('are models, tools and questions, with how long they took', () => {
    expect(stepsOf(events).map(({ kind, what, from, to, note }) => [kind, what, to === undefined ? undefined : to - from, note])).toEqual([
      ['model', 'openai/x', 1200, '812 in, 40 out'],
      ['asks', refund.id, 60_000, 'approved by kim'],
      ['tool', 'refund', 350, undefined],
      ['model', '', undefined, undefined],
    ]);
  });

  it.each([
    [{ type: 'reject', feedback: 'Too late.' }, 'rejected by kim: Too late.'],
    [{ type: 'approve', editedInput: { amount: 60 }, comment: 'Half.' }, 'approved by kim, with {"amount":60}: Half.'],
    [{ type: 'respond', output: 'Paid.' }, 'answered in place of the tool by kim'],
    [{ type: 'delegate', to: 'ada' }, 'handed on by kim'],
    [{ type: 'apply-policy', version: '2' }, 'asked again, as its policy was applied by kim'],
  ])('say what was decided: %j', (answer, note) => {
    const decided = events.map((event) => (event.type === 'interrupt-end' ? { ...event, answer } : event));
    expect(stepsOf(decided)[1]?.note).toBe(note);
  });

  it('end with the run, and with what is asked again', () => {
    const error = { code: 'model-failed', message: 'The line is busy.' };
    const more: readonly EventBody[] = [
      { ...place, type: 'model-retry', turn: 2, attempt: 0, error },
      { ...place, type: 'model-start', turn: 2, address: 'm3' },
      { type: 'run-end', status: 'failed', error },
    ];
    const all = [...events, ...more.map((body, n) => ({ ...body, offset: events.length + n, time: now - 58_000 + n * 10 }))];
    expect(
      stepsOf(all)
        .slice(3)
        .map(({ from, to = 0, note }) => [to - from, note]),
    ).toEqual([
      [200, 'The line is busy.'],
      [10, undefined],
    ]);
  });
});

describe('holdfast show', () => {
  const view = {
    ...{ id: 'ticket-981', agent: 'support', status: 'running', interrupts: [], usage: { inputTokens: 812, outputTokens: 40 } },
    ...{ nextOffset: events.length, startedAt: at(120_000), tags: ['night'], startedBy: 'ada', build: 'b-1' },
    ...{ usageByModel: { 'openai/x': { inputTokens: 812, outputTokens: 40 } }, cost: { amount: 0.0021, complete: true } },
  };
  const messages = [
    { id: '0', role: 'user', parts: [{ type: 'text', text: 'Refund\norder 42' }] },
    ...bodies.flatMap((body) => ('message' in body ? [body.message] : [])),
  ];

  it('has input, times, tags, build, tokens, the steps and the conversation', async () => {
    const { service } = serviceOf({ '/runs/ticket-981': view, '/runs/ticket-981/transcript': { messages }, events });
    expect(await shown((terminal) => showRun(service, terminal, 'ticket-981', {}))).toEqual([
      'run         ticket-981',
      'agent       support',
      'status      running',
      'input       Refund order 42',
      'began       2026-11-23 11:58:00 UTC (2 min ago)',
      'duration    2 min so far',
      'started by  ada',
      'tags        night',
      'build       b-1',
      'tokens      812 in, 40 out (openai/x)',
      'cost        0.0021',
      '',
      'AFTER       STEP   WHAT                            TOOK           NOTE',
      '+100 ms     model  openai/x                        1.2 s          812 in, 40 out',
      '+1.3 s      asks   support.t2.refund-0.approval.1  1 min          approved by kim',
      '+1 min 1 s  tool   refund                          350 ms',
      '+1 min 2 s  model  -                               58.2 s so far',
      '',
      'WHO        SAID',
      'user       Refund order 42',
      'assistant  → refund {"orderId":"42"}',
      'tool       ← refund: {"paid":80}',
    ]);
  });
});

describe('holdfast show of a run that somebody stops', () => {
  const view = {
    id: 'r',
    agent: 'support',
    status: 'cancelled',
    interrupts: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    nextOffset: 0,
  };
  const head = async (other: object, id = 'r'): Promise<readonly string[]> => {
    const { service } = serviceOf({ [`/runs/${id}`]: { ...view, id, ...other }, [`/runs/${id}/transcript`]: { messages: [] } });
    const lines = await shown((terminal) => showRun(service, terminal, id, {}));
    return lines.filter((line) => /^(to stop|cancelled|go on)/.test(line)).map((line) => line.replace(/ {2,}/, ' | '));
  };
  const goesOn = 'go on with | npx holdfast resume r --url http://service';

  it.each([
    [{ mode: 'now', by: 'ada', reason: 'wrong\ncustomer' }, ', by ada: wrong customer'],
    [{ mode: 'after-tools', by: 'ada' }, ', after the tools, by ada'],
    [{ mode: 'now', escalated: true, reason: 'late' }, ', now, its time is up: late'],
    [{ reason: 'by the server' }, ': by the server'],
    [undefined, ''],
  ])('says when, by whom and why, and how it goes on: %j', async (cancelled, text) => {
    const when = 'cancelled | 2026-11-23 11:59:00 UTC (1 min ago)';
    expect(await head({ startedAt: at(2 * minute), closedAt: at(minute), cancelled })).toEqual([`${when}${text}`, goesOn]);
  });

  it('says who asks it to stop while it has not', async () => {
    const cancelling = { modes: ['after-model', 'after-tools'], recursive: true, by: 'ada', reason: 'wrong customer' };
    expect(await head({ status: 'running', cancelling })).toEqual(['to stop | after the model or after the tools, by ada: wrong customer']);
  });

  it('has no command for an isolated agent, which goes on with its run, and none for a run that was not cancelled', async () => {
    expect(await head({ closedAt: at(minute) }, 'r~writer')).toEqual(['cancelled | 2026-11-23 11:59:00 UTC (1 min ago)']);
    expect(await head({ status: 'completed', closedAt: at(minute) })).toEqual([]);
  });
});

it.each([
  ['its title in place of an input', { title: 'Where is order 42?' }, ['title    Where is order 42?']],
  ['neither before anybody has said anything', {}, []],
])('holdfast show of a conversation has %s', async (_, conversation, expected) => {
  const start = { type: 'run-start', agent: 'support', input: [], offset: 0, time: now };
  const view = { id: 'c', agent: 'support', status: 'idle', interrupts: [], usage: { inputTokens: 0, outputTokens: 0 }, nextOffset: 1 };
  const { service } = serviceOf({ '/runs/c': { ...view, conversation }, '/runs/c/transcript': { messages: [] }, events: [start] });
  const lines = await shown((terminal) => showRun(service, terminal, 'c', {}));
  expect(lines).toEqual(['run     c', 'agent   support', 'status  idle', ...expected, 'tokens  0 in, 0 out'].map(aligned));
});

function aligned(line: string): unknown {
  return expect.stringMatching(new RegExp(`^${line.replace(/ {2,}/, ' +').replace('?', '\\?')}$`));
}

describe('holdfast events', () => {
  it('has a line for people for each event, and JSON for machines', async () => {
    const { service } = serviceOf({ '/runs/r': { nextOffset: events.length, status: 'running' }, events });
    const lines = await shown((terminal) => printEvents(service, terminal, 'r', { from: '1' }));
    expect(lines).toEqual([
      '   1  2026-11-23 11:58:00.100  model-start      turn 1',
      '   2  2026-11-23 11:58:01.300  model-end        openai/x: → refund {"orderId":"42"}',
      '   3  2026-11-23 11:58:01.300  interrupt-start  support.t2.refund-0.approval.1 {"orderId":"42"}',
      '   4  2026-11-23 11:59:01.300  interrupt-end    support.t2.refund-0.approval.1 answer by kim: {"type":"approve"}',
      '   5  2026-11-23 11:59:01.400  tool-start       refund {"orderId":"42"}',
      '   6  2026-11-23 11:59:01.750  tool-end         ← refund: {"paid":80}',
      '   7  2026-11-23 11:59:01.800  model-start      turn 2',
    ]);
    const json = await shown((terminal) => printEvents(service, terminal, 'r', { json: true }));
    expect(json.map((line) => JSON.parse(line))).toEqual(events);
  });

  it('says of a policy that was applied that it was, and not that somebody answered', () => {
    const answer = { type: 'apply-policy', version: '2' };
    const applied: RunEvent = { type: 'interrupt-end', interruptId: refund.id, answer, by: 'olga', reason: 'answer', offset: 4, time: now };
    expect(eventLine(applied)).toContain(`${refund.id} policy applied by olga: `);
    const began: RunEvent = { type: 'interrupt-start', interrupt: refund, offset: 3, time: now };
    expect(stepsOf([began, applied])).toMatchObject([{ note: 'asked again, as its policy was applied by olga' }]);
  });

  it('has one line also of what has several, and of a type that it does not know', () => {
    const strange = { type: 'from-the-future', offset: 7, time: now, what: 'a\nb\u001b[2J' } as unknown as RunEvent;
    expect(eventLine(strange)).not.toMatch(/[\n\u001b]/);
    const nested: RunEvent = { type: 'agent-start', agent: 'b', runPath: ['a', 'b'], offset: 12, time: now };
    expect(eventLine(nested)).toBe('  12  2026-11-23 12:00:00.000  agent-start      [b] b');
  });
});

it('holdfast list --ids prints ids alone, and asks for no count', async () => {
  const { service, asked } = serviceOf({ '/runs': { runs: [{ id: 'one' }, { id: 'two' }], more: true, next: 'c' } });
  expect(await shown((terminal) => listRuns(service, terminal, { ids: true, status: 'failed' }))).toEqual(['one', 'two']);
  expect(asked).toEqual(['/runs?status=failed']);
});

describe('holdfast run without an input', () => {
  const text = { name: 'support', description: 'Answers.', takesJob: false };
  const inputSchema = { type: 'object', properties: { orderId: { type: 'string' }, note: { type: 'string' } }, required: ['orderId'] };
  const agents = [text, { ...text, name: 'orders', takesJob: true, inputSchema }, { ...text, name: 'any', takesJob: true }];
  const { service } = serviceOf({ '/agents': { agents } });

  it.each([
    ['support', 'request-invalid', 'The agent "support" takes a text: npx holdfast run support "your text"'],
    [
      'orders',
      'request-invalid',
      `The agent "orders" takes a job { orderId, note? } as JSON: npx holdfast run orders --json-input '{"orderId":"your value"}'`,
    ],
    [
      'any',
      'request-invalid',
      `The agent "any" takes a job as JSON, with the fields that its prompt reads: npx holdfast run any --json-input '{"field":"your value"}'`,
    ],
  ])('says what the agent takes, with a command that works: %s', async (agent, code, what) => {
    const message = `The input is missing. ${what} --url http://service`;
    await expect(startRun(service, recordedTerminal({ live: false }), { agent, words: [] })).rejects.toMatchObject({ code, message });
  });

  it('says which agents there are when there is none of this name', async () => {
    const message = 'There is no agent "suport". There are: support, orders, any.';
    const started = startRun(service, recordedTerminal({ live: false }), { agent: 'suport', words: [] });
    await expect(started).rejects.toMatchObject({ code: 'agent-unknown', message });
  });
});

it('holdfast run with a text, where the agent takes a job, says how to give one', async () => {
  const inputSchema = { type: 'object', properties: { copies: { type: 'integer', exclusiveMinimum: 0 } }, required: ['copies'] };
  const agents = [{ name: 'restock', description: 'Orders.', takesJob: true, inputSchema }];
  const refused = { error: { code: 'input-invalid', message: 'It does not fit.' } };
  jest
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async (url) =>
      String(url).endsWith('/agents') ? Response.json({ agents }) : Response.json(refused, { status: 400 }),
    );
  const started = startRun(new FoundService('http://service'), recordedTerminal({ live: false }), { agent: 'restock', words: ['hi'] });
  await expect(started).rejects.toMatchObject({
    code: 'input-invalid',
    message: `It does not fit. The agent "restock" takes a job { copies } as JSON: npx holdfast run restock --json-input '{"copies":1}'`,
  });
});

describe('holdfast agents', () => {
  it('prints names alone with --names', async () => {
    const { service } = serviceOf({ '/agents': { agents: [text, { ...text, name: 'orders' }] } });
    expect(await shown((terminal) => listAgents(service, terminal, { names: true }))).toEqual([text.name, 'orders']);
  });

  const text = { name: 'support', description: 'Answers.', takesJob: false };
  const inputSchema = { type: 'object', properties: { orderId: { type: 'string' }, note: { type: 'string' } }, required: ['orderId'] };

  it('says what each takes where one takes a job', async () => {
    const { service } = serviceOf({
      '/agents': { agents: [text, { ...text, name: 'orders', takesJob: true, inputSchema }, { ...text, name: 'any', takesJob: true }] },
    });
    expect(await shown((terminal) => listAgents(service, terminal, {}))).toEqual([
      'support  text                    Answers.',
      'orders   job { orderId, note? }  Answers.',
      'any      job                     Answers.',
    ]);
  });

  it('has names and descriptions where all take a text', async () => {
    const { service } = serviceOf({ '/agents': { agents: [text] } });
    expect(await shown((terminal) => listAgents(service, terminal, {}))).toEqual(['support  Answers.']);
  });
});
