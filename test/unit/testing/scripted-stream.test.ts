import { scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedStep, TestRunOptions, TestRun } from 'holdfast/testing';
import type { Delta } from '../../../contract/deltas';
import type { AgentOptions } from '../../../kernel/define/agent-options';
import type { Tools } from '../../../kernel/define/middleware';
import type { Json } from '../../../contract/messages/messages';
import { agentWith, echo, startRun, tools, transcriptOf } from '../../support/memory-bed';
import { errorOf } from '../../support/failures';

interface Streamed {
  readonly run: TestRun;
  readonly deltas: readonly Delta[];
}

type Options = Partial<AgentOptions<Tools, 'agent', Json>> & Pick<TestRunOptions<Json>, 'stream'>;

async function play(steps: readonly ScriptedStep[], { stream, ...options }: Options = {}): Promise<Streamed> {
  const deltas: Delta[] = [];
  const run = await testRun(agentWith({ tools: ['echo'], ...options }), {
    input: 'Hi',
    model: scriptedModel(steps, { stream: true }),
    tools,
    onDelta: (delta) => deltas.push(delta),
    ...(stream === undefined ? {} : { stream }),
  });
  await run.outcome();
  return { run, deltas };
}

const short = ({ type, ...delta }: Delta): string => ('text' in delta ? `${type} ${delta.text ?? ''}` : type);

describe('a scripted model that streams', () => {
  it('says a text word by word, and then it is the message', async () => {
    const { run, deltas } = await play([{ text: 'Paid in  full.\n' }]);
    expect(deltas.map(short)).toEqual(['attempt-start', 'text-delta Paid ', 'text-delta in  ', 'text-delta full.\n']);
    expect(deltas[0]).toMatchObject({ agent: 'agent', address: 'agent/t1/model', attempt: 1 });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Paid in  full.\n']);
  });

  it('says a text in the pieces that the script has', async () => {
    const { run, deltas } = await play([{ text: ['Pa', 'id', '.'], usage: { inputTokens: 2, outputTokens: 3 } }]);
    expect(deltas.map(short)).toEqual(['attempt-start', 'text-delta Pa', 'text-delta id', 'text-delta .']);
    expect(await run.outcome()).toMatchObject({ text: 'Paid.' });
    expect(await run.usage()).toEqual({ inputTokens: 2, outputTokens: 3 });
  });

  it('writes the arguments of a call bit by bit', async () => {
    const { run, deltas } = await play([{ text: 'Wait.', toolCalls: [echo('a longer text')] }, { text: 'Done.' }]);
    const inputs = deltas.flatMap((delta) => (delta.type === 'tool-input-delta' ? [delta.text] : []));
    expect(inputs.length).toBeGreaterThan(1);
    expect(inputs.join('')).toBe('{"text":"a longer text"}');
    expect(deltas.map(({ type }) => type).slice(0, 4)).toEqual(['attempt-start', 'text-delta', 'tool-input-start', 'tool-input-delta']);
    expect(deltas[2]).toMatchObject({ callId: 'call-1-1', tool: 'echo' });
    expect(await transcriptOf(run)).toContain('tool: a longer text');
  });

  it('breaks off behind what it said, and that is void', async () => {
    const broken: ScriptedStep = { text: ['Ha', 'lf'], error: 'The line is dead.', retryable: true };
    const { run, deltas } = await play([broken, { text: 'Whole.' }]);
    expect(deltas.map(short)).toEqual([
      'attempt-start',
      'text-delta Ha',
      'text-delta lf',
      'attempt-void',
      'attempt-void',
      'attempt-start',
      'text-delta Whole.',
    ]);
    expect(await run.outcome()).toMatchObject({ text: 'Whole.' });
  });

  it('leaves time to cancel in the middle of an answer', async () => {
    const shown: string[] = [];
    let cancel = (): void => undefined;
    const run = await testRun(agentWith({ tools: [] }), {
      input: 'Hi',
      model: scriptedModel([{ text: 'One two three four five six seven eight nine ten' }], { stream: true }),
      onDelta: (delta) => {
        if (delta.type === 'text-delta' && shown.push(delta.text) === 2) cancel();
      },
    });
    cancel = () => void run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    const [, answer = ''] = await transcriptOf(run);
    expect(answer).toMatch(/^assistant: One two /);
    expect(answer).not.toContain('ten');
  });

  it('answers whole in a run that does not stream', async () => {
    const { run, deltas } = await play([{ text: ['Pa', 'id.'] }], { stream: false });
    expect(deltas).toEqual([]);
    expect(await run.outcome()).toMatchObject({ text: 'Paid.' });
  });
});

describe('a scripted model that was not told to stream', () => {
  it('shows nothing of an answer before it is there, also of one in pieces', async () => {
    const deltas: Delta[] = [];
    const model = scriptedModel([{ text: ['Pa', 'id.'] }]);
    const run = await startRun(agentWith(), model, { onDelta: (delta) => deltas.push(delta) });
    expect(await run.outcome()).toMatchObject({ text: 'Paid.' });
    expect(deltas).toEqual([]);
    expect(model.stream).toBeUndefined();
  });

  it.each([[{ stream: 'yes' }], ['stream']])('says which options there are when it gets %j', (options) => {
    expect(() => scriptedModel([{ text: 'Done.' }], options as never)).toThrow(errorOf('request-invalid', /\{ stream: true \}/));
  });

  it.each([
    ['an empty list of pieces', { text: [] }, 'step 1 has a text that is none'],
    ['a piece that is no text', { text: ['a', 5] }, 'step 1 has a text that is none'],
    ['calls beside an error', { error: 'down', toolCalls: [echo('a')] }, 'step 1 has toolCalls beside its error'],
  ])('refuses %s', (_, step, message) => {
    expect(() => scriptedModel([step as never])).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
  });
});

it.each<[string, NonNullable<AgentOptions<Tools, 'agent', Json>['retry']>, readonly ScriptedStep[], readonly string[]]>([
  [
    'was rejected',
    { maxRetries: 1, shouldRetry: ({ attempt }: { attempt: number }) => (attempt === 1 ? { retry: true } : undefined) },
    [{ text: 'Bad.' }, { text: 'Good.' }],
    ['attempt-start', 'attempt-void', 'attempt-start'],
  ],
  [
    'was rejected for good',
    { maxRetries: 0, shouldRetry: () => ({ retry: true, rejectReason: 'It is bad.' }) },
    [{ text: 'Bad.' }],
    ['attempt-start', 'attempt-void'],
  ],
])('onDelta of testRun says that a whole answer which %s is void', async (_, retry, steps, attempts) => {
  const { run, deltas } = await play(steps, { retry, stream: true });
  await run.advance('1m');
  await run.outcome();
  expect(deltas.map(({ type }) => type).filter((type) => type.startsWith('attempt'))).toEqual(attempts);
});
