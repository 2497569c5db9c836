import { approval, askHuman } from 'holdfast/middleware';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { RunEvent } from '../../../client/http/index';
import { canGoOn } from '../../../console/run/can-go-on';
import type { ConversationEntry } from '../../../console/run/entries';
import { speakerOf } from '../../../console/run/entries';
import { RunSteps } from '../../../console/run/steps';
import { resultsOf } from '../../../console/run/tool-results';
import type { TestRun } from '../../../testing/index';
import { agentWith, logOf, startRun } from '../../support/memory-bed';

type Call = Extract<ConversationEntry, { kind: 'call' }>;
type Wait = Extract<ConversationEntry, { kind: 'wait' }>;

const calls = (...toolCalls: { readonly name: string; readonly input: object }[]): ScriptedStep => ({ toolCalls: toolCalls as never });
const callsIn = ({ entries }: RunSteps): readonly Call[] => entries.filter((entry): entry is Call => entry.kind === 'call');
const waitsIn = ({ entries }: RunSteps): readonly Wait[] => entries.filter((entry): entry is Wait => entry.kind === 'wait');
const stepsOf = async (run: TestRun): Promise<RunSteps> => new RunSteps().take(await logOf(run));

const place = { agent: 'agent', runPath: ['agent'] };
let offset = 0;
const event = (body: object): RunEvent => ({ ...place, ...body, offset: offset++, time: 1_000 }) as unknown as RunEvent;
const toolStart = event({ type: 'tool-start', tool: 'mail', callId: 'c', input: {}, address: 'agent/t1/mail.0' });
const interrupt = { id: 'i', address: ['agent', 't1', 'mail.0'], agent: 'agent', kind: 'in-doubt', info: {} };
const doubt = event({ type: 'interrupt-start', interrupt });

describe('a call that has not come back', () => {
  it('stands still while it waits for a person, and runs again behind the answer', async () => {
    const model = scriptedModel([calls({ name: 'askHuman', input: { question: 'Why?' } }), { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: [], middleware: [askHuman()] }), { input: 'Hi', model });
    const log = await logOf(run);
    expect(callsIn(new RunSteps().take(log)).map(({ halt }) => halt)).toEqual(['waits']);
    const ended = event({ type: 'interrupt-end', interruptId: 'agent.t1.askHuman-0.askHuman', answer: 'So.', reason: 'answer' });
    const [call] = callsIn(new RunSteps().take([...log, ended]));
    expect(call).not.toHaveProperty('halt');
  });

  it('is in doubt where nobody knows whether it happened', () => {
    expect(callsIn(new RunSteps().take([toolStart, doubt]))[0]?.halt).toBe('in-doubt');
  });

  it.each(['cancelled', 'failed', 'completed'] as const)('does not run any more when the run has %s', (status) => {
    const end = event({ type: 'run-end', status });
    expect(callsIn(new RunSteps().take([toolStart, end]))[0]?.halt).toBe('over');
    const steps = new RunSteps().take([toolStart, doubt, end]);
    expect([callsIn(steps)[0]?.halt, waitsIn(steps)[0]?.halt]).toEqual(['over', 'over']);
  });

  it('runs again with its run, and so does what waited', () => {
    const steps = new RunSteps().take([toolStart, doubt, event({ type: 'run-end', status: 'cancelled' }), event({ type: 'run-resume' })]);
    expect(waitsIn(steps)[0]).not.toHaveProperty('halt');
    const again = event({ ...toolStart, again: true, address: 'agent/t1/mail.0.2' });
    const [call, ...more] = callsIn(steps.take([...Array<RunEvent>(4), again]));
    expect(call).toMatchObject({ address: 'agent/t1/mail.0.2' });
    expect(call).not.toHaveProperty('halt');
    expect(more).toEqual([]);
  });

  it('has the end of the call that was made in its place', () => {
    const again = event({ ...toolStart, again: true, address: 'agent/t1/mail.0.2' });
    const end = event({ type: 'tool-end', tool: 'mail', callId: 'c', address: 'agent/t1/mail.0.2', message: { parts: [] } });
    const { steps, entries } = new RunSteps().take([toolStart, again, end]);
    expect([entries.map((entry) => 'end' in entry), steps.map((step) => step.end)]).toEqual([[true], [1_000]]);
  });
});

describe('a call that was not made', () => {
  it('has its arguments, and what was said in its place is no word of the agent', async () => {
    const model = scriptedModel([calls({ name: 'echo', input: { text: 'x' } }, { name: 'nix', input: { order: 42 } }), { text: 'Done.' }]);
    const run = await startRun(agentWith({ tools: ['echo'], middleware: [approval({ tools: { echo: true } })] }), model);
    const [asked] = await run.interrupts();
    await run.reject(asked?.id ?? '', 'Too late.', { by: 'ada' });
    const steps = await stepsOf(run);
    expect(callsIn(steps)).toMatchObject([
      { tool: 'nix', input: { order: 42 }, end: { error: { code: 'tool-not-found' } } },
      { tool: 'echo', input: { text: 'x' }, end: { message: { role: 'tool' } } },
    ]);
    expect(callsIn(steps).map(({ address }) => address)).toEqual([undefined, undefined]);
    expect(waitsIn(steps)[0]?.end).toMatchObject({ by: 'ada', answer: { type: 'reject', feedback: 'Too late.' } });
    expect(steps.entries.filter((entry) => entry.kind === 'message').map(speakerOf)).toEqual(['User', 'agent', 'agent']);
  });

  it('is said by the tool also where a message alone has its result', () => {
    const message = { id: '1', role: 'tool', parts: [{ type: 'tool-result', callId: 'c', name: 'transfer', output: 'Gone.' }] } as const;
    const [entry] = new RunSteps().take([event({ type: 'agent-message', message })]).entries;
    expect(entry?.kind === 'message' && speakerOf(entry)).toBe('Tool transfer');
  });
});

it('an isolated agent has its tokens by model, and its turn has them too', () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const steps = new RunSteps().take([
    event({ type: 'turn-start', turn: 1 }),
    event({ type: 'agent-start', run: 'x~first' }),
    event({ type: 'agent-end', run: 'x~first', usage, usageByModel: { 'test/first': usage } }),
  ]).steps;
  expect(steps.map(({ kind, usageByModel }) => [kind, usageByModel])).toEqual([
    ['turn', { 'test/first': usage }],
    ['agent', { 'test/first': usage }],
  ]);
});

describe('the result of a tool', () => {
  const results = (response: object) => resultsOf({ callId: 'c', tool: 'find', response } as never);
  const message = (output: string) =>
    ({ id: '1', role: 'tool', parts: [{ type: 'tool-result', callId: 'c', name: 'find', output }] }) as const;
  const outcome = { type: 'done', messageId: '1', output: 'grace@example.com' } as const;

  it('is what the model saw, and beside it what the tool gave where a layer changed it', () => {
    const { seen, given } = results({ outcome, message: message('[e-mail]') });
    expect([seen?.parts, given?.parts]).toMatchObject([[{ output: '[e-mail]' }], [{ output: 'grace@example.com' }]]);
  });

  it('is there once where nothing changed it, or the model has not seen it yet', () => {
    expect(results({ outcome, message: message('grace@example.com') })).toEqual({ seen: message('grace@example.com') });
    expect(Object.keys(results({ outcome }))).toEqual(['given']);
    expect(Object.keys(results({ message: message('Hi') }))).toEqual(['seen']);
    expect(results({})).toEqual({});
  });
});

it.each([
  ['it failed by itself', 'run', 'model-failed', 'Out of order.', true],
  ['somebody terminated it', 'run', 'run-terminated', 'Enough.', false],
  ['its deadline ended it', 'run', 'run-timed-out', 'The deadline of the run has passed.', false],
  ['an agent in it was terminated', 'run', 'run-terminated', "The agent 'first' failed: Enough.", true],
  ['it is an isolated agent', 'run~first', 'model-failed', 'Out of order.', false],
] as const)('a run is offered to be tried again or not where %s', (_, id, code, message, can) => {
  expect(canGoOn({ id, error: { code, message } })).toBe(can);
});
