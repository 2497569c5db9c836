import { dynamicTool, jsonSchema, tool } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import { ToolRegistry } from '../../../activities/tools/tools';
import { scriptedModel, testRun } from '../../../testing/index';
import { agentWith, transcriptOf } from '../../support/memory-bed';
import { execute, seen } from '../../support/tool-bed';
import { errorOf } from '../../support/failures';

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
});

const later = dynamicTool({
  description: 'Tells the weather.',
  inputSchema: jsonSchema(
    Promise.resolve({ type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] }),
  ),
  execute: (input) => ({ ...(input as object), degrees: 21 }),
});

describe('a tool of the AI SDK', () => {
  it.each([
    ['zod', weather],
    ['JSON Schema that is made later', later],
  ])('is taken as it is, with %s', async (_, taken) => {
    const toolCalls = ['city', 'town'].map((key) => ({ name: 'weather', input: { [key]: 'Oslo' } }));
    const model = scriptedModel([{ toolCalls }, { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: ['weather'] }), { input: 'Hi', model, tools: { weather: taken } });
    const transcript = await transcriptOf(run);
    expect(transcript[2]).toBe('tool: {"city":"Oslo","degrees":21}');
    expect(transcript[3]).toMatch(/^tool: error The arguments of 'weather' do not fit: city: /);
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'weather', description: 'Tells the weather.', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } },
    ]);
  });

  it('is called with the names that it knows, and with the person for whom it works', async () => {
    const options: unknown[] = [];
    const looking = tool({ inputSchema: z.object({}), execute: (_, given) => void options.push(given) });
    const { signal } = new AbortController();
    await execute(looking, { callId: 'call-7', signal });
    expect(options).toMatchObject([{ toolCallId: 'call-7', messages: [], abortSignal: signal, principal: { tenant: 'default' } }]);
  });

  it('gives preliminary results, of which the last one is the result', async () => {
    const searching = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield { status: 'searching' };
        yield { status: 'found', hits: 3 };
      },
    });
    const { outcome, deltas } = await execute(searching);
    expect(outcome).toMatchObject({ type: 'done', output: { status: 'found', hits: 3 } });
    expect(seen(deltas).slice(0, 2)).toEqual(['attempt-start', '.{"status":"searching"}']);
  });

  describe('with toModelOutput', () => {
    const city = { city: 'Oslo' };
    it.each<[string, (given: { readonly output: unknown }) => object, unknown]>([
      [
        'a text',
        ({ output }) => ({ type: 'text', value: JSON.stringify(output) }),
        [{ type: 'text', text: '{"city":"Oslo","degrees":21}' }],
      ],
      ['JSON', ({ output }) => ({ type: 'json', value: output }), [{ type: 'text', text: '{"city":"Oslo","degrees":21}' }]],
      [
        'texts and files',
        () => ({
          type: 'content',
          value: [
            { type: 'text', text: 'Warm.' },
            { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
            { type: 'image-url', url: 'https://example.com/a' },
          ],
        }),
        [
          { type: 'text', text: 'Warm.' },
          { type: 'file', mediaType: 'image/png', data: 'AAAA' },
          { type: 'file', mediaType: 'image/*', data: { url: 'https://example.com/a' } },
        ],
      ],
    ])('shows the model what that makes of the result: %s', async (_, toModelOutput, output) => {
      const { outcome } = await execute({ ...weather, toModelOutput }, { input: city });
      expect(outcome).toMatchObject({ type: 'done', output, multipart: true });
    });

    it.each<[string, object, string]>([
      ['an error', { type: 'error-text', value: 'No such city.' }, 'No such city.'],
      ['a denial', { type: 'execution-denied', reason: 'Not today.' }, 'Not today.'],
      ['an output that is not known', { type: 'video', value: 1 }, 'an output of the type "video"'],
    ])('fails where that says %s', async (_, shown, message) => {
      const { outcome } = await execute({ ...weather, toModelOutput: () => shown }, { input: city });
      expect(outcome).toMatchObject({ type: 'failed', error: { code: 'tool-failed', message: expect.stringContaining(message) } });
    });

    const ofServer = (result: object) => ({
      ...dynamicTool({ inputSchema: jsonSchema({ type: 'object', properties: {} }), execute: async () => result }),
      toModelOutput: ({ output }: { readonly output: unknown }) => ({
        type: 'content',
        value: (output as { readonly content: unknown[] }).content,
      }),
      metadata: {},
      _meta: undefined,
    });

    it('of an MCP server gives the content, and fails where the result is an error', async () => {
      const content = [{ type: 'text', text: 'The disk is full.' }];
      expect((await execute(ofServer({ content, isError: false }))).outcome).toMatchObject({ type: 'done', output: content });
      expect((await execute(ofServer({ content, isError: true }))).outcome).toMatchObject({
        type: 'failed',
        error: { code: 'tool-failed', message: "The tool 'tool' failed: The disk is full." },
      });
    });
  });

  it('may be given an effect, a timeout and the rest', () => {
    const registry = new ToolRegistry({ pay: { ...weather, effect: 'once', timeout: '5s' } });
    expect(registry.factsOf('pay')).toMatchObject({ effect: 'once', timeoutMs: 5_000, kind: 'invokable' });
  });

  it.each<[string, object, RegExp]>([
    ['an approval that nobody would be asked for', tool({ ...weather, needsApproval: true }), /needsApproval.*Put approval\(/],
    ['an approval by rule', tool({ ...weather, needsApproval: async () => false }), /needsApproval/],
    ['no execute', tool({ inputSchema: z.object({}), outputSchema: z.string() }), /no execute function/],
    ['a provider', { type: 'provider', id: 'openai.web_search', args: {}, inputSchema: z.object({}) }, /run by a model provider/],
    ['a provider, the old way', { type: 'provider-defined', id: 'x.y', name: 'y', args: {}, execute: () => 1 }, /run by a model provider/],
  ])('with %s is refused when the worker starts', (_, refused, message) => {
    expect(() => new ToolRegistry({ refused })).toThrow(errorOf('config-invalid', expect.stringMatching(message)));
  });

  it('without an approval is taken', () => {
    expect(new ToolRegistry({ weather: tool({ ...weather, needsApproval: false }) }).names).toEqual(['weather']);
  });
});

it('a schema that is made later and fails stops the start, naming the tool', async () => {
  const broken = { description: 'x', inputSchema: jsonSchema(Promise.reject(new Error('offline'))), execute: () => 1 };
  await expect(testRun(agentWith(), { input: 'Hi', model: scriptedModel([]), tools: { broken } })).rejects.toMatchObject(
    errorOf('config-invalid', /Tool "broken": inputSchema: .*offline/),
  );
});
