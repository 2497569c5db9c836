import { aiSdkModel } from 'holdfast/worker';
import { HoldfastError, textOf } from 'holdfast/workflow';
import type { Delta } from '../../contract/deltas';
import { scriptedModel } from '../../testing/index';
import type { Json } from '../../workflows/index';
import { gate } from '../support/gate';
import { echo, only } from '../support/memory-bed';
import * as agents from './callback-agents';
import type { Engine, Played } from './engines';
import { closeEngines, onEngines } from './engines';
import { holder } from './tools';

afterAll(closeEngines);

type Agent = Parameters<Engine['play']>[0];

const done = () => scriptedModel([{ text: 'Done.' }]);
const calling = (...toolCalls: readonly { readonly name: string; readonly input: Json; readonly id?: string }[]) =>
  scriptedModel([{ toolCalls }, { text: 'Done.' }]);
const says = (name: string, text: string) => ({ name, input: { text } });
const none = () => scriptedModel([]);
const play = (engine: Engine, agent: Agent, model = none()): Promise<Played> => engine.play(agent, { model });

describe('around the model', () => {
  onEngines('[trpc 43] an answer before the model is shown, and the after callbacks see it', async (engine) => {
    const run = await play(engine, agents.pongs);
    expect(await run.outcome()).toMatchObject({ text: 'pong' });
    expect(await run.lines()).toEqual(['run-start', 'custom note', 'model-end', 'run-end']);
    expect(await run.notes()).toEqual(['pong']);
  });

  onEngines('[trpc 43] tool calls of an answer before the model are run', async (engine) => {
    const run = await play(engine, agents.callsInPlaceOfModel, done());
    expect(await run.transcript()).toEqual(['user: Hi', 'assistant: echo({"text":"echo"})', 'tool: echo', 'assistant: Done.']);
  });

  onEngines('[trpc 44] an error before the model fails the run, and the model is not called', async (engine) => {
    const run = await play(engine, agents.failsBeforeModel);
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'callback-failed', message: 'before model callback failed: before error' },
    });
    expect(await run.lines()).toEqual(['run-start', 'run-end']);
  });

  onEngines('[trpc 46] an answer after the model takes its place, with tool calls added or dropped', async (engine) => {
    const model = scriptedModel([{ text: 'Original.' }, { toolCalls: [echo('dropped')] }]);
    const run = await play(engine, agents.overridesModel, model);
    expect(await run.outcome()).toMatchObject({ text: 'after-override' });
    expect((await run.transcript()).slice(1)).toEqual(['assistant: echo({"text":"echo"})', 'tool: echo', 'assistant: after-override']);
    const shown = (await run.log()).flatMap((event) => (event.type === 'model-end' ? [textOf(event.message)] : []));
    expect(shown).toEqual(['', 'after-override']);
  });

  onEngines('[trpc 47] an error after the model fails the run once', async (engine) => {
    const run = await play(engine, agents.failsAfterModel, done());
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'callback-failed', message: 'after model callback failed: after error' },
    });
    expect(await run.lines()).toEqual(['run-start', 'model-start', 'run-end']);
  });

  onEngines('[trpc 48] the invocation stays, whatever values callbacks return', async (engine) => {
    const run = await play(engine, agents.keepsInvocation, done());
    expect(await run.notes()).toEqual([['keepsInvocation', 'Hi']]);
  });

  onEngines('[trpc 53] a call too many fails the run, and one that a callback answered counts', async (engine) => {
    const run = await play(engine, agents.callsForEver);
    expect(await run.outcome()).toMatchObject({ error: { code: 'max-iterations', message: expect.stringContaining('called 1 times') } });
  });

  onEngines('[trpc 56] a callback cannot change the model that is called', async (engine) => {
    const model = done();
    await (await play(engine, agents.wantsAnotherModel, model)).outcome();
    expect(model.requests.map((request) => request.model)).toEqual(['model']);
  });

  const saying = (...ids: readonly (string | undefined)[]) => [
    { type: 'stream-start', warnings: [] },
    ...ids.slice(0, 1).flatMap(metadata),
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'One ' },
    ...ids.slice(1).flatMap(metadata),
    { type: 'text-delta', id: '0', delta: 'answer.' },
    { type: 'text-end', id: '0' },
  ];
  const metadata = (id: string | undefined): readonly object[] => (id === undefined ? [] : [{ type: 'response-metadata', id }]);
  const end = (unified: string) => ({ type: 'finish', finishReason: { unified, raw: unified }, usage: {} });

  onEngines('[trpc 58] a message has one id, whether the provider names its answer, never, late or twice', async (engine) => {
    for (const ids of [['real', 'real'], [], [undefined, 'late'], ['real', 'another']]) {
      const answers = [
        [...saying(...ids), { type: 'tool-call', toolCallId: 'call', toolName: 'echo', input: '{"text":"x"}' }, end('tool-calls')],
        [...saying(...ids), end('stop')],
      ];
      const doStream = async () => ({ stream: ReadableStream.from(answers.shift() ?? []) });
      const model = aiSdkModel({
        specificationVersion: 'v3',
        provider: 'fake',
        modelId: 'fake',
        supportedUrls: {},
        doGenerate: doStream,
        doStream,
      });
      const deltas: Delta[] = [];
      const run = await engine.play(agents.stopped, { model, onDelta: (delta) => deltas.push(delta) });
      expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'One answer.' });
      const shown = (await run.log()).flatMap((event) => (event.type === 'model-end' ? [event] : []));
      const known = (await run.messages()).filter(({ role }) => role === 'assistant').map(({ id }) => id);
      expect(shown.map(({ message }) => message.id)).toEqual(known);
      expect(new Set([...known, 'real', 'late', 'another', ''])).toHaveProperty('size', 6);
      const addresses = deltas.flatMap((delta) => (delta.type === 'text-delta' ? [delta.address] : []));
      expect(shown.map(({ address }) => address)).toEqual(expect.arrayContaining(addresses));
    }
  });
});

describe('calls side by side', () => {
  onEngines('[trpc 78] one that skips the summary ends the run; results and arguments stand for each call', async (engine) => {
    const run = await play(engine, agents.skipsOne, scriptedModel([{ toolCalls: [echo('a'), echo('b')] }]));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'a!' });
    expect((await run.transcript()).slice(2)).toEqual(['tool: a!', 'tool: b!']);
    // The worker parses both changed inputs in parallel, so either call may start first.
    const inputs = (await run.log()).flatMap((event) => (event.type === 'tool-start' ? [JSON.stringify(event.input)] : []));
    expect(inputs.sort()).toEqual(['{"text":"a!"}', '{"text":"b!"}']);
  });

  onEngines('[trpc 79] results are shown as calls end, and the model sees them in the order of the calls', async (engine) => {
    const slow = gate();
    const key = `${engine.name} slow`;
    holder.hold(key, slow);
    const model = calling(echo(key), says('pays', 'fast'));
    const run = await play(engine, agents.stopped, model);
    expect(await run.reached('tool-end')).toMatchObject({ tool: 'pays' });
    slow.open();
    await run.outcome();
    expect((await run.lines()).filter((line) => line.startsWith('tool-end'))).toEqual(['tool-end pays', 'tool-end echo']);
    expect(model.requests[1]?.messages.slice(2).map(({ parts }) => parts[0])).toMatchObject([{ output: key }, { output: 'paid' }]);
  });

  onEngines('[trpc 81] share the state of the invocation, and keep apart under keys of their own', async (engine) => {
    const toolCalls = ['a', 'b'].map((text) => ({ ...echo(text), id: text }));
    const run = await play(engine, agents.sharesState, calling(...toolCalls));
    await run.outcome();
    const notes = await run.notes();
    expect(notes.slice(0, 2)).toEqual(
      expect.arrayContaining([
        ['a', { text: 'a' }],
        ['b', { text: 'b' }],
      ]),
    );
    expect(notes[2]).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  onEngines('[trpc 86] a result that skips the summary ends the run without another model call', async (engine) => {
    const run = await play(engine, agents.skipsSummary, scriptedModel([{ toolCalls: [echo('x')] }]));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'x' });
    expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'tool-start echo', 'tool-end echo', 'run-end']);
  });
});

describe('what is stored', () => {
  onEngines('[trpc 87] a result is in the log before the model is asked again', async (engine) => {
    const asked = gate();
    const model = scriptedModel([{ toolCalls: [echo('x')] }, async () => (await asked.pass(), { text: 'Done.' })]);
    const run = await play(engine, agents.stopped, model);
    await asked.reached;
    expect(await run.reached('tool-end')).toMatchObject({ tool: 'echo', message: { parts: [{ output: 'x' }] } });
    asked.open();
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await run.lines()).filter((line) => /tool-end|model-start/.test(line))).toEqual([
      'model-start',
      'tool-end echo',
      'model-start',
    ]);
  });

  onEngines('[trpc 87] the result of a call that ends behind a cancel is stored once, and the run is cancelled', async (engine) => {
    const paying = gate();
    const key = `${engine.name} late`;
    holder.hold(key, paying);
    const run = await play(engine, agents.stopped, calling(says('pays', key)));
    await paying.reached;
    await run.cancel();
    paying.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    const ends = (await run.log()).filter(({ type }) => type === 'tool-end');
    expect(ends).toMatchObject([{ message: { parts: [{ output: 'paid' }] } }]);
  });

  onEngines('[trpc 96] a step before and after which the run waits runs exactly once, also over every continue-as-new', async (engine) => {
    const run = await play(engine, agents.waitsAroundTool, calling(echo('x')));
    for (const info of ['before', 'after']) {
      const interrupt = only(await run.waiting(1));
      expect(interrupt).toMatchObject({ info });
      await run.goOnAsNew();
      await run.resume(interrupt.id, 'go');
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(await run.notes()).toEqual(['runs']);
    expect((await run.lines()).filter((line) => line.startsWith('tool-start'))).toEqual(['tool-start echo']);
  });
});

describe('around the agent', () => {
  onEngines('[trpc 36] no agent, and one that is not there, are errors with a code', async (engine) => {
    const codeOf = async (agent: unknown): Promise<string | undefined> => {
      try {
        const outcome = await (await play(engine, agent as Agent)).outcome();
        return outcome.status === 'failed' ? outcome.error.code : outcome.status;
      } catch (error) {
        return error instanceof HoldfastError ? error.code : String(error);
      }
    };
    expect(await codeOf({})).toBe('agent-unknown');
    expect(await codeOf({ name: 'nobody', description: 'Is not there.' })).toBe('agent-unknown');
  });

  onEngines('[trpc 88] an answer before the agent is the only event, and the after callback is not run', async (engine) => {
    const run = await play(engine, agents.abortsAgent);
    expect(await run.outcome()).toMatchObject({ text: 'aborted by callback' });
    expect(await run.lines()).toEqual(['run-start', 'model-end', 'run-end']);
  });

  onEngines('[trpc 89] an error before the agent says where it comes from', async (engine) => {
    const run = await play(engine, agents.failsBeforeAgent);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: 'before agent callback failed: no' } });
  });

  onEngines('[trpc 29] after the agent every callback sees the same response', async (engine) => {
    const run = await play(engine, agents.seesResponseTwice, done());
    const notes = await run.notes();
    const last = (await run.messages()).at(-1);
    expect(notes).toEqual(Array(2).fill({ id: last?.id, text: 'Done.' }));
  });

  onEngines('[trpc 91] after the agent the error is there when the model failed, and only then', async (engine) => {
    expect(await (await play(engine, agents.seesFailures, done())).notes()).toEqual([null]);
    const failed = await play(engine, agents.seesFailures, scriptedModel([{ error: 'down' }]));
    expect(await failed.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    expect(await failed.notes()).toEqual([expect.stringMatching(/^model-failed: .*down/)]);
  });
});
