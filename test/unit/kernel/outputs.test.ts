import { jsonSchema, zodSchema } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import { OutputRegistry } from '../../../activities/schemas/outputs';
import type { ScriptedStep } from '../../../testing/index';
import { scriptedModel, testRun } from '../../../testing/index';
import { defineTool } from '../../../activities/tools/tools';
import type { AgentMiddleware } from '../../../workflows/index';
import { agentWith, answerAnew, echo, linesOf, startRun, transcriptOf } from '../../support/memory-bed';
import { errorOf, failure } from '../../support/failures';

const order = { type: 'object', properties: { id: { type: 'string' }, total: { type: 'number', default: 0 } }, required: ['id'] } as const;
const outputs = {
  order: z.object({ id: z.string(), total: z.number().default(0) }),
  plain: order,
  foreign: zodSchema(z.object({ id: z.string(), total: z.number().default(0) })),
  later: jsonSchema(Promise.resolve(order) as never),
  ids: z.array(z.string()),
  text: z.string(),
  choice: z.enum(['yes', 'no']),
  count: z.number(),
};

describe('an answer', () => {
  const registry = new OutputRegistry(outputs);
  const fenced = (json: string) => `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nAnything else?`;

  it.each<[string, keyof typeof outputs, string, unknown]>([
    ['JSON and nothing else', 'order', ' {"id":"a","total":5}\n', { id: 'a', total: 5 }],
    ['defaults', 'order', '{"id":"a"}', { id: 'a', total: 0 }],
    ['a JSON Schema', 'plain', '{"id":"a"}', { id: 'a', total: 0 }],
    ['a schema of the AI SDK', 'foreign', '{"id":"a"}', { id: 'a', total: 0 }],
    ['a schema that is made later', 'later', '{"id":"a"}', { id: 'a', total: 0 }],
    ['a fenced block', 'order', fenced('{"id":"a"}'), { id: 'a', total: 0 }],
    ['a block without a language', 'order', '```\n{"id":"a"}\n```', { id: 'a', total: 0 }],
    ['the last of several blocks', 'order', `${fenced('{"id":"first"}')}${fenced('{"id":"last"}')}`, { id: 'last', total: 0 }],
    ['the block that fits', 'order', `${fenced('{"id":"a"}')}${fenced('{"schema":true}')}`, { id: 'a', total: 0 }],
    ['JSON with a fence in it', 'order', fenced('{"id":"```js```"}'), { id: '```js```', total: 0 }],
    ['the outermost braces', 'order', 'The order is {"id":"a","more":{"b":1}}.', { id: 'a', total: 0 }],
    ['the outermost brackets', 'ids', 'They are ["a","b"], I think.', ['a', 'b']],
    ['braces beside brackets', 'order', 'See [1]: {"id":"a"}', { id: 'a', total: 0 }],
    ['a text', 'text', ' Just "text".\n', ' Just "text".\n'],
    ['a text that looks like JSON', 'text', '{"id":"a"}', '{"id":"a"}'],
    ['a choice', 'choice', ' yes\n', 'yes'],
    ['a choice in quotes', 'choice', '"no"', 'no'],
    ['a number', 'count', '42', 42],
  ])('is read from %s', async (_, name, text, value) => {
    expect(await registry.parse(name, text)).toEqual({ ok: true, value });
  });

  it.each<[string, keyof typeof outputs, string, string | RegExp]>([
    ['there is no JSON', 'order', 'I could not find it.', 'there is no JSON in it.'],
    ['it is empty', 'order', '', 'there is no JSON in it.'],
    ['it is cut off', 'order', '{"id":"a', 'there is no JSON in it.'],
    ['a field is missing', 'order', '{"total":1}', /^id: .*\.$/],
    ['a field is wrong deep inside', 'ids', '["a",{"b":1}]', /^1: /],
    ['it is another value', 'order', '"a"', /^answer: /],
    ['what fits is only a part of it', 'order', '[{"id":"a"}]', /^answer: /],
    ['what fits is only a part of it, in a sentence', 'order', 'They are [{"id":"a"}].', /^answer: /],
    ['it is no choice', 'choice', 'maybe', /^answer: .*"yes"/],
    ['it fits by JSON Schema only in part', 'plain', '{"id":1,"total":"x"}', 'id: must be string; total: must be number.'],
  ])('is refused because %s', async (_, name, text, message) => {
    expect(await registry.parse(name, text)).toEqual({
      ok: false,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('has to be JSON after the schema, and of bounded size', async () => {
    const odd = new OutputRegistry({
      date: z.object({ at: z.string() }).transform(({ at }) => ({ at: new Date(at) })),
      big: z.string().transform(() => 'x'.repeat(2 ** 20)),
      nothing: z.string().transform(() => undefined),
    });
    await expect(odd.parse('date', '{"at":"2026-01-01"}')).rejects.toMatchObject(
      errorOf('output-invalid', 'The schema "date" makes something of the answer that is not JSON: at is a Date.'),
    );
    await expect(odd.parse('big', 'x')).rejects.toMatchObject({ code: 'payload-too-large' });
    expect(await odd.parse('nothing', 'x')).toEqual({ ok: true, value: null });
  });

  it('by a schema that there is not is an error of the worker', async () => {
    await expect(registry.parse('ordr', '{}')).rejects.toMatchObject(errorOf('output-unknown', /"ordr"\. It has: order, plain/));
  });
});

describe('outputs', () => {
  it('tell a provider their schema, unless the answer is a text', async () => {
    const registry = new OutputRegistry(outputs);
    await registry.ready();
    expect(registry.specOf('order')).toMatchObject({ name: 'order', schema: { type: 'object', required: ['id'] } });
    expect(registry.specOf('later')).toEqual({ name: 'later', schema: order });
    expect(registry.specOf('text')).toBeUndefined();
    expect(registry.specOf('choice')).toBeUndefined();
    expect(() => registry.specOf('ordr')).toThrow(expect.objectContaining({ code: 'output-unknown' }));
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a name that is none', { 'an order': z.string() }, /Output "an order": a name is/],
    ['no schema', { order: undefined }, /Output "order": there is none/],
    ['a shape', { order: { id: z.string() } }, /Output "order": .*z\.object/],
  ])('are refused with %s', (_, wrong, message) => {
    expect(() => new OutputRegistry(wrong)).toThrow(errorOf('config-invalid', expect.stringMatching(message)));
  });
});

describe('an agent with an output', () => {
  const start = async (steps: readonly ScriptedStep[], options: Parameters<typeof agentWith>[0] = {}) => {
    const model = scriptedModel(steps);
    return [await startRun(agentWith({ tools: ['echo', 'add'], output: 'order', ...options }), model, { outputs }), model] as const;
  };

  it('gives a result of its type, and its text as it was written', async () => {
    const [run, model] = await start([{ text: 'Here: {"id":"42","total":80}' }]);
    expect(await run.outcome()).toEqual({ status: 'completed', output: { id: '42', total: 80 }, text: 'Here: {"id":"42","total":80}' });
    expect(await run.result()).toEqual({ id: '42', total: 80 });
    expect(model.requests[0]?.output).toMatchObject({ name: 'order', schema: { type: 'object' } });
  });

  it('tells the model twice what is wrong', async () => {
    const [run, model] = await start([{ text: 'It is 42.' }, { text: '{"id":42}' }, { text: '{"id":"42"}' }]);
    expect(await run.result()).toEqual({ id: '42', total: 0 });
    const transcript = await transcriptOf(run);
    expect(transcript).toEqual([
      'user: Hi',
      'assistant: It is 42.',
      expect.stringMatching(/^user: .*there is no JSON in it\./),
      'assistant: {"id":42}',
      expect.stringMatching(/^user: .*id: .*expected string/),
      'assistant: {"id":"42"}',
    ]);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
  });

  it('fails after two corrections, counted over a continue-as-new and over turns, and says why', async () => {
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeModelRewriteState: async (_, ctx) => void (ctx.iteration > 1 && (await ctx.interrupt('Go on?'))),
    };
    const steps = [{ text: 'a' }, { toolCalls: [echo('x')] }, { text: 'b' }, { text: 'c' }];
    const [run] = await start(steps, { middleware: [asking] });
    for (let turn = 2; turn <= 4; turn++) await answerAnew(run);
    expect(await run.outcome()).toMatchObject(
      failure('output-invalid', /of agent "agent" does not fit "order" after 2 corrections: there is/),
    );
  });

  it('has its corrections among its iterations', async () => {
    const [run] = await start([{ text: 'a' }, { text: 'b' }], { maxIterations: 2 });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'max-iterations' } });
  });

  it('reads what a tool returns directly', async () => {
    const steps = [{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { toolCalls: [echo('{"id":"42"}')] }];
    const [run] = await start(steps, { returnDirectly: ['add', 'echo'] });
    expect(await run.outcome()).toEqual({ status: 'completed', output: { id: '42', total: 0 }, text: '{"id":"42"}' });
    expect((await transcriptOf(run))[3]).toMatch(/^user: .*id: /);
  });

  it('reads the texts of the parts that a tool returns directly', async () => {
    const draw = defineTool({
      description: 'Draws.',
      inputSchema: z.object({}),
      enhanced: true,
      execute: () => [
        { type: 'text', text: '{"id":"42"}' },
        { type: 'file', mediaType: 'image/png', data: 'aGk=' },
      ],
    });
    const run = await startRun(
      agentWith({ tools: ['draw'], returnDirectly: ['draw'], output: 'order' }),
      [{ toolCalls: [{ name: 'draw', input: {} }] }],
      { tools: { draw }, outputs },
    );
    expect(await run.result()).toEqual({ id: '42', total: 0 });
  });

  it('reads what the tool exit is given', async () => {
    const exit = (text: string) => ({ toolCalls: [{ name: 'exit', input: { final_result: text } }] });
    const [run] = await start([exit('not yet'), exit('{"id":"42"}')], { exitTool: true });
    expect(await run.result()).toEqual({ id: '42', total: 0 });
    expect((await linesOf(run)).filter((line) => line === 'tool-end exit')).toHaveLength(2);
  });

  it('does not parse what comes between, and runs its last hook once, with the answer that fits', async () => {
    const ended: number[] = [];
    const last: AgentMiddleware = { name: 'last', afterAgent: ({ messages }) => void ended.push(messages.length) };
    const steps = [{ toolCalls: [echo('x')], text: 'no JSON yet' }, { text: 'a' }, { text: '{"id":"42"}' }];
    const [run] = await start(steps, { middleware: [last] });
    expect(await run.result()).toEqual({ id: '42', total: 0 });
    expect(ended).toEqual([6]);
  });

  it('is refused at the start when the worker lacks the output', async () => {
    const [run, model] = await start([{ text: 'x' }], { output: 'ordr' });
    expect(await run.outcome()).toMatchObject(
      failure('output-unknown', /names the output "ordr"\. Did you mean "order"\? The worker has: order, plain/),
    );
    expect(model.requests).toHaveLength(0);
  });

  it('has a name of the output, not a schema', () => {
    expect(() => agentWith({ output: z.string() as never })).toThrow(/output must be a name/);
  });
});

it('an agent without an output is not read', async () => {
  const run = await testRun(agentWith({ tools: [] }), { input: 'Hi', model: scriptedModel([{ text: '{"id":1}' }]), outputs });
  expect(await run.outcome()).toEqual({ status: 'completed', output: '{"id":1}', text: '{"id":1}' });
});
