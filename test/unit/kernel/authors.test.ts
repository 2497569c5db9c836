import { z } from 'zod';
import type { CallPrincipal } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import type { Agent, AgentMiddleware } from 'holdfast/workflow';
import { parallel } from 'holdfast/workflow';
import { conversationStartOf } from '../../../client/conversations/conversation-options';
import { startInputOf } from '../../../client/runs/start-input';
import type { Author } from '../../../contract/access';
import { cancelRequestIn } from '../../../contract/cancel';
import type { RunEvent } from '../../../contract/events';
import type { StartInput } from '../../../contract/record/wire';
import { retriedSnapshot } from '../../../contract/record/retry';
import type { MemoryRun } from '../../../testing/memory/run';
import { memoryRun } from '../../../testing/test-world';
import { answerIn } from '../../../workflows/answer-in';
import { only, toolOf } from '../../support/memory-bed';
import { member } from '../../support/team-bed';

const ada = { by: 'ada', proof: 'key:k1' };
const bob = { by: 'bob', proof: 'login:https://id.example' };
const place = { tenant: 'acme', agent: 'agent' };

const desk = { open: true, seen: [] as CallPrincipal[] };
const work = toolOf((_, { principal }) => {
  desk.seen.push(principal);
  if (!desk.open) throw new Error('closed');
  return 'worked';
});
const worker = { tools: ['work'], toolErrors: 'fail' } as const;
const apart = (options: Parameters<typeof member>[1]): AnyAgent =>
  parallel({ name: 'agent', isolate: true, agents: [member('inner', options)] });
const wholeOf = (isolate: boolean): AnyAgent => (isolate ? apart(worker) : member('agent', worker));
const works: ScriptedStep = { toolCalls: [{ name: 'work', input: {} }] };
const done: ScriptedStep = { text: 'Done.' };
const turns = [works, done, works, done, works, done];

const asks: AgentMiddleware = { name: 'asks', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?')) };
const slow: AgentMiddleware = { name: 'slow', afterAgent: async (_, ctx) => void (await ctx.sleep('1d')) };

beforeEach(() => Object.assign(desk, { open: true, seen: [] }));

type AnyAgent = Agent<string, string, unknown>;

interface Begun {
  readonly agent?: AnyAgent;
  readonly steps?: readonly ScriptedStep[];
  readonly world?: object;
}

async function begun(start: StartInput, { agent = wholeOf(false), steps = turns, world = {} }: Begun = {}): Promise<MemoryRun> {
  const run = await memoryRun(agent, start, { model: scriptedModel(steps), tools: { work }, ...world });
  await run.idle();
  return run;
}

const startedBy = (author: Author): StartInput => ({ ...startInputOf(place, 'Hi', { id: 'one' }), ...author });
const chatBy = (author: Author): StartInput => ({ ...conversationStartOf({ ...place, id: 'one' }, {}), ...author });

async function said(run: MemoryRun, id: string, author: Author): Promise<void> {
  await run.converse({ type: 'send', messages: [{ id, content: id, mode: 'after-turn', ...author }] });
  await run.idle();
}

/** The authors of all events of these types. */
function authorsIn({ events }: MemoryRun, ...types: readonly RunEvent['type'][]): readonly (readonly unknown[])[] {
  return events.flatMap((event) => {
    const { by, proof } = event as Author;
    return types.includes(event.type) ? [[event.type, by, ...(proof === undefined ? [] : [proof])]] : [];
  });
}

describe('the log says how the name was proven', () => {
  it('of who started, answered, answered too late, cancelled and resumed a run', async () => {
    const run = await begun(startedBy(ada), { agent: member('agent', { ...worker, middleware: [asks, slow] }) });
    const { id: interruptId } = only(run.view().interrupts);
    await run.signal({ interruptId: 'unknown', answer: 1, ...ada });
    await run.take({ interruptId, answer: 'yes', ...bob, roles: ['finance'] });
    await run.cancel(cancelRequestIn({ modes: ['now'], ...bob }));
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'cancelled', cancelled: bob });
    await run.goOnBehindEnd('run-resume', undefined, ada);
    const types = ['run-start', 'resume-ignored', 'interrupt-end', 'cancel-request', 'cancel-start', 'run-end', 'run-resume'] as const;
    const authors = [ada, ada, bob, bob, bob, bob, ada];
    expect(authorsIn(run, ...types)).toEqual(types.map((type, position) => [type, ...Object.values(authors[position] ?? {})]));
  });

  it('of who wrote, changed and withdrew messages, and changed a conversation', async () => {
    const run = await begun(chatBy(ada), { steps: [done] });
    await run.converse({ type: 'pause', ...bob });
    for (const id of ['m1', 'm2']) await said(run, id, ada);
    await run.converse({ type: 'change', id: 'm1', content: 'Changed', ...bob });
    expect(run.view().conversation?.queue).toMatchObject([ada, ada]);
    await run.converse({ type: 'withdraw', id: 'm2', ...bob });
    await run.converse({ type: 'title', title: 'Ours', ...ada });
    await run.converse({ type: 'unpause', ...ada });
    await run.idle();
    await run.converse({ type: 'end', mode: 'after-turn', ...bob });
    const [a, b] = [Object.values(ada), Object.values(bob)];
    expect(authorsIn(run, 'message-queued', 'message-changed', 'message-withdrawn', 'message')).toEqual([
      ['message-queued', ...a],
      ['message-queued', ...a],
      ['message-changed', ...b],
      ['message-withdrawn', ...b],
      ['message', ...a],
    ]);
    expect(authorsIn(run, 'conversation-change').map(([, ...author]) => author)).toEqual([b, a, a, b]);
    expect(run.view().conversation?.ended).toEqual({ reason: 'asked', ...bob });
  });

  it('of who decided before under a policy', async () => {
    const refund = defineTool({
      description: 'Pays.',
      inputSchema: z.object({ amount: z.number() }),
      effect: 'once',
      execute: () => 'Paid.',
    });
    const policies = { refunds: policy<{ refund: typeof refund }>({ name: 'refunds', tools: ['refund'], stages: [{ need: 3 }] }) };
    const run = await begun(startedBy({}), {
      agent: member('agent', { tools: ['refund'], middleware: [approvalsBy('refunds')] }),
      steps: [{ toolCalls: [{ name: 'refund', input: { amount: 8 } }] }, done],
      world: { tools: { refund }, policies },
    });
    for (const author of [ada, { by: 'cleo' }]) {
      await run.take({ interruptId: only(run.view().interrupts).id, answer: { type: 'approve' }, ...author });
      await run.idle();
      await run.goOnAsNew();
    }
    const given = [
      { stage: 1, type: 'approve', ...ada },
      { stage: 1, type: 'approve', by: 'cleo' },
    ];
    expect(run.view().interrupts).toMatchObject([{ policy: { given } }]);
  });

  it('of who answered an isolated agent, in both logs', async () => {
    const run = await begun(startedBy(ada), { agent: apart({ middleware: [asks] }), steps: [done] });
    await run.take({ interruptId: only(run.view().interrupts).id, answer: 'yes', ...bob });
    await run.idle();
    const logs = [run, ...run.children.values()].map((one) => authorsIn(one, 'run-start', 'interrupt-end'));
    const both = [
      ['run-start', ...Object.values(ada)],
      ['interrupt-end', ...Object.values(bob)],
    ];
    expect(logs).toEqual([both, both]);
  });
});

describe('a proof', () => {
  it('never passes from one name to another: a later cancel by a claimed name has none', async () => {
    const run = await begun(startedBy({}), { agent: member('agent', { middleware: [slow] }), steps: [done] });
    await run.cancel({ modes: ['after-tools'], recursive: true, ...ada });
    expect(run.view().cancelling).toMatchObject(ada);
    await run.cancel({ modes: ['now'], recursive: true, by: 'bob' });
    await run.idle();
    expect(authorsIn(run, 'cancel-request', 'cancel-start', 'run-end')).toEqual([
      ['cancel-request', ...Object.values(ada)],
      ['cancel-request', 'bob'],
      ['cancel-start', 'bob'],
      ['run-end', 'bob'],
    ]);
  });

  it.each([
    ['a number', 7],
    ['no character', ''],
    ['more than 300 characters', 'x'.repeat(301)],
    ['an object', { by: 'ada' }],
    ['a list', ['key:k1']],
  ])('of %s is none', async (_, proof) => {
    const forged = { by: 'ada', proof } as Author;
    expect(answerIn({ interruptId: 'a', answer: 1, ...forged })).toEqual({ interruptId: 'a', answer: 1, by: 'ada' });
    expect(cancelRequestIn(forged)).toEqual({ modes: ['now'], recursive: true, by: 'ada' });
    const point = { events: [], nextOffset: 0 } as unknown as Parameters<typeof retriedSnapshot>[0];
    expect(retriedSnapshot(point, forged).events).toEqual([{ type: 'run-retry', by: 'ada' }]);
    const run = await begun(chatBy(forged));
    await said(run, 'm1', { ...forged, by: 'bob', roles: 7 as never });
    expect(authorsIn(run, 'run-start', 'message')).toEqual([
      ['run-start', 'ada'],
      ['message', 'bob'],
    ]);
    expect(desk.seen).toEqual([{ tenant: 'acme', user: 'bob' }]);
  });

  it('without a name is none', () => {
    expect(answerIn({ interruptId: 'a', answer: 1, proof: 'key:k1' })).toEqual({ interruptId: 'a', answer: 1 });
    expect(cancelRequestIn({ by: '', proof: 'key:k1' })).toEqual({ modes: ['now'], recursive: true });
  });
});

describe('a tool works for', () => {
  const adaHere = { tenant: 'acme', user: 'ada', proof: ada.proof, roles: ['clerk'] };
  const bobHere = { tenant: 'acme', user: 'bob', proof: bob.proof };
  const clerk = { ...ada, roles: ['clerk'] };

  it.each([
    ['nobody', {}, { tenant: 'acme' }],
    ['a claimed name', { by: 'ada' }, { tenant: 'acme', user: 'ada' }],
    ['a proven name', clerk, adaHere],
  ])('the starter: %s', async (_, author, principal) => {
    await begun(startedBy(author));
    expect(desk.seen).toEqual([principal]);
  });

  it.each([false, true])('who began the turn, also after a continue-as-new (isolated agent: %p)', async (isolate) => {
    const run = await begun(chatBy(clerk), { agent: wholeOf(isolate) });
    await said(run, 'm1', clerk);
    await run.goOnAsNew();
    await said(run, 'm2', bob);
    await run.goOnAsNew();
    await said(run, 'm3', {});
    expect(desk.seen).toEqual([adaHere, bobHere, { tenant: 'acme' }]);
  });

  it('the starter without a word about it in its calls: only another author is in a call', async () => {
    const run = await begun(chatBy(clerk));
    for (const author of [clerk, bob, {}] as readonly Author[]) await said(run, `by-${author.by}`, author);
    const calls = run.facts.flatMap((fact) => (fact.kind === 'tool-scheduled' ? [fact.input.author] : []));
    expect(calls).toEqual([undefined, bob, {}]);
  });

  it('who changed the first message of the turn, without the roles of its sender', async () => {
    const run = await begun(chatBy({}), { steps: [works, done, works, done] });
    for (const author of [bob, ada]) {
      await run.converse({ type: 'pause' });
      await said(run, `by-${author.by}`, clerk);
      await run.converse({ type: 'change', id: `by-${author.by}`, content: 'Other', ...author });
      await run.converse({ type: 'unpause' });
      await run.idle();
    }
    expect(desk.seen).toEqual([bobHere, adaHere]);
  });

  it.each([false, true])('the starter, also when somebody else tries the run again (isolated agent: %p)', async (isolate) => {
    desk.open = false;
    const run = await begun(startedBy(clerk), { agent: wholeOf(isolate), steps: [works, done] });
    expect(run.view().status).toBe('failed');
    desk.open = true;
    await run.goOnBehindEnd('run-retry', undefined, bob);
    await run.idle();
    expect(run.view().status).toBe('completed');
    expect(authorsIn(run, 'run-retry')).toEqual([['run-retry', ...Object.values(bob)]]);
    expect(desk.seen).toEqual([adaHere, adaHere]);
  });

  it('a person whom it cannot change', async () => {
    const changes = toolOf((_, { principal }) => {
      Object.assign(principal, { user: 'bob' });
      return 'changed';
    });
    const run = await begun(startedBy(ada), { steps: [works], world: { tools: { work: changes } } });
    expect(run.view().error?.message).toMatch(/read only property 'user'/);
  });
});
