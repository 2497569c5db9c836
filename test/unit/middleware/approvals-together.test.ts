import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { approval, policy, toolRetry } from 'holdfast/middleware';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware, ApprovalDecision, Json } from 'holdfast/workflow';
import { agentWith, only, transcriptOf } from '../../support/memory-bed';

const paid: number[] = [];
let failures = 0;
const refund = defineTool({
  description: 'Pays money back.',
  // A second transform would change the amount.
  inputSchema: z.object({ cents: z.union([z.number(), z.string().transform((text) => Number(text) * 100)]) }),
  effect: 'idempotent',
  execute: ({ cents }) => {
    if (failures-- > 0) throw new Error('busy');
    paid.push(cents);
    return `paid ${cents}`;
  },
});

const outer = approval<{ refund: typeof refund }>({ name: 'outer', tools: { refund: true } });
const inner = approval<{ refund: typeof refund }>({ name: 'inner', tools: { refund: true } });
const boss = policy<{ refund: typeof refund }>({
  name: 'boss',
  tools: ['refund'],
  when: ({ input }) => input.cents > 1000,
  amount: 'cents',
  stages: [{ by: { users: ['boss'] } }],
});
const asIs: AgentMiddleware = { name: 'asIs', wrapToolCall: (call, next) => next(call) };
const doubles: AgentMiddleware = {
  name: 'doubles',
  wrapToolCall: (call, next) => next({ ...call, input: { cents: (call.input as { cents: number }).cents * 2 } }),
};
const own: AgentMiddleware = {
  name: 'own',
  async wrapToolCall(call, next, ctx) {
    const decision = (await ctx.approve(call)) as ApprovalDecision;
    return decision.type === 'approve' ? next({ ...call, input: decision.editedInput ?? call.input }) : 'no';
  },
};

async function started(middleware: readonly AgentMiddleware[], cents: Json = 10, times = 1): Promise<TestRun> {
  paid.length = 0;
  failures = 0;
  const calls = Array.from({ length: times }, () => ({ toolCalls: [{ name: 'refund', input: { cents } }] }));
  return testRun(agentWith({ tools: ['refund'], middleware }), {
    input: 'Refund',
    model: scriptedModel([...calls, { text: 'Done.' }]),
    tools: { refund },
  });
}

async function asked(run: TestRun): Promise<string> {
  await run.outcome();
  const interrupt = only(await run.interrupts());
  if (interrupt.kind !== 'approval') throw new Error(interrupt.kind);
  return `${interrupt.address.at(-1)} ${JSON.stringify((interrupt.input as { cents: Json }).cents)}`;
}

async function decide(run: TestRun, decision: ApprovalDecision, by = 'boss'): Promise<void> {
  await run.resume(only(await run.interrupts()).id, decision as unknown as Json, { by });
}

const yes: ApprovalDecision = { type: 'approve' };
const edit = (cents: Json): ApprovalDecision => ({ type: 'approve', editedInput: { cents } });

async function questionsOf(run: TestRun, decisions: readonly ApprovalDecision[], border = false, people: readonly string[] = []) {
  const questions: string[] = [];
  for (const [position, decision] of decisions.entries()) {
    questions.push(await asked(run));
    if (border) await run.goOnAsNew();
    await decide(run, decision, people[position]);
    if (border) await run.goOnAsNew();
  }
  return questions;
}

async function played(run: TestRun, decisions: readonly ApprovalDecision[], border = false, people: readonly string[] = []) {
  const questions = await questionsOf(run, decisions, border, people);
  expect((await run.outcome()).status).toBe('completed');
  return questions;
}

describe('two approvals of one call', () => {
  it.each([false, true])(
    'ask the first person again when the second one changes the arguments (over continue-as-new: %p)',
    async (border) => {
      const run = await started([outer, asIs, inner]);
      expect(await played(run, [yes, edit(99), yes], border)).toEqual(['outer 10', 'inner 10', 'outer 99']);
      expect(paid).toEqual([99]);
    },
  );

  it.each([false, true])('go round until both agree to the same (over continue-as-new: %p)', async (border) => {
    const run = await started([outer, inner]);
    const questions = await played(run, [yes, edit(99), edit('2'), edit(50), yes], border);
    expect(questions).toEqual(['outer 10', 'inner 10', 'outer 99', 'inner 200', 'outer 50']);
    expect(paid).toEqual([50]);
  });

  it('run arguments as they were read once', async () => {
    const run = await started([outer, inner]);
    expect(await played(run, [yes, edit('3'), yes])).toEqual(['outer 10', 'inner 10', 'outer 300']);
    expect(paid).toEqual([300]);
  });

  it('do not run what the first person rejects after the edit', async () => {
    const run = await started([outer, inner]);
    await played(run, [yes, edit(99), { type: 'reject', feedback: 'Too much.' }]);
    expect(paid).toEqual([]);
    expect(await transcriptOf(run)).toContain("tool: A human rejected the call of 'refund'. It did not run. They said: Too much.");
  });

  it('say why somebody is asked again', async () => {
    const run = await started([outer, inner]);
    await questionsOf(run, [yes, edit(99)]);
    await run.outcome();
    expect(only(await run.interrupts())).toMatchObject({ problem: 'Somebody who was asked later changed the arguments of this call.' });
  });

  it('tell the model once, with the arguments that ran', async () => {
    const run = await started([outer, inner]);
    await played(run, [edit(20), edit(30), yes], true);
    const told = (await transcriptOf(run)).filter((line) => line.startsWith('tool:'));
    expect(told).toEqual(['tool: A person changed the arguments of this call before it ran. It ran with: {"cents":30}\n\npaid 30']);
  });

  it('tell the model nothing when somebody changed it back', async () => {
    const run = await started([outer, inner]);
    await played(run, [yes, edit(30), edit(10), yes]);
    expect((await transcriptOf(run)).filter((line) => line.startsWith('tool:'))).toEqual(['tool: paid 10']);
  });
});

describe('a policy around an approval', () => {
  it('asks about an edit that makes the call one of its own', async () => {
    const run = await started([boss, inner]);
    expect(await played(run, [edit(5000), yes])).toEqual(['inner 10', 'boss 5000']);
    expect(paid).toEqual([5000]);
  });

  it('asks nobody about an edit that does not', async () => {
    const run = await started([boss, inner]);
    expect(await played(run, [edit(900)])).toEqual(['inner 10']);
    expect(paid).toEqual([900]);
  });

  it('asks about an edit above the amount that somebody waived', async () => {
    const run = await started([boss, inner], 2000, 2);
    const upTo: ApprovalDecision = { type: 'approve', upTo: 3000 };
    expect(await played(run, [upTo, yes, edit(9000), yes])).toEqual(['boss 2000', 'inner 2000', 'inner 2000', 'boss 9000']);
    expect(paid).toEqual([2000, 9000]);
  });

  it('asks about an edit of somebody whom another policy asks', async () => {
    const clerk = policy<{ refund: typeof refund }>({ name: 'clerk', tools: ['refund'], stages: [{ need: 2 }] });
    const run = await started([boss, clerk]);
    const questions = await played(run, [edit(5000), yes, yes], false, ['ada', 'bob', 'boss']);
    expect(questions).toEqual(['clerk 10', 'clerk 5000', 'boss 5000']);
  });
});

describe('a layer between two approvals that changes the arguments', () => {
  it('has the first person asked about what the second one approved', async () => {
    const run = await started([outer, doubles, inner]);
    expect(await played(run, [yes, yes, yes])).toEqual(['outer 10', 'inner 20', 'outer 20']);
    expect(paid).toEqual([20]);
  });

  it('asks a policy around it whether it needs people now', async () => {
    const run = await started([boss, doubles, inner], 600);
    expect(await played(run, [yes, yes])).toEqual(['inner 1200', 'boss 1200']);
    expect(paid).toEqual([1200]);
  });
});

it('a layer between two approvals that calls again asks only the second person again about what both have agreed to', async () => {
  const run = await started([outer, toolRetry({ tools: ['refund'] }), inner]);
  failures = 1;
  expect(await questionsOf(run, [yes, edit(99), yes])).toEqual(['outer 10', 'inner 10', 'outer 99']);
  await run.advance('1h');
  expect(await played(run, [yes])).toEqual(['inner 10']);
  expect(paid).toEqual([10]);
});

describe('an approval inside a layer that asks by itself', () => {
  it('does not run a call that nobody approved as it is, and tells the model', async () => {
    const run = await started([own, inner]);
    expect(await played(run, [yes, edit(99)])).toEqual(['own 10', 'inner 10']);
    expect(paid).toEqual([]);
    expect(await transcriptOf(run)).toContain(
      "tool: error 'refund' did not run: its arguments were changed after a person had approved others.",
    );
  });

  it('runs what both approved', async () => {
    const run = await started([own, inner]);
    expect(await played(run, [edit(99), yes])).toEqual(['own 10', 'inner 99']);
    expect(paid).toEqual([99]);
  });

  it('asks an approval around it about its edit', async () => {
    const run = await started([outer, own]);
    await played(run, [yes, edit(99)]);
    expect(paid).toEqual([]);
  });
});
