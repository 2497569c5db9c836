import { ModelRegistry } from '../../../activities/models/models';
import { generate } from '../../../activities/models/call-model';
import { CallValues } from '../../../activities/calls/call-values';
import { ToolRegistry } from '../../../activities/tools/tools';
import { WorkerMiddlewareRegistry } from '../../../activities/worker-middleware/worker-middleware';
import { isName } from '../../../contract/names';
import type { AgentMiddleware } from '../../../kernel/define/middleware';
import { scriptedModel, testRun } from '../../../testing/index';
import { sequential } from '../../../workflows/index';
import { errorSaying, failureSaying } from '../../support/failures';
import { agentWith, eventLine, logOf, startRun } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

describe('values of hooks that no history can hold', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each<[string, unknown]>([
    ['a BigInt for a text', { message: { role: 'assistant', parts: [{ type: 'text', text: 5n }] } }],
    ['a cycle in a message', { message: { role: 'assistant', parts: [{ type: 'text', text: 'x' }], extra: cyclic } }],
    ['a BigInt for tokens', { message: { role: 'assistant', parts: [{ type: 'text', text: 'x' }] }, usage: { inputTokens: 5n } }],
    ['a cycle for a model', { message: { role: 'assistant', parts: [{ type: 'text', text: 'x' }] }, model: cyclic }],
    ['a message of 3 MB', { message: { role: 'assistant', parts: [{ type: 'text', text: 'x'.repeat(3_000_000) }] } }],
  ])('end the run with a code: wrapModel gives %s', async (_, response) => {
    const agent = agentWith({ tools: [], middleware: [{ name: 'odd', wrapModel: async () => response as never }] });
    expect(await (await startRun(agent, [])).outcome()).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/^(message-invalid|model-response-invalid|payload-too-large)$/) },
    });
  });

  const asker: AgentMiddleware = {
    name: 'asker',
    beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt('?', { deadline: '1s', onDeadline: cyclic as never })),
  };
  const loud: AgentMiddleware = { name: 'loud', afterAgent: (_, ctx) => ctx.sendEvent('loud', 'x'.repeat(3_000_000)) };
  const answering = (answer: string | object) =>
    byHand('talks', async function* () {
      return answer as never;
    });

  it.each([
    ['an event of 3 MB', agentWith({ tools: [], middleware: [loud] }), 'payload-too-large'],
    ['a text of a custom agent that no server takes', answering('x'.repeat(5_000_000)), 'payload-too-large'],
    ['JSON of a custom agent that no server takes', answering({ much: 'x'.repeat(2_000_000) }), 'payload-too-large'],
    ['a cycle as the default of an interrupt', agentWith({ tools: [], middleware: [asker] }), 'value-not-json'],
  ] as const)('end the run with a code: %s', async (_, agent, code) => {
    expect(await (await startRun(agent, [{ text: 'Hi.' }])).outcome()).toMatchObject(failureSaying(code));
  });
});

describe('models that misbehave', () => {
  it('fail the run when one message has thousands of tool calls', async () => {
    const toolCalls = Array.from({ length: 3000 }, () => ({ name: 'echo', input: { text: 'x' } }));
    const run = await startRun(agentWith({ tools: ['echo'] }), [{ toolCalls }]);
    expect(await run.outcome()).toMatchObject(failureSaying('model-response-invalid'));
  });

  it.each([null, 'lots', { inputTokens: '5', outputTokens: -3 }, { inputTokens: 5n }])(
    'count no tokens that are none: %p',
    async (usage) => {
      const provider = {
        model: () => ({ generate: async () => ({ parts: [{ type: 'text' as const, text: 'Hi.' }], usage: usage as never }) }),
      };
      const parts = {
        models: new ModelRegistry({ providers: { odd: provider } }),
        tools: new ToolRegistry({}),
        middleware: new WorkerMiddlewareRegistry([]),
      };
      const answer = await generate({ messages: [], slots: { model: 'odd/model' } }, parts, {
        agent: 'agent',
        id: 'id',
        attempt: 1,
        signal: new AbortController().signal,
        ...new CallValues().access(),
      });
      const none = answer.usage === undefined || (answer.usage.inputTokens === 0 && answer.usage.outputTokens === 0);
      expect(none).toBe(true);
    },
  );

  it.each(['constructor', '__proto__', 'constructor/x', '__proto__/x', 'toString/x'])('are unknown under the name %s', (name) => {
    expect(() => new ModelRegistry({}, {}).idOf(name)).toThrow(errorSaying('model-unknown'));
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s is no name for an agent or a tool', (name) =>
    expect(isName(name)).toBe(false),
  );
});

it('the event that came just before a result which is too large stays in the log', async () => {
  const talker = byHand('talker', async function* () {
    yield { name: 'note', output: 'y'.repeat(240_000) };
    return 'x'.repeat(1_400_000);
  });
  const run = await startRun(sequential({ name: 'all', agents: [talker] }), [], { tools: {} });
  expect(await run.outcome()).toMatchObject(failureSaying('payload-too-large'));
  expect((await logOf(run)).map(eventLine)).toContain('custom note');
  const alone = await testRun(talker, { input: 'Hi', model: scriptedModel([]), tools: {} });
  await alone.outcome();
  expect((await logOf(alone)).map(eventLine)).toEqual(['run-start', 'custom note', 'run-end']);
});
