import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Ended } from '../product/command';
import { ownCommands } from '../product/command';

const { directory, start } = ownCommands('nodes');
const holdfast = (...args: readonly string[]): Promise<Ended> => start(args).ended;

const agents = `import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
const { defineAgent, defineMiddleware } = agentsFor();
const base = { description: 'Helps.', instructions: '', model: 'test/model' };
export const careful = defineAgent({ ...base, name: 'careful', tools: ['pay'], middleware: [approval({ tools: { pay: true } })] });
const spinning = defineMiddleware({ name: 'spinning', async beforeModelRewriteState() { await Promise.resolve(); for (;;); } });
export const spins = defineAgent({ ...base, name: 'spins', tools: [], middleware: [spinning] });`;

const config = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const pay = defineTool({ description: 'Pays.', inputSchema: z.object({}), execute: () => 'paid' });
const usage = { inputTokens: 1, outputTokens: 1 };
const generate = async ({ messages }) => ({ parts: [messages.length === 1 ? { type: 'tool-call', id: '1', name: 'pay', input: {} } : { type: 'text', text: 'Done.' }], usage });
export default { agents: './agents.ts', tools: { pay }, models: { providers: { test: { model: () => ({ generate }) } } } };`;

/** As a tracer does: with the hook, Node aborts after a loop in a promise continuation. */
const tracer = `require('node:async_hooks').createHook({ init() {} }).enable();`;

let dev: Command;
async function startDev(): Promise<void> {
  dev = start(['dev', '--port', '0'], { NODE_OPTIONS: `--require=${join(directory, 'tracer.cjs')}` });
  await dev.seen('Try:');
}
beforeAll(() => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  writeFileSync(join(directory, 'tracer.cjs'), tracer);
});

describe(`[check 0] Holdfast on Node ${process.versions.node}, in a process that is traced`, () => {
  it('goes on after an endless loop, and after kill -9, with the run that waits', async () => {
    await startDev();
    expect(await holdfast('run', 'careful', 'Pay.', '--id', 'waits')).toMatchObject({ code: 2 });
    expect(await holdfast('run', 'spins', 'Go.', '--id', 'loops', '--detach')).toMatchObject({ code: 0 });
    while ((JSON.parse((await holdfast('show', 'loops', '--json')).out) as { status: string }).status !== 'stuck')
      expect(dev.process.exitCode).toBeNull();
    dev.process.kill('SIGKILL');
    await dev.ended;
    await startDev();
    expect(await holdfast('terminate', 'loops')).toMatchObject({ code: 0 });
    expect(await holdfast('approve', 'waits', '--by', 'ada')).toMatchObject({ code: 0, out: expect.stringContaining('Done.') });
    dev.process.kill('SIGTERM');
    expect(await dev.ended).toMatchObject({ code: 0 });
  }, 120_000);
});
