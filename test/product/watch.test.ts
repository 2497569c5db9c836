import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import type { Command, Ended } from './command';
import { ownCommands, serviceOf } from './command';
import { commandLinesIn } from './command-line';

const { directory: folder, start } = ownCommands('dev');
const line = commandLinesIn(folder);
let dev: Command;
let url: string;

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const agents = (description: string): string => `import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { tools } from './tools';
const { defineAgent } = agentsFor<typeof tools>();
export const desk = defineAgent({
  name: 'desk', description: '${description}', instructions: 'Help.', model: 'default',
  tools: ['lookupOrder', 'payOrder'], middleware: [approval({ tools: { payOrder: true } })],
});
`;
const tools = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
import { word } from './words';
const inputSchema = z.object({ orderId: z.string() });
export const tools = {
  lookupOrder: defineTool({ description: 'Looks up.', inputSchema, execute: ({ orderId }) => ({ orderId, word }) }),
  payOrder: defineTool({ description: 'Pays.', inputSchema, effect: 'idempotent', execute: () => ({ paid: word }) }),
};
`;
const config = `import { defineConfig } from 'holdfast';
import { tools } from './tools';
export default defineConfig({ agents: './agents.ts', tools });
`;

async function saved(name: string, text: string, ...said: readonly string[]): Promise<string> {
  const before = (await dev.complained('')).length;
  write(name, text);
  for (const one of said) await dev.complained(one, before);
  return dev.complained('', before);
}

const command = (...args: readonly string[]): Promise<Ended> => line([...args, '--url', url]).ended;

async function run(id: string, text: string): Promise<string> {
  return (await command('run', 'desk', text, '--id', id)).out;
}

const describes = (wanted: string): Promise<true> =>
  eventually(async () => {
    const { agents: listed } = (await (await fetch(`${url}/agents`)).json()) as { agents: { description: string }[] };
    return listed[0]?.description === wanted ? true : undefined;
  });

beforeAll(async () => {
  write('package.json', '{}');
  write('words.ts', `export const word = 'one';`);
  write('tools.ts', tools);
  write('agents.ts', agents('first'));
  write('holdfast.config.ts', config);
  dev = start(['dev', '--port', '0']);
  url = await serviceOf(dev);
});

describe('dev while files change', () => {
  it('takes over a tool, also for runs that wait, and says so', async () => {
    expect(await run('waits', 'pay order 7')).toContain('payOrder needs an approval');
    await saved('words.ts', `export const word = 'two';`, 'words.ts: taken over');
    expect(await run('looks', 'lookup 7')).toContain('"word":"two"');
    expect((await command('approve', 'waits')).out).toContain('"paid":"two"');
  });

  it('takes over agents for new runs, and leaves a waiting run under its build', async () => {
    expect(await run('keeps', 'pay order 8')).toContain('payOrder needs an approval');
    await saved('agents.ts', agents('second'), 'agents.ts: taken over');
    const { agents: listed } = (await (await fetch(`${url}/agents`)).json()) as { agents: { description: string }[] };
    expect(listed[0]?.description).toBe('second');
    const upgraded = await command('upgrade', 'keeps');
    expect(upgraded.out).toContain('goes on under the newest build');
    expect((await command('approve', 'keeps')).out).toContain('"paid":"two"');
  });

  it.each([
    ['a syntax error', 'words.ts', `export const word = ;`, 'words.ts:1:', '1 | export const word = ;', `export const word = 'two';`],
    [
      'an error when it loads',
      'words.ts',
      `\nthrow new Error('boom');`,
      'boom',
      `2 | throw new Error('boom');`,
      `export const word = 'two';`,
    ],
    [
      'a configuration that is wrong',
      'holdfast.config.ts',
      config.replace(', tools }', ', toolz: tools }'),
      '`toolz`',
      'config-invalid',
      config,
    ],
    [
      'what the sandbox lacks',
      'agents.ts',
      `fetch('http://localhost');\n${agents('second')}`,
      'fetch is not defined',
      '1 | fetch(',
      agents('second'),
    ],
  ])(
    'goes on with the last good files after %s, says where it is, and takes over what is corrected',
    async (_, file, text, what, source, fixed) => {
      await saved(file, text, 'not taken over', what, source);
      expect(await run(`after-${file}-${source.length}`, 'lookup 9')).toContain('"word":"two"');
      await saved(file, fixed, `${file}: taken over`);
    },
  );

  it('goes on when an imported file is deleted, and takes it over when it is back', async () => {
    const before = (await dev.complained('')).length;
    rmSync(join(folder, 'words.ts'));
    await dev.complained(`Cannot find module './words'`, before);
    await saved('words.ts', `export const word = 'three';`, 'words.ts: taken over');
    expect(await run('back', 'lookup 10')).toContain('"word":"three"');
  });

  it('tells of a second mistake in a file of a new folder that an import waited for, and takes it over when it is right', async () => {
    const waits = `export { word } from './below/word';`;
    await saved('words.ts', waits, 'not taken over', `Cannot find module './below/word'`);
    mkdirSync(join(folder, 'below'));
    await saved('below/word.ts', 'export const word = ;', 'not taken over', 'below/word.ts');
    await saved('below/word.ts', `export const word = 'three';`, 'below/word.ts: taken over');
  });

  it('takes over what was saved last of many saves, also of those that come while it bundles', async () => {
    for (let n = 0; n < 5; n++) {
      write('agents.ts', agents(`many ${n}`));
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await saved('agents.ts', agents('last'), 'agents.ts: taken over');
    await describes('last');
    expect(await run('last', 'lookup 11')).toContain('"word":"three"');
  });

  it('takes over what models cost', async () => {
    const priced = config.replace(', tools }', `, tools, models: { prices: { 'demo/rules': { input: 1e6, output: 0 } } } }`);
    await saved('holdfast.config.ts', priced, 'holdfast.config.ts: taken over');
    expect(await run('costs', 'lookup 12')).toContain('"word":"three"');
    const view = (await (await fetch(`${url}/runs/costs`)).json()) as { cost?: { amount: number } };
    expect(view.cost?.amount).toBeGreaterThanOrEqual(0);
    await saved('holdfast.config.ts', config, 'holdfast.config.ts: taken over');
  });

  it('takes over schedules, and keeps what a person did to them', async () => {
    const scheduled = (cron: string, agent = 'desk'): string =>
      config.replace(', tools }', `, tools, schedules: { night: { cron: '${cron}', start: { agent: '${agent}', input: 'lookup 13' } } } }`);
    await saved('holdfast.config.ts', scheduled('0 2 * * * *'), 'are refused. The schedule "night": cron "0 2 * * * *" has 6 parts');
    await saved('holdfast.config.ts', scheduled('0 2 * * *', 'disk'), 'the schedule "night" starts "disk", which');
    await saved('holdfast.config.ts', scheduled('0 2 * * *'), 'The schedule night is made.', 'taken over');
    expect((await command('schedules', 'pause', 'night', '--note', 'holidays')).out).toBe('The schedule night is paused.\n');
    await saved('holdfast.config.ts', scheduled('0 3 * * *'), 'The schedule night is changed.', 'taken over');
    expect((await command('schedules', 'list')).out).toMatch(/night +desk +0 3 \* \* \* \(UTC\) +paused +-/);
    expect((await command('schedules', 'show', 'night')).out).toMatch(/state +paused\nnote +holidays/);
    await command('schedules', 'resume', 'night');
    await command('schedules', 'run', 'night');
    const { runs } = await eventually(async () => {
      const shown = JSON.parse((await command('schedules', 'show', 'night', '--json')).out) as { runs: { id: string }[] };
      return shown.runs.length > 0 ? shown : undefined;
    });
    expect((await command('events', runs[0]?.id ?? '', '--follow')).out).toContain('"word":"three"');
    await saved('holdfast.config.ts', config, 'The schedule night is paused.', 'taken over');
    const range = ['--since', '2026-01-02', '--until', '2026-01-03'];
    expect((await command('schedules', 'backfill', 'night', ...range)).out).toBe('The schedule night makes up for 1 times.\n');
    expect((await command('schedules', 'delete', 'night')).out).toBe('The schedule night is deleted. Its runs stay.\n');
    expect((await command('schedules', 'show', 'night')).error).toContain('schedule-unknown');
  });

  it('says what takes effect at the next start only', async () => {
    const other = config.replace(', tools }', `, tools, http: { port: 1234 } }`);
    await saved('holdfast.config.ts', other, 'taken over', '`http` of the configuration has changed');
  });
});
