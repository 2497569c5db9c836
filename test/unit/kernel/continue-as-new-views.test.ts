import type { ScriptedStep } from 'holdfast/testing';
import type { Agent, AgentMiddleware, Message } from 'holdfast/workflow';
import { HistoryFold } from '../../../contract/record/fold';
import type { RunView } from '../../../contract/events';
import { definitionOf } from '../../../kernel/define/definition';
import { MemoryRun } from '../../../testing/memory/run';
import { failureSaying } from '../../support/failures';
import { agentUnder, echo, lineOf, only } from '../../support/memory-bed';
import { memoryStart, scriptedWork } from '../../support/scripted-work';

const twoTurns: readonly ScriptedStep[] = [{ toolCalls: [echo('a')] }, { toolCalls: [echo('b')] }, { text: 'Done.' }];
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

const summary = (turn: number): AgentMiddleware => ({
  name: 'summary',
  beforeModelRewriteState: (_, ctx) => (ctx.iteration === turn ? { messages: [user('So far: a.')] } : undefined),
});
const asking = (text: string): AgentMiddleware => ({
  name: 'asking',
  wrapToolCall: async (call, next, ctx) => ((call.input as { text?: string }).text === text && (await ctx.interrupt('Go?')), next(call)),
});

async function started(script: readonly ScriptedStep[], ...middleware: readonly AgentMiddleware[]): Promise<MemoryRun> {
  const work = scriptedWork(script);
  const run = new MemoryRun(new Map([['agent', definitionOf(agentUnder(...middleware) as Agent)]]), { start: memoryStart }, work, 0);
  await run.idle();
  return run;
}

function lateView({ facts }: MemoryRun): RunView {
  const late = new HistoryFold();
  for (const fact of facts.slice(facts.map(({ kind }) => kind).lastIndexOf('start'))) late.add(fact);
  return late.view();
}

const linesOf = ({ messages }: RunView): readonly string[] => messages.map(lineOf);

async function unnoticed(run: MemoryRun): Promise<void> {
  const before = run.view();
  await run.goOnAsNew();
  expect(run.facts.filter(({ kind }) => kind === 'continued').length).toBeGreaterThan(0);
  expect(linesOf(run.view())).toEqual(linesOf(before));
  expect(run.view()).toEqual(before);
  expect(lateView(run)).toEqual(before);
}

const answered = (run: MemoryRun): Promise<void> => {
  run.answer({ interruptId: only(run.view().interrupts).id, answer: true });
  return run.idle();
};

const edited = ['user: So far: a.', 'assistant: echo({"text":"b"})'];

describe('a run that goes over a continue-as-new shows readers the messages that they saw', () => {
  it('when a hook edited them in the turn that waits', async () => {
    const run = await started(twoTurns, summary(2), asking('b'));
    await unnoticed(run);
    expect(linesOf(run.view())).toEqual(edited);
    await unnoticed(run);
    await answered(run);
    expect(run.view()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(linesOf(run.view())).toEqual([...edited, 'tool: b', 'assistant: Done.']);
  });

  it('when a hook edited them in the turn that fails', async () => {
    const failing: AgentMiddleware = {
      name: 'failing',
      afterToolCalls: (_, ctx) => {
        if (ctx.iteration === 2) throw new Error('no');
      },
    };
    const run = await started(twoTurns, summary(2), asking('b'), failing);
    await unnoticed(run);
    await answered(run);
    expect(run.view()).toMatchObject(failureSaying('hook-failed'));
    expect(linesOf(run.view())).toEqual([...edited, 'tool: b']);
    expect(lateView(run)).toEqual(run.view());
  });

  it('when a hook edited them in a turn of which the next one has not begun', async () => {
    const trimming: AgentMiddleware = {
      name: 'trimming',
      afterToolCalls: ({ messages }) => ({ messages: [user('Trimmed.'), ...messages.slice(2)] }),
    };
    const last: AgentMiddleware = {
      name: 'last',
      beforeModelRewriteState: async (_, ctx) => void (ctx.iteration === 2 && (await ctx.interrupt('Go?'))),
    };
    const run = await started(twoTurns, trimming, last);
    await unnoticed(run);
    expect(linesOf(run.view())).toEqual(['user: Hi', 'assistant: echo({"text":"a"})', 'tool: a']);
    await answered(run);
    expect(run.view().status).toBe('completed');
    expect(linesOf(run.view())[0]).toBe('user: Trimmed.');
  });

  it('when a wrap answers in the place of the model', async () => {
    const answering: AgentMiddleware = {
      name: 'answering',
      wrapModel: async (request, next, ctx) =>
        ctx.iteration === 2
          ? { message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'own', name: 'echo', input: { text: 'b' } }] } }
          : next(request),
    };
    const run = await started([{ toolCalls: [echo('a')] }, { text: 'Done.' }], summary(2), answering, asking('b'));
    const shown = ['user: Hi', 'assistant: echo({"text":"a"})', 'tool: a', 'assistant: echo({"text":"b"})'];
    expect(linesOf(run.view())).toEqual(shown);
    await unnoticed(run);
    await answered(run);
    expect(linesOf(run.view())).toEqual([...edited, 'tool: b', 'assistant: Done.']);
  });

  it('and writes nothing about them where they are those of the iteration checkpoint', async () => {
    const run = await started(twoTurns, asking('b'));
    await unnoticed(run);
    const { input } = run.facts.filter((fact) => fact.kind === 'start').at(-1) ?? {};
    expect(Object.keys(input?.snapshot ?? {}).sort()).toEqual(['events', 'lists', 'nextOffset', 'shown', 'state']);
  });
});
