import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../product/command';
import { ownCommands, serviceOf } from '../product/command';

const { directory: folder, start } = ownCommands('stacks');
const files = {
  'package.json': '{}',
  'tools.ts': `import { defineTool, defineWorkerMiddleware } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  payOrder: defineTool({
    description: 'Pays.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => {
      throw new Error('no such order ' + orderId);
    },
  }),
};
export const careful = defineWorkerMiddleware('careful', () => ({
  wrapModel: {
    generate: () => {
      throw new Error('not today');
    },
    stream: () => {
      throw new Error('not on any day');
    },
  },
}));
`,
  'agents.ts': `import { defineAgent, customAgent, onWorker } from 'holdfast/workflow';

const base = { description: '', instructions: '', model: 'default', tools: [] };
export const payer = defineAgent({ ...base, name: 'payer', tools: ['payOrder'] });
export const hooked = defineAgent({
  ...base,
  name: 'hooked',
  middleware: [
    {
      name: 'curious',
      beforeAgent: () => {
        throw new Error('cannot begin');
      },
    },
  ],
});
export const fetching = defineAgent({
  ...base,
  name: 'fetching',
  middleware: [{ name: 'net', beforeAgent: () => void fetch('http://localhost') }],
});
export const custom = customAgent({
  name: 'custom',
  description: '',
  async *run() {
    yield* [];
    throw new Error('made by hand');
  },
});
export const guarded = defineAgent({ ...base, name: 'guarded', middleware: [onWorker('careful')] });
`,
  'holdfast.config.ts': `import { careful, tools } from './tools';\nexport default { agents: './agents.ts', tools, middleware: [careful] };\n`,
};

interface Line {
  readonly level: string;
  readonly message: string;
  readonly event?: string;
  readonly run?: string;
  readonly agent?: string;
  readonly address?: string;
  readonly attempt?: number;
  readonly stack?: string;
}

let dev: Command;
let url: string;

beforeAll(async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  dev = start(['dev', '--port', '0', '--log', 'json']);
  url = await serviceOf(dev);
}, 120_000);

async function linesOf(agent: string): Promise<readonly Line[]> {
  await start(['run', agent, 'pay order 7', '--id', `run-${agent}`, '--url', url]).ended;
  for (;;) {
    const said = (await dev.complained('')).split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
    const lines = said.filter(({ run }) => run === `run-${agent}`);
    if (lines.some(({ event }) => event === 'run-end')) return lines;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const lineWith = (file: 'tools.ts' | 'agents.ts', text: string): string =>
  `${join(folder, file)}:${files[file].split('\n').findIndex((line) => line.includes(text)) + 1}`;

describe('what dev says of agents that use the network when they load', () => {
  const { directory: own, start: startOwn } = ownCommands('fetching');

  it.each([
    ['and wait for nothing', `fetch('http://localhost:1');`, 'fetch is not defined'],
    ['and wait for it', `await fetch('http://localhost:1');`, 'fetch failed'],
  ])(
    '%s',
    async (_, line, what) => {
      const { 'package.json': packageJson, 'agents.ts': agents } = files;
      const text = `${line}\n${agents.slice(0, agents.indexOf('export const payer'))}export const helper = defineAgent({ ...base, name: 'helper' });\n`;
      const config = `export default { agents: './agents.ts' };\n`;
      for (const [name, content] of Object.entries({ 'package.json': packageJson, 'agents.ts': text, 'holdfast.config.ts': config }))
        writeFileSync(join(own, name), content);
      const { code, error } = await startOwn(['dev', '--port', '0']).ended;
      expect(code).toBe(1);
      expect(error).toContain(`${what}. The sandbox has no fetch: use it in a tool, or in a worker middleware.`);
      expect(error).not.toMatch(/node:internal|undici/);
    },
    120_000,
  );
});

describe('what dev says of a run', () => {
  it.each([
    ['a tool', 'payer', lineWith('tools.ts', 'no such order'), 'no such order 7', { address: 'payer/t1/payOrder.0', attempt: 1 }],
    ['a hook', 'hooked', lineWith('agents.ts', 'cannot begin'), 'beforeAgent of middleware "curious" failed: cannot begin', {}],
    ['a custom agent', 'custom', lineWith('agents.ts', 'made by hand'), 'made by hand', {}],
    ['a worker middleware', 'guarded', lineWith('tools.ts', 'not on any day'), 'not on any day', { attempt: 1 }],
  ])('has the stack of what %s threw, from its own file and line on', async (_, agent, place, message, where) => {
    const thrown = (await linesOf(agent)).find(({ stack }) => stack !== undefined);
    expect(thrown).toMatchObject({ level: 'warn', agent, message: expect.stringContaining(message), ...where });
    expect(thrown?.stack?.split('\n')[0]).toContain(place);
  });

  it('says what to do in place of what the sandbox lacks', async () => {
    const end = (await linesOf('fetching')).find(({ event }) => event === 'run-end');
    expect(end?.message).toContain('fetch is not defined. The sandbox has no fetch: use it in a tool, or in a worker middleware.');
    expect(end?.stack).toContain(lineWith('agents.ts', 'fetch('));
  });

  it('has a line for the start and the end of a run, and none of Temporal', async () => {
    const lines = await linesOf('payer');
    expect(lines.map(({ event }) => event)).toEqual(['run-start', 'threw', 'run-end']);
    expect(lines[2]?.message).toMatch(/^run run-payer \(payer\) is done after \d+\.\d s$/);
    expect(await dev.complained('')).not.toMatch(/sdkComponent|temporalio/);
  });
});
