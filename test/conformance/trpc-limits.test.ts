import type { ScriptedModel, ScriptedToolCall } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import type { Json, Message } from '../../workflows/index';
import { modelCallbacks } from '../../middleware/callbacks/index';
import { gate } from '../support/gate';
import { agentUnder, agentWith, echo, transcriptOf } from '../support/memory-bed';
import { sayingModel, shortDelta } from '../support/streaming-model';
import * as agents from './agents';
import type { Played } from './engines';
import { closeEngines, onEngines } from './engines';
import { holder, tools } from './tools';

afterAll(closeEngines);

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const calling = (...calls: readonly (ScriptedToolCall & { readonly id: string })[]): Message => ({
  role: 'assistant',
  parts: calls.map((call) => ({ type: 'tool-call', ...call })),
});
const result = (callId: string, name: string, output: Json): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId, name, output }],
});
const inputOf = (...messages: readonly Message[]): Json => messages as unknown as Json;
const color = (of = 'car'): ScriptedToolCall => ({ name: 'pickColor', input: { of } });
const kinds = async (run: Played): Promise<readonly string[]> =>
  (await run.log()).map((event) => ('tool' in event ? `${event.type} ${event.tool}` : event.type));
const asked = (model: ScriptedModel, call: number) => {
  const { messages = [], tools: offered = [], settings } = model.requests[call] ?? {};
  return { last: messages.at(-1), tools: offered.map(({ name }) => name), settings };
};
const failedWith = (code: string, text: string) => ({ status: 'failed', error: { code, message: expect.stringContaining(text) } });

describe('limits', () => {
  onEngines('[trpc 54] the last call has no tools, whatever layers put back, and says that it is the last', async (engine) => {
    const model = scriptedModel([{ text: 'Here.' }]);
    const run = await engine.play(agents.answersLast, { model });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Here.' });
    const { last, tools: offered, settings } = asked(model, 0);
    expect(last).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'Answer now.' }] });
    expect(offered).toEqual([]);
    expect(settings).toEqual({ temperature: 0.5 });
    expect(await run.transcript()).toEqual(['user: Hi', 'assistant: Here.']);
  });

  it('[trpc 54] a callback before the model does not bring the tools back either', async () => {
    const set = modelCallbacks().registerBefore(({ request }) => {
      request.tools.push('echo');
      request.settings = { ...request.settings, toolChoice: 'required' };
    });
    const model = scriptedModel([{ text: 'Here.' }]);
    const agent = agentWith({ maxIterations: { limit: 1, finalize: true }, middleware: [set.asMiddleware()] });
    await (await testRun(agent, { input: 'Hi', model, tools })).outcome();
    expect(asked(model, 0)).toMatchObject({ last: { role: 'user' }, tools: [], settings: {} });
    expect(asked(model, 0).settings).not.toHaveProperty('toolChoice');
  });

  onEngines('[trpc 82] a second message with calls of tools is one too many, and none of them runs', async (engine) => {
    const run = await engine.play(agents.oneToolIteration, {
      model: scriptedModel([{ toolCalls: [echo('a')] }, { toolCalls: [echo('b')] }]),
    });
    expect(await run.outcome()).toEqual(failedWith('max-tool-iterations', 'max tool iterations (1) exceeded'));
    expect((await kinds(run)).filter((line) => line.startsWith('tool-'))).toEqual(['tool-start echo', 'tool-end echo']);
  });

  onEngines('[trpc 137] at both limits the model is told about its calls', async (engine) => {
    const model = scriptedModel([{ toolCalls: [echo('a')] }, { text: 'Here.' }]);
    const run = await engine.play(agents.bothLimits, { model });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Here.' });
    expect(asked(model, 0).last).toMatchObject(user('Hi'));
    expect(asked(model, 1)).toMatchObject({ last: user('The last call.'), tools: [] });
    expect(await run.transcript()).toEqual(['user: Hi', 'assistant: echo({"text":"a"})', 'tool: a', 'assistant: Here.']);
  });

  onEngines('[trpc 137] a final answer after the tools makes no call of the model that is not allowed', async (engine) => {
    const run = await engine.play(agents.toolsPastBudget, { model: scriptedModel([{ toolCalls: [echo('a')] }]) });
    expect(await run.outcome()).toEqual(failedWith('max-iterations', 'max LLM calls (1) exceeded'));
  });
});

describe('a call without a name', () => {
  onEngines('[trpc 57] fails the run with its id, and nothing of the answer is shown', async (engine) => {
    const model = scriptedModel([{ text: 'Let me see.', toolCalls: [echo('a'), { name: '', input: {}, id: 'call-7' }] }]);
    const run = await engine.play(agents.plain, { model });
    const outcome = await run.outcome();
    expect(outcome).toEqual(failedWith('model-response-invalid', 'tool call function name is empty'));
    expect(outcome).toEqual(failedWith('model-response-invalid', 'call-7'));
    expect(await kinds(run)).toEqual(['run-start', 'model-start', 'run-end']);
    expect(await run.transcript()).toEqual(['user: Hi']);
  });

  onEngines('[trpc 57] makes void what was seen of the answer while it came', async (engine) => {
    const seen: string[] = [];
    // On a server, a reader gets no pieces of an ended call.
    const heard = gate();
    const run = await engine.play(agents.plain, {
      model: sayingModel(['Let me see.', heard.pass(), { tool: '', input: {} }]),
      onDelta(delta) {
        seen.push(shortDelta(delta));
        if (delta.type === 'text-delta') heard.open();
      },
    });
    expect(await run.outcome()).toEqual(failedWith('model-response-invalid', 'tool call function name is empty'));
    expect(seen).toEqual(['start', 'Let me see.', 'void']);
  });

  it('[trpc 57] is no more than that once a callback has given it a name', async () => {
    const set = modelCallbacks().registerAfter(({ response }) =>
      response?.message.parts.some(({ type }) => type === 'tool-call')
        ? { customResponse: { ...response, message: calling({ ...echo('b'), id: 'call-7' }) } }
        : undefined,
    );
    const model = scriptedModel([{ toolCalls: [{ name: '', input: {} }] }, { text: 'Done.' }]);
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools });
    expect((await transcriptOf(run)).slice(1)).toEqual(['assistant: echo({"text":"b"})', 'tool: b', 'assistant: Done.']);
  });
});

describe('a history that ends in calls of tools', () => {
  const history = (text: string) => inputOf(user('Say it.'), calling({ ...echo(text), id: 'call-7' }));

  onEngines('[trpc 59] is gone on with: the call runs once, before the model', async (engine) => {
    let calls = 0;
    const text = `pending-${engine.name}`;
    const counted = { reached: Promise.resolve(), open: () => undefined, pass: async () => void calls++ };
    holder.hold(text, counted);
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await engine.play(agents.plain, { input: history(text), model, runPendingToolCalls: true });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(calls).toBe(1);
    expect(await kinds(run)).toEqual(['run-start', 'tool-start echo', 'tool-end echo', 'model-start', 'model-end', 'run-end']);
    expect(asked(model, 0).last).toMatchObject(result('call-7', 'echo', text));
    expect(await run.transcript()).toEqual(['user: Say it.', `assistant: echo({"text":"${text}"})`, `tool: ${text}`, 'assistant: Done.']);
  });

  onEngines('[trpc 59] is refused without the option, before the model is called', async (engine) => {
    const run = await engine.play(agents.plain, { input: history('x'), model: scriptedModel([]) });
    expect(await run.outcome()).toEqual(failedWith('input-invalid', "'echo' (call-7)"));
    expect(await kinds(run)).toEqual(['run-start', 'run-end']);
  });
});

describe('tools that run elsewhere', () => {
  onEngines('[trpc 83] end the run when the model calls nothing else', async (engine) => {
    const model = scriptedModel([{ text: 'Which one?', toolCalls: [color(), color('roof')] }]);
    const run = await engine.play(agents.external, { model });
    const toolCalls = [
      { id: 'call-1-1', name: 'pickColor', input: { of: 'car' } },
      { id: 'call-1-2', name: 'pickColor', input: { of: 'roof' } },
    ];
    expect(await run.outcome()).toEqual({ status: 'tool-calls-pending', toolCalls, text: 'Which one?' });
    expect(await kinds(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
    expect((await run.log()).at(-1)).toMatchObject({ status: 'completed', pendingToolCalls: toolCalls });
    expect((await run.messages()).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  onEngines('[trpc 83] end it behind the results of the tools that run here', async (engine) => {
    const run = await engine.play(agents.external, { model: scriptedModel([{ toolCalls: [color(), echo('here')] }]) });
    expect(await run.outcome()).toMatchObject({ status: 'tool-calls-pending', toolCalls: [{ id: 'call-1-1', name: 'pickColor' }] });
    expect((await run.transcript()).slice(2)).toEqual(['tool: here']);
  });

  onEngines('[trpc 83] count among the messages with tools only beside others', async (engine) => {
    const once = { toolCalls: [echo('a')] };
    const mixed = await engine.play(agents.oneToolIteration, { model: scriptedModel([once, { toolCalls: [color(), echo('b')] }]) });
    expect(await mixed.outcome()).toEqual(failedWith('max-tool-iterations', 'max tool iterations (1) exceeded'));
    const alone = await engine.play(agents.oneToolIteration, { model: scriptedModel([once, { toolCalls: [color()] }]) });
    expect(await alone.outcome()).toMatchObject({ status: 'tool-calls-pending' });
  });

  onEngines('[trpc 83] end it beside an unknown tool, of which alone the model is told', async (engine) => {
    const model = scriptedModel([{ toolCalls: [color(), { name: 'missing', input: {} }] }]);
    const run = await engine.play(agents.external, { model });
    expect(await run.outcome()).toMatchObject({ status: 'tool-calls-pending', toolCalls: [{ name: 'pickColor' }] });
    expect((await run.transcript()).slice(2)).toEqual([expect.stringMatching(/^tool: error The model called tool 'missing'/)]);
  });

  onEngines('[trpc 83] are gone on from with their results, in another run', async (engine) => {
    const first = await engine.play(agents.external, { model: scriptedModel([{ toolCalls: [color(), echo('here')] }]) });
    await first.outcome();
    const model = scriptedModel([{ text: 'A red one.' }]);
    const input = inputOf(...(await first.messages()), result('call-1-1', 'pickColor', 'red'));
    const second = await engine.play(agents.external, { input, model });
    expect(await second.outcome()).toMatchObject({ status: 'completed', text: 'A red one.' });
    expect((await second.transcript()).slice(-3)).toEqual(['tool: here', 'tool: red', 'assistant: A red one.']);
  });
});
