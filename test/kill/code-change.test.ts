import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Outcome } from '../../client/reading/outcome';
import type { Run } from '../../client/runs/run';
import type { StoredMessage } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleAgents } from '../../worker/bundle/bundle';
import { fixtureTools } from '../fixtures/tools';
import { variantOf } from '../support/bundle-variant';
import { logOf } from '../support/server-logs';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, testServer, text } from '../support/test-bed';

/** Every change would harm a waiting run that met the change. */
const before = agentsModule({
  threshold: 50,
  wrap: 'return next(call);',
  instructions: 'Be brief.',
  middleware: '[approval({ tools: { refund: true } })]',
});
const after = agentsModule({
  threshold: 100,
  wrap: "if (call.name === 'lookupOrder') { await Promise.resolve(); await Promise.resolve(); await ctx.sleep('1ms'); } return next(call);",
  instructions: 'Be friendly, too.',
  middleware: '[]',
});

function agentsModule(code: { threshold: number; wrap: string; instructions: string; middleware: string }): string {
  return `
import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
const { defineAgent, defineMiddleware } = agentsFor();
const base = { description: 'Refunds.', instructions: 'You refund.', model: 'test/model', tools: ['lookupOrder', 'refund', 'echo'] };
export const threshold = defineAgent({ ...base, name: 'threshold', middleware: [approval({ tools: { refund: { when: ({ amount }) => amount > ${code.threshold} } } })] });
const slow = defineMiddleware({ name: 'slow', async wrapToolCall(call, next, ctx) { ${code.wrap} } });
export const parallel = defineAgent({ ...base, name: 'parallel', middleware: [slow, approval({ tools: { refund: true } })] });
export const reworded = defineAgent({ ...base, name: 'reworded', instructions: '${code.instructions}', middleware: [approval({ tools: { refund: true } })] });
export const removed = defineAgent({ ...base, name: 'removed', middleware: ${code.middleware} });
`;
}

const directory = mkdtempSync(join(tmpdir(), 'holdfast-code-change-'));
const taskQueue = `code-change-${process.pid}`;
const agents = join(directory, 'agents.ts');

const refunded: string[] = [];
const asked: GenerateRequest[] = [];
const tools = {
  ...fixtureTools,
  refund: defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    effect: 'idempotent',
    execute: ({ amount }, call) => {
      refunded.push(call.idempotencyKey);
      return { refunded: amount };
    },
  }),
};

function answer(request: GenerateRequest): ReturnType<typeof text> {
  asked.push(request);
  const [question] = request.messages;
  if (request.messages.some(({ role }) => role === 'assistant')) return text('Done.');
  const refund = { name: 'refund', input: { orderId: '42', amount: 80 } };
  if (textOf(question as GenerateRequest['messages'][number]) !== 'three things') return calls(refund);
  return calls({ name: 'lookupOrder', input: { orderId: '42' } }, refund, { name: 'echo', input: { text: 'hello' } });
}

async function deploy(code: string): Promise<TestBed> {
  writeFileSync(agents, code);
  return startTestBed(answer, { agents, tools, taskQueue, bundles: join(directory, 'bundles') });
}

async function startWaiting(client: HoldfastClient, agent: string, input: string, id: string): Promise<Run> {
  const run = await client.start(agent, input, { id: `${taskQueue}-${id}` });
  expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ tool: 'refund' }] });
  return run;
}

async function decide(run: Run, decision: 'approve' | 'reject'): Promise<Outcome<unknown>> {
  const [interrupt] = await run.interrupts();
  if (decision === 'approve') await run.approve(interrupt?.id ?? '', { by: 'ada' });
  else await run.reject(interrupt?.id ?? '', 'Not today.', { by: 'ada' });
  return run.outcome();
}

function refundsOf(run: Run): number {
  return refunded.filter((key) => key.startsWith(`default/${run.id}/`)).length;
}

function resultsIn(messages: readonly StoredMessage[]): readonly unknown[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part.name, part.output]] : [])),
  );
}

const done = { status: 'completed', text: 'Done.' };

describe('code that changes under runs that wait', () => {
  let old: TestBed;
  let current: TestBed;
  let reader: HoldfastClient;
  const waiting: Record<string, Run> = {};

  beforeAll(async () => {
    reader = await connect({ server: testServer(), taskQueue });
    old = await deploy(before);
    const { client } = old;
    const begun: readonly (readonly [name: string, agent: string, input: string])[] = [
      ['reject', 'threshold', 'refund'],
      ['approve', 'threshold', 'refund'],
      ['parallel', 'parallel', 'three things'],
      ['reworded', 'reworded', 'refund'],
      ['removed', 'removed', 'refund'],
      ['late', 'removed', 'refund'],
    ];
    await Promise.all(
      begun.map(async ([name, agent, input]) => {
        waiting[name] = await startWaiting(client, agent, input, name);
      }),
    );
    await old.close();
    current = await deploy(after);
  });

  afterAll(async () => {
    await reader.close();
  });

  const runOf = (name: string): Run => reader.run(waiting[name]?.id ?? '');

  it('picks up the old build by itself, beside the new one', () => {
    expect(current.worker.buildId).not.toBe(old.worker.buildId);
    expect([...current.worker.builds].sort()).toEqual([old.worker.buildId, current.worker.buildId].sort());
  });

  it('does not run a refund that a human rejected, although the new rule would not have asked', async () => {
    expect(await decide(runOf('reject'), 'reject')).toMatchObject(done);
    expect(refundsOf(runOf('reject'))).toBe(0);
    expect(JSON.stringify(resultsIn(await runOf('reject').transcript()))).toContain('Not today.');
  });

  it('runs a refund that a human approved, once', async () => {
    expect(await decide(runOf('approve'), 'approve')).toMatchObject(done);
    expect(refundsOf(runOf('approve'))).toBe(1);
  });

  it('keeps the results of parallel tools apart when a wrap waits longer than before', async () => {
    expect(await decide(runOf('parallel'), 'approve')).toMatchObject(done);
    expect(resultsIn(await runOf('parallel').transcript())).toEqual([
      ['call-0', 'lookupOrder', { orderId: '42', total: 80 }],
      ['call-1', 'refund', { refunded: 80 }],
      ['call-2', 'echo', 'hello'],
    ]);
  });

  it('goes on with the instructions that the run began with', async () => {
    const earlier = asked.length;
    expect(await decide(runOf('reworded'), 'approve')).toMatchObject(done);
    expect(asked.slice(earlier).map(({ instructions }) => instructions)).toEqual(['Be brief.']);
  });

  it('still honours a middleware that the new code no longer has', async () => {
    expect(await decide(runOf('removed'), 'reject')).toMatchObject(done);
    expect(refundsOf(runOf('removed'))).toBe(0);
  });

  it('gives new runs the new code', async () => {
    for (const agent of ['threshold', 'removed']) {
      const run = await current.client.start(agent, 'refund');
      expect(await run.outcome()).toMatchObject(done);
      expect(refundsOf(run)).toBe(1);
    }
    const earlier = asked.length;
    const reworded = await current.client.start('reworded', 'refund');
    expect(await reworded.outcome()).toMatchObject({ status: 'waiting' });
    expect(await decide(reworded, 'reject')).toMatchObject(done);
    expect(asked.slice(earlier).map(({ instructions }) => instructions)).toEqual(['Be friendly, too.', 'Be friendly, too.']);
    const parallel = await current.client.start('parallel', 'three things');
    expect(await parallel.outcome()).toMatchObject({ status: 'waiting' });
    expect(await decide(parallel, 'approve')).toMatchObject(done);
    expect(resultsIn(await parallel.transcript())).toHaveLength(3);
  });

  it('serves the old build as long as one of its runs is open, and no longer', async () => {
    await current.worker.checkBuilds();
    expect(current.worker.builds).toContain(old.worker.buildId);
    expect(await decide(runOf('late'), 'approve')).toMatchObject(done);
    await eventually(async () => {
      await current.worker.checkBuilds();
      expect(current.worker.builds).toEqual([current.worker.buildId]);
    });
  });

  it('lists, reads and streams finished runs of old code with no worker at all', async () => {
    await current.close();
    for (const name of Object.keys(waiting)) {
      const run = runOf(name);
      await eventually(async () => {
        const { runs: listed } = await reader.list({ limit: 1000 });
        expect(listed.find(({ id }) => id === run.id)).toMatchObject({ status: 'completed', interrupts: [] });
      });
      expect(await run.view()).toMatchObject({ status: 'completed', text: 'Done.' });
      const types = (await logOf(run)).map(({ type }) => type);
      expect(types).toEqual(expect.arrayContaining(['run-start', 'interrupt-start', 'interrupt-end', 'run-end']));
      expect(types.at(-1)).toBe('run-end');
    }
  });
});

describe('runs that are stuck when corrected code is deployed', () => {
  const hooks = `
import { agentsFor } from 'holdfast/workflow';
const { defineAgent, defineMiddleware } = agentsFor();
const base = { description: 'Loops.', instructions: '', model: 'test/model', tools: [] };
const late = defineMiddleware({ name: 'late', beforeAgent() { for (;;) continue; } });
export const first = defineAgent({ ...base, name: 'first', prompt: (job) => { for (;;) continue; return String(job); } });
export const second = defineAgent({ ...base, name: 'second', middleware: [late] });`;
  let broken: WorkflowBundle;
  let corrected: WorkflowBundle;
  beforeAll(async () => {
    const file = join(directory, 'broken.ts');
    writeFileSync(file, hooks);
    broken = await bundleAgents(file);
    corrected = variantOf(broken, 'for(;;)continue;', '');
  });
  const deployTo = (queue: string, bundle: WorkflowBundle): Promise<TestBed> =>
    startTestBed(() => text('Done.'), { bundle, taskQueue: queue, bundles: join(directory, queue), endlessLoopMs: 3000 });

  it.concurrent.each([
    ['go on under it when none of their tasks ever ended', 'first', 'completed'],
    ['keep the code they began with when one has', 'second', 'stuck'],
  ])('%s', async (_, agent, status) => {
    const queue = `${taskQueue}-stuck-${agent}`;
    const first = await deployTo(queue, broken);
    const run = await first.client.start(agent, 'hello', { id: `${queue}-run` });
    expect(await run.outcome()).toMatchObject({ status: 'stuck' });
    await first.worker.shutdown();
    const second = await deployTo(queue, corrected);
    // The server waits 10 s for a task lost with the first worker.
    await eventually(async () => expect((await run.view()).status).toBe(status));
    expect(second.worker.builds.includes(first.worker.buildId)).toBe(status === 'stuck');
    if (status === 'stuck') await run.terminate();
    await first.client.close();
    await second.close();
  });
});
