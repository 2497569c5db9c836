import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowClient } from '@temporalio/client';
import { temporal as protocol } from '@temporalio/proto';
import { z } from 'zod';
import type { GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { Run } from '../../client/runs/run';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleAgents } from '../../worker/bundle/bundle';
import { variantOf } from '../support/bundle-variant';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, text } from '../support/test-bed';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-upgrade-'));
const taskQueue = `upgrade-${process.pid}`;
const agents = join(directory, 'agents.ts');

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

const bundled = new Map<string, WorkflowBundle>();
const lastWords = 'What the last one is told.';

async function deploy({ last, wrap }: Parameters<typeof agentsModule>[0]): Promise<TestBed> {
  writeFileSync(agents, agentsModule({ last: lastWords, wrap }));
  const made = bundled.get(wrap) ?? (await bundleAgents(agents));
  bundled.set(wrap, made);
  const bundle = variantOf(made, lastWords, last);
  return startTestBed(answer, { agents, bundle, tools, taskQueue, bundles: join(directory, 'bundles') });
}

describe('a run that waits deep inside, and an upgrade', () => {
  let temporal: Temporal;
  let old: TestBed;
  let next: TestBed | undefined;
  const runs: Run[] = [];

  const versionOf = async (run: Run): Promise<object> => {
    const { raw } = await temporal.handle(run.id).describe();
    const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
    return {
      behavior: behavior === protocol.api.enums.v1.VersioningBehavior.VERSIONING_BEHAVIOR_PINNED ? 'PINNED' : behavior,
      build: deploymentVersion?.buildId,
    };
  };
  const waiting = async (run: Run): Promise<void> => {
    expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ agent: 'deep' }] });
    await eventually(async () => {
      const ends = (await run.view()).messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
      for (const lane of ['one', 'two', 'three']) expect(ends).toContain(`${lane} is done.`);
    });
  };
  const finish = async (run: Run): Promise<void> => {
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', 'yes', { by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'last is done.' });
  };
  const countsOf = (run: Run): number => counted.filter((key) => key.startsWith(`default/${run.id}/`)).length;

  beforeAll(async () => {
    temporal = await openTemporal();
    old = await deploy({ last: 'Old.', wrap: kept });
    for (const id of ['moves', 'stays', 'overtaken']) {
      const run = await old.client.start('everything', 'Go.', { id: `${taskQueue}-${id}` });
      await waiting(run);
      runs.push(run);
    }
  });

  afterAll(async () => {
    await next?.close({ mayBeStuck: true });
    await old.close({ mayBeStuck: true });
    await temporal.close();
  });

  it('survives a forced continue-as-new, and is under the newest build already', async () => {
    const run = runs[0] as Run;
    const interrupts = await run.interrupts();
    await temporal.goOnAsNew(run.id);
    expect(await run.interrupts()).toEqual(interrupts);
    expect(await run.upgrade()).toEqual({ build: old.worker.buildId, moved: false });
    expect(await run.interrupts()).toEqual(interrupts);
  });

  it('is refused code that changed in an open frame, with the address of the frame', async () => {
    const run = runs[1] as Run;
    const broken = await deploy({ last: 'New.', wrap: changed });
    try {
      const before = await temporal.executionOf(run.id);
      await expect(run.upgrade()).rejects.toMatchObject({ code: 'frame-changed', message: expect.stringContaining(place) as string });
      expect(await temporal.executionOf(run.id)).toBe(before);
    } finally {
      await broken.close({ mayBeStuck: true });
    }
  });

  it('moves to a build that changed something else, and nothing is done twice', async () => {
    const run = runs[0] as Run;
    next = await deploy({ last: 'New.', wrap: kept });
    const interrupts = await run.interrupts();
    expect(await run.upgrade()).toEqual({ build: next.worker.buildId, moved: true });
    expect(await run.interrupts()).toEqual(interrupts);
    asked.length = 0;
    await finish(run);
    expect(asked).toEqual(['deep: Old.', 'outer: Old.', 'last: New.']);
    expect(countsOf(run)).toBe(4);
    expect(await versionOf(run)).toEqual({ behavior: 'PINNED', build: next.worker.buildId });
  });

  it('is tried again by a build that became the newest after the trial, and stands unharmed until one comes that can go on with it', async () => {
    const run = runs[2] as Run;
    const interrupts = await run.interrupts();
    const { execute } = WorkflowClient.prototype;
    let overtaking: TestBed | undefined;
    const trial = jest.spyOn(WorkflowClient.prototype, 'execute').mockImplementationOnce(async function (this: WorkflowClient, ...args) {
      const verdict: unknown = await execute.apply(this, args);
      overtaking = await deploy({ last: 'New.', wrap: changed });
      return verdict;
    });
    expect(await run.upgrade()).toEqual({ build: next?.worker.buildId, moved: true });
    trial.mockRestore();
    const why = expect.stringMatching(`frame-changed.*${place}`) as string;
    try {
      await eventually(async () =>
        expect(await run.outcome()).toMatchObject({ status: 'stuck', error: { code: 'run-stuck', message: why } }),
      );
    } finally {
      await overtaking?.close({ mayBeStuck: true });
    }
    const mended = await deploy({ last: 'Mended.', wrap: kept });
    try {
      await eventually(async () => expect(await run.outcome()).toEqual({ status: 'waiting', interrupts }));
      await eventually(async () => expect(await versionOf(run)).toEqual({ behavior: 'PINNED', build: mended.worker.buildId }));
      asked.length = 0;
      await finish(run);
      expect(asked).toEqual(['deep: Old.', 'outer: Old.', 'last: Mended.']);
      expect(countsOf(run)).toBe(4);
    } finally {
      await mended.close();
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
