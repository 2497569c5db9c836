import type { AgentMiddleware, Message } from 'holdfast/workflow';
import { customAgent, loop, parallel, sequential } from 'holdfast/workflow';
import type { ScriptedStep } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import type { HistoryFact } from '../../../contract/record/history-fact';
import { isRunInput } from '../../../contract/record/is-run-input';
import { packedSnapshot, unpackedInput } from '../../../contract/record/snapshot-messages';
import type { AgentRunInput, Snapshot } from '../../../contract/record/wire';
import { tools, withHook } from '../../support/memory-bed';
import { heard, member, scripts } from '../../support/team-bed';

const content = 'word '.repeat(600);
const turns = (count: number): readonly ScriptedStep[] => Array.from({ length: count }, (_, turn) => ({ text: `${turn}: ${content}` }));
const asking = (atLeast = 0, change?: (messages: readonly Message[]) => readonly Message[]): AgentMiddleware =>
  withHook('asking', 'beforeModelRewriteState', async ({ messages }, ctx) => {
    if (messages.length < atLeast || (await ctx.interrupt('Go on?')) === 'as it is' || change === undefined) return undefined;
    return { messages: change(messages) };
  });

async function border(agent: Parameters<typeof testRun>[0], steps: Readonly<Record<string, readonly ScriptedStep[]>>) {
  const model = scripts(steps);
  const run = await testRun(agent, { input: 'Go.', model, tools });
  expect((await run.outcome()).status).toBe('waiting');
  await run.goOnAsNew();
  const { facts } = (run as unknown as { run: { facts: readonly HistoryFact[] } }).run;
  const { input } = facts.filter((fact) => fact.kind === 'start').at(-1) as { readonly input: AgentRunInput };
  return { run, model, input, snapshot: input.snapshot as Snapshot };
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('the messages of a snapshot', () => {
  it('stand once, however many agents have heard them: a hundred turns of 3 KB', async () => {
    const agents = [
      loop({ name: 'talk', maxIterations: 50, agents: [member('a'), member('b')] }),
      parallel({ name: 'lanes', agents: ['x', 'y', 'z'].map((name) => member(name, { middleware: [asking()] })) }),
    ];
    const { input, snapshot } = await border(sequential({ name: 'all', agents }), { a: turns(50), b: turns(50) });
    const packed = packedSnapshot(snapshot);
    expect(sizeOf(snapshot)).toBeGreaterThan(4 * 300_000);
    expect(sizeOf(packed)).toBeLessThan(350_000);
    expect(unpackedInput(asJson({ ...input, snapshot: packed }))).toEqual(input);
  });

  it('stand once, also those that readers were shown', async () => {
    const talking = customAgent({
      name: 'talking',
      async *run(_, ctx) {
        for (let turn = 0; turn < 100; turn++)
          yield { message: { role: 'assistant', parts: [{ type: 'text', text: `${turn}: ${content}` }] } };
        await ctx.interrupt('Go on?');
        return 'Done.';
      },
    });
    const { run, input, snapshot } = await border(talking, {});
    const packed = packedSnapshot(snapshot);
    expect(sizeOf(snapshot) - sizeOf(packed)).toBeGreaterThan(295_000);
    expect(unpackedInput(asJson({ ...input, snapshot: packed }))).toEqual(input);
    expect(await run.transcript()).toHaveLength(101);
  });

  it('are what agents are told after the continue-as-new', async () => {
    const { run, model } = await border(
      loop({ name: 'talk', maxIterations: 2, agents: [member('a'), member('b', { middleware: [asking(4)] })] }),
      { a: turns(2), b: turns(2) },
    );
    await run.resume((await run.interrupts())[0]?.id ?? '', 'as it is');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(heard(model.requests('b')[1]!)).toEqual([
      'user: Go.',
      `user: For context: [a] said: 0: ${content}.`,
      `assistant: 0: ${content}`,
      `user: For context: [a] said: 1: ${content}.`,
    ]);
  });

  it('that a hook has changed stand as they are', async () => {
    const shorter = (messages: readonly Message[]): readonly Message[] =>
      messages.map((message) => ({ ...message, parts: [{ type: 'text', text: 'Shorter.' }] }));
    const changing: AgentMiddleware = { name: 'changing', beforeModelRewriteState: ({ messages }) => ({ messages: shorter(messages) }) };
    const waiting = withHook('waiting', 'wrapModel', async (request, next, ctx) => (await ctx.interrupt('?'), next(request)));
    const { input, snapshot } = await border(
      sequential({ name: 'all', agents: [member('a'), member('b', { middleware: [changing, waiting] })] }),
      { a: turns(1) },
    );
    expect(unpackedInput(asJson({ ...input, snapshot: packedSnapshot(snapshot) }))).toEqual(input);
    const { lists } = snapshot;
    const other = {
      ...lists,
      'all/b': (lists['all/b'] ?? []).map((message) => ({ ...message, parts: [{ type: 'text' as const, text: 'Other.' }] })),
    };
    const edited = { ...snapshot, lists: other };
    expect(packedSnapshot(edited).lists['all/b']).toEqual(other['all/b']);
  });

  it('of one agent alone, and of snapshots of before, stand whole', async () => {
    const { input, snapshot } = await border(member('alone', { middleware: [asking()] }), {});
    expect(packedSnapshot(snapshot)).toBe(snapshot);
    expect(unpackedInput(input)).toBe(input);
  });

  it('are no names that mean nothing', async () => {
    const { input, snapshot } = await border(member('alone', { middleware: [asking()] }), {});
    for (const named of [null, [], { lists: [] }, { lists: { a: 'x' } }, { shown: [5] }])
      expect(isRunInput({ ...input, snapshot: { ...snapshot, named } })).toBe(false);
    expect(isRunInput({ ...input, snapshot: { ...snapshot, named: { shown: ['x'] } } })).toBe(true);
    expect(unpackedInput({ ...input, snapshot: { ...snapshot, named: { shown: ['x'] } } }).snapshot?.shown).toEqual([
      { id: 'x', role: 'assistant', parts: [] },
    ]);
  });
});
