import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { ownCommands } from './command';
import { commandLinesIn } from './command-line';

const { directory, start } = ownCommands('recovery');
const run = commandLinesIn(directory);

const agents = `import { defineAgent } from 'holdfast/workflow';
export const payer = defineAgent({ name: 'payer', description: 'Pays.', instructions: '', model: 'test/model', tools: ['pay', 'wire'] });`;

/** Both tools are running at the kill, and the heartbeat timeout is an hour. */
const config = `import { appendFileSync } from 'node:fs';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const tool = (name, effect) => defineTool({
  description: 'Pays.', inputSchema: z.object({}), effect, timeout: '2h', heartbeat: '1h',
  execute: async (_, call) => {
    appendFileSync('calls', name + ' ' + call.idempotencyKey + '\\n');
    console.log('calls ' + name);
    if (process.env.SLOW === 'yes') await new Promise(() => undefined);
    return 'paid';
  },
});
const call = (name) => ({ type: 'tool-call', id: name, name, input: {} });
const generate = async () => ({ parts: [call('pay'), call('wire')], usage: { inputTokens: 1, outputTokens: 1 } });
export default {
  agents: './agents.ts',
  tools: { pay: tool('pay', 'idempotent'), wire: tool('wire', 'once') },
  models: { providers: { test: { model: () => ({ generate }) } } },
};`;

const calls = (): readonly string[] => readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n').sort();

it('a process makes the calls again at once that were at work in one that was killed, but none that must happen once', async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  const first = start(['dev', '--port', '0'], { SLOW: 'yes' });
  await first.seen('Try:');
  await run(['run', 'payer', 'Pay.', '--id', 'one', '--detach']).ended;
  await Promise.all([first.seen('calls pay'), first.seen('calls wire')]);
  first.process.kill('SIGKILL');
  await first.ended;
  const second = start(['dev', '--port', '0']);
  const [before] = (await second.seen('calls pay')).split('calls pay');
  expect(before).toContain('Try:');
  const ends = await eventually(async () => {
    const { out } = await run(['events', 'one', '--json']).ended;
    const lines = out.split('\n').filter((line) => line.includes('"tool-end"'));
    return lines.length > 0 ? lines : undefined;
  });
  expect(ends).toEqual([expect.stringContaining('"tool":"pay"')]);
  const [pay, again, wire] = calls();
  expect(again).toBe(pay);
  expect(wire).toMatch(/^wire /);
  expect(calls()).toHaveLength(3);
}, 120_000);
