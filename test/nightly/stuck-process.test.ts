import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsIn, serviceOf } from '../product/command';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-stuck-')));
const start = commandsIn(folder);
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('dev says which tool never comes back, in which line it is, and how to end the process', async () => {
  write('package.json', '{}');
  write(
    'agents.ts',
    `import { defineAgent } from 'holdfast/workflow';
export const desk = defineAgent({
  name: 'desk', description: 'Helps.', instructions: 'Help.', model: 'default', tools: ['lookupOrder'],
});
`,
  );
  write(
    'holdfast.config.ts',
    `import { defineConfig } from 'holdfast';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const lookupOrder = defineTool({
  description: 'Looks up.',
  inputSchema: z.object({ orderId: z.string() }),
  execute: () => {
    for (;;);
  },
});
export default defineConfig({ agents: './agents.ts', tools: { lookupOrder } });
`,
  );
  const dev = start(['dev', '--no-watch', '--port', '0']);
  const url = await serviceOf(dev);
  const run = start(['run', 'desk', 'lookup 7', '--id', 'stuck', '--url', url]);
  const said = await dev.complained(`kill -9 ${dev.process.pid}`);
  expect(said).toMatch(/has not come round for 1\d s while the tool 'lookupOrder' \(desk\/t1\/lookupOrder\.0 of the run stuck\) ran in it/);
  expect(await dev.complained('holdfast.config.ts:8')).toMatch(/at .*execute \(.*holdfast\.config\.ts:8\)/);
  // It hears of nothing else.
  dev.process.kill('SIGKILL');
  run.process.kill('SIGKILL');
  await Promise.all([dev.ended, run.ended]);
}, 180_000);
