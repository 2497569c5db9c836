import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { currentCall } from '../../activities/calls/call-context';
import { loadProject } from '../../service/project/load-project';

const exampleConfig = resolve(__dirname, '..', '..', 'examples', 'support', 'holdfast.config.ts');
const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

const agents = `import { defineAgent, onWorker } from 'holdfast/workflow';
export const helper = defineAgent({ name: 'helper', description: 'Helps.', instructions: '', model: 'default', tools: ['say'] });
export const other = 3;`;
const tools = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
export const tools = { say: defineTool({ description: 'Says.', inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text }) };`;
const config = `import { defineConfig } from 'holdfast';
import { tools } from './tools';
export default defineConfig({ agents: './agents.ts', tools });`;

function project(files: Record<string, string>): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-config-')));
  made.push(directory);
  for (const [name, text] of Object.entries({ 'agents.ts': agents, 'tools.ts': tools, ...files })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const withBody = (body: string): Record<string, string> => ({
  'holdfast.config.ts': `import { tools } from './tools';\nexport default ${body};`,
});

describe('a project', () => {
  it('loads from the example', async () => {
    const { agents: found, config: loaded, agentsFile } = await loadProject(exampleConfig);
    expect(found.map(({ name }) => name).sort()).toEqual(['orders', 'support']);
    expect(Object.keys(loaded.tools ?? {})).toEqual(['lookupOrder', 'refund']);
    const proposed = loaded.example?.input;
    expect(found.map(({ name, example }) => [name, example]).sort()).toEqual([
      ['orders', undefined],
      ['support', proposed],
    ]);
    expect(agentsFile).toBe(join(dirname(exampleConfig), 'agents.ts'));
  });

  it.each([
    ['TypeScript in a CommonJS package', { 'package.json': '{}', 'holdfast.config.ts': config }],
    [
      'TypeScript in an ESM package',
      { 'package.json': '{"type":"module"}', 'holdfast.config.ts': config.replace('./tools', './tools.js') },
    ],
    ['.mts', { 'package.json': '{}', 'holdfast.config.mts': config }],
    ['.mjs', { 'package.json': '{}', 'holdfast.config.mjs': config }],
    ['.js in an ESM package', { 'package.json': '{"type":"module"}', 'holdfast.config.js': config }],
    [
      '.cjs',
      {
        'package.json': '{"type":"module"}',
        'holdfast.config.cjs': `module.exports = { agents: './agents.ts', tools: require('./tools.ts').tools };`,
      },
    ],
  ])('loads from %s', async (_, files) => {
    const { agents: found, config: loaded } = await loadProject(undefined, project(files));
    expect(found).toEqual([{ name: 'helper', description: 'Helps.', takesJob: false, tools: ['say'] }]);
    expect(Object.keys(loaded.tools ?? {})).toEqual(['say']);
  });

  it.each([
    ['a tool', `{ agents: './agents.ts', tools: { ...tools, pay: { inputSchema: {}, effekt: 'once', execute: () => 1 } } }`, 'Tool "pay"'],
    ['an output', `{ agents: './agents.ts', tools, outputs: { verdict: 3 } }`, 'verdict'],
    [
      'worker middleware',
      `{ agents: './agents.ts', tools, middleware: [{ name: 'a', make: () => ({}) }, { name: 'a', make: () => ({}) }] }`,
      'named "a"',
    ],
  ])('with %s that a worker would refuse is refused by doctor and serve as well', async (_, body, message) => {
    await expect(loadProject(undefined, project(withBody(body)))).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(new RegExp(`holdfast.config.ts.*${message}`)),
    });
  });

  it('shares one instance of Holdfast and of zod with its process', async () => {
    const probe = `import { currentCall } from 'holdfast/worker';\nimport { z } from 'zod';\nObject.assign(tools, { probe: { inputSchema: z.object({}), execute: () => ({ currentCall, ZodType: z.ZodType }) } });`;
    const directory = project({
      'holdfast.config.ts': `import { defineConfig } from 'holdfast';\nimport { tools } from './tools';\n${probe}\nexport default defineConfig({ agents: './agents.ts', tools });`,
    });
    const { config: loaded } = await loadProject(undefined, directory);
    const seen = (loaded.tools?.['probe'] as { execute(): { currentCall: unknown; ZodType: unknown } }).execute();
    expect(seen.currentCall).toBe(currentCall);
    expect(seen.ZodType).toBe(z.ZodType);
  });

  it('says where it looked for a configuration', async () => {
    const directory = project({});
    await expect(loadProject(undefined, directory)).rejects.toMatchObject({
      code: 'config-not-found',
      message: expect.stringContaining(directory),
    });
    await expect(loadProject('other.ts', directory)).rejects.toMatchObject({
      code: 'config-not-found',
      message: expect.stringContaining('other.ts'),
    });
  });

  it.each([
    ['an unknown field', `{ agents: './agents.ts', tools, agnets: 1 }`, '`agnets`'],
    ['an unknown field inside', `{ agents: './agents.ts', tools, http: { prot: 1 } }`, '`http.prot`'],
    ['no agents', '{ tools }', '`agents`'],
    ['an agents module that is not there', `{ agents: './agnets.ts', tools }`, 'agnets.ts'],
    ['an origin with a path', `{ agents: './agents.ts', tools, http: { origins: ['https://a.b/c'] } }`, '`http.origins.0`'],
    ['a port that is none', `{ agents: './agents.ts', tools, http: { port: '80' } }`, '`http.port`'],
    ['a tool that is none', `{ agents: './agents.ts', tools: { say: 'hello' } }`, '`tools.say`'],
    ['an output that is no schema', `{ agents: './agents.ts', tools, outputs: { order: 'text' } }`, '`outputs.order`'],
    ['a language that is none', `{ agents: './agents.ts', tools, language: 'fr' }`, '`language`'],
    ['a worker middleware that is none', `{ agents: './agents.ts', tools, middleware: ['x'] }`, '`middleware.0`'],
    ['an observer that is none', `{ agents: './agents.ts', tools, observers: [{ name: 'x' }] }`, '`observers.0` is no observer'],
    ['an example of no agent', `{ agents: './agents.ts', tools, example: { agent: 'nobody', input: 'x' } }`, '`example.agent`'],
    ['something else than an object', '7', 'default export'],
    ['a field that cannot be read', `{ tools, get agents() { throw new Error('no such region'); } }`, 'cannot be read: no such region'],
  ])('refuses %s and names file and field', async (_, body, named) => {
    const directory = project(withBody(body));
    const error = await loadProject(undefined, directory).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(named) });
    expect((error as Error).message).toContain('holdfast.config.ts');
  });

  it.each([
    ['throws', `throw new Error('no such region');`, 'no such region'],
    ['does not parse', 'export default {', 'holdfast.config.ts'],
    ['imports what is not there', `import './nothing';\nexport default {};`, 'nothing'],
    ['forgot its default export', `export const config = {};`, 'default'],
  ])('refuses a file that %s', async (_, text, said) => {
    await expect(loadProject(undefined, project({ 'holdfast.config.ts': text }))).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(said),
    });
  });

  const never = new Promise<never>(() => undefined);
  it.each([
    ['as the default export', 'holdfast.config.ts', 'config-invalid', async () => ({ default: never })],
    ['at the top level of the configuration', 'holdfast.config.ts', 'config-invalid', () => never],
    ['at the top level of the agents module', 'agents.ts', 'agents-invalid', () => never],
  ])('refuses what waits for something that never comes, once nothing is at work: %s', async (_, waits, code, load) => {
    const directory = project(withBody(`{ agents: './agents.ts', tools }`));
    const loading = loadProject(undefined, directory, async (path) => {
      if (basename(path) !== waits) return { default: { agents: './agents.ts' } };
      setImmediate(() => process.emit('beforeExit', 0));
      return load();
    });
    await expect(loading).rejects.toMatchObject({ code, message: expect.stringMatching(/\.ts.* never comes\.$/) });
  });

  it.each<[string, string, string, string, RegExp]>([
    ['tool', 'tools: {}', `tools: ['say']`, 'tool-unknown', /"helper".*"say"/],
    [
      'output',
      `tools, outputs: { order: { type: 'object' } }`,
      `tools: ['say'], output: 'ordr'`,
      'output-unknown',
      /"helper".*"ordr".*It has: order\./,
    ],
    ['worker middleware', 'tools', `tools: ['say'], middleware: [onWorker('audit')]`, 'worker-half-missing', /"helper".*"audit"/],
  ])('refuses an agent whose %s there is not, naming both', async (_, given, asked, code, message) => {
    const files = { ...withBody(`{ agents: './agents.ts', ${given} }`), 'agents.ts': agents.replace(`tools: ['say']`, asked) };
    await expect(loadProject(undefined, project(files))).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  const naming = (model: string, more = ''): Record<string, string> => ({
    ...withBody(
      `{ agents: './agents.ts', tools, models: { names: { fast: 'openai/gpt-5-mini', lost: ['nobody/x'] }, providers: { own: { model() {} } } } }`,
    ),
    'agents.ts': agents.replace(`'default'`, `'${model}'${more}`),
  });

  it.each([
    [
      'defualt',
      /"helper" names the model "defualt".* Did you mean "default"\? There are: default, fast, lost, demo\/…, openai\/…,.* own\/…\./,
    ],
    ['antropic/claude-sonnet-4-5', /Did you mean "anthropic\/claude-sonnet-4-5"\?/],
    ['gpt-5-mini', /"gpt-5-mini", which neither `models` of .* nor a provider has\. There are: /],
    ['lost', /names the model "lost"/],
  ])('refuses an agent whose model nobody knows: %s', async (model, message) => {
    await expect(loadProject(undefined, project(naming(model)))).rejects.toMatchObject({
      code: 'model-unknown',
      message: expect.stringMatching(message),
    });
  });

  it.each(['default', 'fast', 'own/small', 'openai/gpt-5-mini', 'demo/rules'])(
    'takes the model %s, with or without a key',
    async (model) => {
      await expect(loadProject(undefined, project(naming(model)))).resolves.toBeDefined();
    },
  );

  it.each([
    ['a wrap of the agent', `, middleware: [{ name: 'router', wrapModel: (request, next) => next({ ...request, model: 'fast' }) }]`],
    ['a worker middleware', `, middleware: [onWorker('cachedResponses')]`],
  ])('leaves a model name to %s, which may replace it', async (_, more) => {
    const files = naming('routed', more);
    const halves = {
      'holdfast.config.ts': files['holdfast.config.ts']!.replace(
        'tools,',
        `tools, middleware: [{ name: 'cachedResponses', make: () => ({}) }],`,
      ),
    };
    await expect(loadProject(undefined, project({ ...files, ...halves }))).resolves.toBeDefined();
  });

  it('takes tools whose calls the client makes', async () => {
    const file = `export default { agents: './agents.ts', tools: { ...tools, pick: { description: 'Picks.', inputSchema: { type: 'object' }, external: true } } };`;
    const { config: loaded } = await loadProject(undefined, project({ 'holdfast.config.ts': `import { tools } from './tools';\n${file}` }));
    expect(Object.keys(loaded.tools ?? {})).toContain('pick');
  });

  it('takes tools that only stream, and schemas of all kinds', async () => {
    const directory = project(
      withBody(`{ agents: './agents.ts', tools: { ...tools, tell: { description: 'Tells.', inputSchema: { type: 'object' }, async *stream() {} } },
        outputs: { order: { type: 'object' } } }`),
    );
    const { config: loaded } = await loadProject(undefined, directory);
    expect(Object.keys(loaded.tools ?? {})).toEqual(['say', 'tell']);
    expect(loaded.outputs).toEqual({ order: { type: 'object' } });
  });

  describe('with policies', () => {
    const asking = [
      `import { approvalsBy } from 'holdfast/middleware';`,
      agents.replace(`tools: ['say']`, `tools: ['say'], middleware: [approvalsBy('words')]`),
    ].join('\n');
    const withPolicies = (policies: string): string =>
      project({
        'holdfast.config.ts': `import { tools } from './tools';\nimport { policy } from 'holdfast/middleware';\nexport default { agents: './agents.ts', tools, policies: ${policies} };`,
        'agents.ts': asking,
      });
    const stages = 'stages: [{}]';

    it('loads them by their names', async () => {
      const { config: loaded } = await loadProject(
        undefined,
        withPolicies(`{ words: policy({ name: 'words', tools: ['say'], ${stages} }) }`),
      );
      expect(Object.keys(loaded.policies ?? {})).toEqual(['words']);
    });

    it.each<[string, string, string, RegExp]>([
      ['an agent names', '{}', 'policy-unknown', /"helper" names the policy "words".*It has: none\./],
      [
        'hold tools that nobody has',
        `{ words: policy({ name: 'words', tools: ['sai'], ${stages} }) }`,
        'tool-unknown',
        /the policy "words" holds the tool "sai", which nobody has. Did you mean "say"\?/,
      ],
      [
        'have another name',
        `{ words: policy({ name: 'word', tools: ['say'], ${stages} }) }`,
        'config-invalid',
        /policies\.words has the name "word"/,
      ],
      ['are none', `{ words: { ${stages} } }`, 'config-invalid', /policies\.words is no policy/],
    ])('refuses those that %s', async (_, policies, code, message) => {
      await expect(loadProject(undefined, withPolicies(policies))).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    });
  });

  it('takes agents whose worker middleware every worker has', async () => {
    const directory = project({
      ...withBody(`{ agents: './agents.ts', tools }`),
      'agents.ts': [
        `import { pii, responseCache } from 'holdfast/middleware';`,
        agents.replace(`tools: ['say']`, `tools: ['say'], middleware: [pii({ email: 'redact' }), responseCache()]`),
      ].join('\n'),
    });
    const { agents: loaded } = await loadProject(undefined, directory);
    expect(loaded.map(({ name }) => name)).toContain('helper');
  });

  it.each([
    ['throws', `throw new Error('too early');`, 'too early'],
    ['has no agents', `export const nothing = 1;`, 'exports no agent'],
  ])('refuses an agents module that %s', async (_, text, said) => {
    const files = { ...withBody(`{ agents: './agents.ts', tools }`), 'agents.ts': text };
    const refused = { code: 'agents-invalid', message: expect.stringContaining(said) };
    await expect(loadProject(undefined, project(files))).rejects.toMatchObject(refused);
  });
});
