import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import type { GenerateRequest } from '../../activities/models';
import { defineTool } from '../../activities/tools';
import type { Run } from '../../client/run';
import { names } from '../../contract/plain/names';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, testServer, text } from '../support/test-bed';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-upgrade-'));
const taskQueue = `upgrade-${process.pid}`;
const agents = join(directory, 'agents.ts');

/** Someone is asked three agents deep, in one of four lanes. */
function agentsModule(code: { readonly last: string; readonly wrap: string }): string {
  return `
import { agentTool, agentsFor, parallel, sequential } from 'holdfast/workflow';
const { defineAgent, defineMiddleware } = agentsFor();
const member = (name, more = {}, said = 'Old.') => defineAgent({ name, description: name, instructions: name + ': ' + said, model: 'test/model', tools: [], ...more });
const asking = defineMiddleware({ name: 'asking', async wrapToolCall(call, next, ctx) { ${code.wrap} } });
const deep = member('deep', { tools: ['count'], middleware: [asking] });
const middle = sequential({ name: 'middle', description: 'Middle.', agents: [member('first', { tools: ['count'] }), deep] });
const outer = member('outer', { tools: ['count', agentTool(middle)] });
const lanes = parallel({ name: 'lanes', agents: [member('one'), outer, member('two'), member('three', { tools: ['count'] })] });
export const everything = sequential({ name: 'everything', agents: [lanes, member('last', {}, '${code.last}')] });
`;
}

const kept = "const output = await next(call); await ctx.interrupt('Keep it?'); return output;";
const changed = "await ctx.sleep('1ms'); const output = await next(call); await ctx.interrupt('Keep it?'); return output;";
const place = 'everything/lanes/outer/t2/middle.0/middle/middle!1/deep/t1/count.0/asking';

const counted: string[] = [];
const asked: string[] = [];
const tools = {
  count: defineTool({
    description: 'Counts.',
    inputSchema: z.object({}),
    execute: (_, call) => (counted.push(call.idempotencyKey), counted.length),
  }),
};

function answer({ instructions, messages }: GenerateRequest): ReturnType<typeof text> {
  asked.push(instructions);
  const name = instructions.split(':')[0] ?? '';
  const results = messages.filter(({ role }) => role === 'tool').length;
  const count = { name: 'count', input: {} };
  if (['first', 'deep', 'three'].includes(name) && results === 0) return calls(count);
  if (name === 'outer' && results < 2) return calls(results === 0 ? count : { name: 'middle', input: { request: 'Go deep.' } });
  return text(`${name} is done.`);
}

async function deploy(code: Parameters<typeof agentsModule>[0]): Promise<TestBed> {
  writeFileSync(agents, agentsModule(code));
  return startTestBed(answer, { agents, tools, taskQueue, bundles: join(directory, 'bundles') });
}

describe('a run that waits deep inside, and an upgrade', () => {
  let connection: Connection;
  let temporal: Client;
  let old: TestBed;
  const runs: Run[] = [];

  const workflowOf = (run: Run): string => `default/${run.id}`;
  const executionOf = async (run: Run): Promise<string> => (await temporal.workflow.getHandle(workflowOf(run)).describe()).runId;
  const waiting = async (run: Run): Promise<void> => {
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'waiting', interrupts: [{ agent: 'deep' }] });
    // The other lanes go on beside it.
    await eventually(async () => {
      const ends = (await run.view()).messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
      for (const lane of ['one', 'two', 'three']) expect(ends).toContain(`${lane} is done.`);
    });
  };
  const finish = async (run: Run): Promise<void> => {
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', 'yes', { by: 'ada' });
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'last is done.' });
  };
  const countsOf = (run: Run): number => counted.filter((key) => key.startsWith(`${workflowOf(run)}/`)).length;

  beforeAll(async () => {
    connection = await Connection.connect({ address: testServer().address });
    temporal = new Client({ connection });
    old = await deploy({ last: 'Old.', wrap: kept });
    for (const id of ['moves', 'stays']) {
      const run = await old.client.start('everything', 'Go.', { id: `${taskQueue}-${id}` });
      await waiting(run);
      runs.push(run);
    }
  });

  afterAll(async () => {
    await old.close();
    await connection.close();
  });

  it('survives a forced continue-as-new, and is under the newest build already', async () => {
    const run = runs[0] as Run;
    const before = await executionOf(run);
    const interrupts = await run.interrupts();
    await temporal.workflow.getHandle(workflowOf(run)).signal(names.borderSignal);
    await eventually(async () => expect(await executionOf(run)).not.toBe(before));
    expect(await run.interrupts()).toEqual(interrupts);
    expect(await run.upgrade()).toEqual({ build: old.worker.buildId, moved: false });
    expect(await run.interrupts()).toEqual(interrupts);
  });

  it('is refused code that changed in an open frame, with the address of the frame', async () => {
    const run = runs[1] as Run;
    const broken = await deploy({ last: 'New.', wrap: changed });
    try {
      const before = await executionOf(run);
      await expect(run.upgrade()).rejects.toMatchObject({ code: 'frame-changed', message: expect.stringContaining(place) as string });
      expect(await executionOf(run)).toBe(before);
    } finally {
      await broken.close();
    }
  });

  it('moves to a build that changed something else, and nothing is done twice', async () => {
    const run = runs[0] as Run;
    const next = await deploy({ last: 'New.', wrap: kept });
    try {
      const interrupts = await run.interrupts();
      expect(await run.upgrade()).toEqual({ build: next.worker.buildId, moved: true });
      expect(await run.interrupts()).toEqual(interrupts);
      asked.length = 0;
      await finish(run);
      expect(asked).toEqual(['deep: Old.', 'outer: Old.', 'last: New.']);
      expect(countsOf(run)).toBe(4);
      const { versioningInfo } = (await temporal.workflow.getHandle(workflowOf(run)).describe()).raw.workflowExecutionInfo ?? {};
      expect(versioningInfo?.deploymentVersion?.buildId).toBe(next.worker.buildId);
    } finally {
      await next.close();
    }
  });

  it('goes on under its old code when it was refused', async () => {
    asked.length = 0;
    await finish(runs[1] as Run);
    expect(asked).toEqual(['deep: Old.', 'outer: Old.', 'last: Old.']);
    expect(countsOf(runs[1] as Run)).toBe(4);
    await expect(runs[1]?.upgrade()).rejects.toMatchObject({ code: 'run-ended' });
  });
});
