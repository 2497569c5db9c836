import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './command';
import { ownCommands } from './command';
import { commandLinesIn } from './command-line';

const { directory, start } = ownCommands('crashes');
const run = commandLinesIn(directory);

const agents = `import { agentsFor } from 'holdfast/workflow';
const { defineAgent, defineMiddleware } = agentsFor();
const eats = defineMiddleware({ name: 'eats', beforeModelRewriteState(state) {
  const kept: unknown[] = [];
  for (;;) kept.push(new Array(1e6).fill(kept.length));
} });
const base = { description: 'Helps.', instructions: '', model: 'test/model' };
export const eater = defineAgent({ ...base, name: 'eater', tools: [], middleware: [eats] });
export const thrower = defineAgent({ ...base, name: 'thrower', tools: ['late', 'emitting'] });`;

const config = `import { EventEmitter } from 'node:events';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const tool = (execute) => defineTool({ description: 'Throws where nobody catches.', inputSchema: z.object({}), execute });
const tick = () => new Promise((resolve) => setTimeout(resolve, 20));
const tools = {
  late: tool(async () => { setTimeout(() => { throw new Error('thrown by a timer'); }, 1); await tick(); return 'late'; }),
  emitting: tool(async () => { setImmediate(() => new EventEmitter().emit('error', new Error('emitted')) ); await tick(); return 'emitting'; }),
};
const usage = { inputTokens: 1, outputTokens: 1 };
const call = (name) => ({ type: 'tool-call', id: name, name, input: {} });
const generate = async ({ messages, tools }) => messages.length === 1 && tools.length > 0
  ? { parts: [call('late'), call('emitting')], usage }
  : { parts: [{ type: 'text', text: 'Done.' }], usage };
export default { agents: './agents.ts', tools, models: { providers: { test: { model: () => ({ generate }) } } } };`;

let dev: Command;
beforeAll(async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  // Little memory, so that the process crashes soon.
  dev = start(['dev', '--port', '0'], { NODE_OPTIONS: '--max-old-space-size=256' });
  await dev.seen('Try:');
});

describe('holdfast dev', () => {
  it('reports what timers and emitters of tools throw, with the run and the place, and goes on', async () => {
    expect(await run(['run', 'thrower', 'hello', '--id', 'thrown']).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('Done.'),
    });
    expect(await dev.complained('emitted')).toMatch(/in a call of the run thrown.*: emitted.*tool-failed/);
    expect(await dev.complained('thrown by a timer')).toMatch(
      /\(in a call of the run thrown, \S*holdfast\.config\.ts:\d+:\d+\): thrown by a timer/,
    );
    expect(await run(['run', 'thrower', 'hello', '--id', 'again']).ended).toMatchObject({ code: 0 });
  });

  it('ends when a hook eats all memory, and says which run to terminate', async () => {
    await run(['run', 'eater', 'hello', '--id', 'hungry', '--detach']).ended;
    const { code, error } = await dev.ended;
    expect(code).toBe(1);
    expect(error).toMatch(/^error out-of-memory: .* The run hungry was in a task.*\nfix: .*holdfast terminate/m);
  });
});

it('holdfast serve refuses a project that waits for something that never comes', async () => {
  const project = mkdtempSync(join(directory, 'never-'));
  writeFileSync(join(project, 'holdfast.config.ts'), config);
  writeFileSync(join(project, 'agents.ts'), `${agents}\nawait new Promise(() => {});`);
  expect(await start(['serve', '--config', join(project, 'holdfast.config.ts')]).ended).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^error agents-invalid: .*\.ts.* never comes\.\nfix: /),
  });
});
