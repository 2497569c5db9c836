import { z } from 'zod';
import { defineTool } from '../../../activities/tools/define-tool';
import { ToolRegistry } from '../../../activities/tools/tools';
import { connect } from '../../../client/connect';
import type { ConnectOptions } from '../../../client/connection/connect-options';
import { isRecord } from '../../../contract/check';
import { holdfastClientPlugin } from '../../../client/index';
import { approval, pii, toolRetry } from '../../../middleware/index';
import type { WorkerOptions } from '../../../worker/create-worker';
import { HoldfastWorker } from '../../../worker/create-worker';
import { holdfastPlugin } from '../../../worker/plugin';
import { agentsFor, supervisor } from '../../../workflows/index';
import { errorOf } from '../../support/failures';

const { defineAgent } = agentsFor();
const tool = { description: 'Pays.', inputSchema: z.object({}), execute: () => 1 };
const base = { name: 'a', description: '', instructions: '', model: 'm', tools: [] };
const worker = { server: { address: 'localhost:1', namespace: 'default' }, agents: './agents.js', tools: {}, bundles: './bundles' };
const holes = new Array<string>(2);

const loose = <T>(value: unknown): T => value as T;

it('a tool of the AI SDK keeps fields of its own', () => {
  const foreign = { ...tool, outputSchema: z.string(), inputExamples: [], strict: true, title: 'Pay', onInputStart: () => undefined };
  expect(new ToolRegistry({ pay: foreign, plain: defineTool(tool) }).names).toEqual(['pay', 'plain']);
});

it.each([
  ['taskQeue', { taskQeue: 'mine' }, 'did you mean taskQueue?'],
  ['adress', { adress: 'localhost:1' }, 'did you mean address?'],
  ['no object', 'host:7233', 'the options must be an object such as { address: "localhost:7233" }, not "host:7233".'],
  ['null', null, 'not null.'],
  ['no server', { server: null }, 'server must be an object that says where the Temporal server is'],
  ['a tenant that breaks ids', { tenant: 'a/b' }, 'tenant must be 1 to 200 letters'],
  ['an empty tenant', { tenant: '' }, 'tenant must be 1 to 200 letters'],
  ['an empty task queue', { taskQueue: '' }, 'taskQueue must be a string that is not blank. It is "".'],
])('connect refuses %s', async (_, options, message) => {
  await expect(connect(loose<ConnectOptions>(options))).rejects.toMatchObject(errorOf('config-invalid', expect.stringContaining(message)));
});

it.each([
  ['taskQeue', { taskQeue: 'mine' }, 'did you mean taskQueue?'],
  ['a server without a namespace', { server: { address: 'localhost:1' } }, 'server must be an object'],
  ['a task queue that is a number', { taskQueue: 5 }, 'taskQueue must be a string that is not blank. It is 5.'],
  ['a limit that is no number', { modelStallMs: NaN }, 'modelStallMs must be a whole number of at least 1. It is NaN.'],
  ['an unknown language', { language: 'fr' }, 'language must be "en" or "zh". It is "fr".'],
  ['an unknown effect', { toolDefaults: { effect: 'twice' } }, 'toolDefaults.effect must be'],
  ['a misspelt table of models', { models: { providrs: {} } }, 'did you mean providers?'],
  ['tools that are still to come', { tools: Promise.resolve({}) }, 'tools must be an object with tools by their names. It is a Promise.'],
])('HoldfastWorker.create refuses %s', async (_, change, message) => {
  await expect(HoldfastWorker.create(loose<WorkerOptions>({ ...worker, ...change }))).rejects.toMatchObject(
    errorOf('config-invalid', expect.stringContaining(message)),
  );
});

it.each([
  ['tools with holes', () => defineAgent({ ...base, tools: [, 'a'] } as never), 'tools must be an array of tool names'],
  ['a list of middleware with holes', () => defineAgent({ ...base, middleware: new Array(2) }), 'middleware must be an array'],
  ['a middleware for odd kinds', () => defineAgent({ ...base, middleware: [{ name: 'g', onlyKinds: ['bogus'] }] } as never), 'onlyKinds'],
  [
    'a middleware whose tools are no list',
    () => defineAgent({ ...base, middleware: [{ name: 'g', tools: {} }] } as never),
    'workflow tools',
  ],
  [
    'a workflow tool with a misspelt field',
    () =>
      defineAgent({
        ...base,
        middleware: [{ name: 'w', tools: [{ name: 't', description: '', inputSchema: {}, execute: () => 1, agnts: [] }] }],
      } as never),
    'the workflow tool "t": there is no option "agnts"; did you mean agents?',
  ],
  ['no supervisor', () => supervisor({ name: 'g', agents: [] } as never), 'supervisor must be an agent, made with defineAgent.'],
])('an agent with %s is refused', (_, make, message) => {
  expect(make).toThrow(message);
});

describe('options of middleware', () => {
  it.each([
    ['a Map', () => toolRetry(new Map() as never), 'not a Map'],
    ['places with holes', () => pii({ email: 'redact', applyTo: new Array(2) } as never), 'applyTo'],
    ['deciders with holes', () => approval({ tools: { r: { by: holes } } }), 'by'],
  ])('refuse %s', (_, make, message) => {
    expect(make).toThrow(message);
  });

  it('may be any object, also one without a prototype', () => {
    expect([isRecord(new Object()), isRecord(Object.create(null)), isRecord(new (class Own {})())]).toEqual([true, true, true]);
  });
});

it('the plugins refuse what is no object of options, and unknown ones', () => {
  expect(() => holdfastPlugin(loose({ agents: './a', tools: Promise.resolve({}) }))).toThrow('It is a Promise.');
  expect(() => holdfastClientPlugin(loose({ storag: {} }))).toThrow('did you mean storage?');
  expect(() => holdfastClientPlugin(loose(5))).toThrow('not 5');
});
