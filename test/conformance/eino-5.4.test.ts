import type { ModelProvider } from '../../activities/models/language-model';
import type { RunEvent } from '../../contract/events';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { failure } from '../support/failures';
import { only } from '../support/memory-bed';
import { gate } from '../support/gate';
import type { AskedModel, Said } from '../support/streaming-model';
import { broken, modelsSaying, sayingModel, shortDelta } from '../support/streaming-model';
import type { Engine, Played } from './engines';
import { plain } from './agents';
import { closeEngines, onEngines } from './engines';
import * as agents from './retry-agents';

/*
 * Eino, model retry and failover (5.4). Eino's message event is `model-end`; a stream ending with WillRetryError is void deltas and
 * `model-retry`.
 */

afterAll(closeEngines);

type Agent = Parameters<Engine['play']>[0];
type Retry = Extract<RunEvent, { type: 'model-retry' }>;

interface Seen {
  readonly run: Played;
  readonly deltas: readonly string[];
  readonly outcome: Awaited<ReturnType<Played['outcome']>>;
  readonly ends: readonly string[];
  readonly retries: readonly Retry[];
}

async function play(engine: Engine, agent: Agent, model: AskedModel, stream = true): Promise<Seen> {
  const deltas: string[] = [];
  const listener = new Listener();
  const run = await engine.play(agent, {
    model: stream ? heardBy(listener, model) : model,
    stream,
    onDelta(delta) {
      deltas.push(shortDelta(delta));
      if (delta.type === 'text-delta') listener.hear(delta.text);
    },
  });
  await run.letTimePass();
  const outcome = await run.outcome();
  const events = await run.log();
  return {
    run,
    deltas,
    outcome,
    ends: events.flatMap((event) => (event.type === 'model-end' ? [textOf(event.message)] : [])),
    retries: events.filter((event) => event.type === 'model-retry'),
  };
}

class Listener {
  private said = 0;
  private heard = 0;
  private go: () => void = () => undefined;

  hear(text: string): void {
    this.heard += text.length;
    this.go();
  }

  async hears(text: string): Promise<void> {
    this.said += text.length;
    while (this.heard < this.said) await new Promise<void>((resolve) => (this.go = resolve));
  }
}

/** On a server, a reader gets no pieces of an ended call, so the model waits until the reader has heard the piece. */
function heardBy(listener: Listener, model: AskedModel): ModelProvider {
  return {
    async model(name) {
      const { generate, stream } = await model.model(name);
      return {
        generate,
        async *stream(request) {
          for await (const chunk of stream?.(request) ?? []) {
            yield chunk;
            if (chunk.type === 'text') await listener.hears(chunk.text);
          }
        },
      };
    },
  };
}

const texts = (messages: readonly Message[]): readonly string[] => messages.map(textOf);
const settingsOf = ({ asked }: AskedModel) => asked.map(({ settings }) => settings);
const calling: Said = { tool: 'echo', input: { text: 'x' } };
const withOther = (first: readonly (readonly Said[])[], other = 'Good.'): AskedModel =>
  modelsSaying((name) => (name === 'other' ? [[other]] : first));

describe('retry', () => {
  onEngines('[eino 83] two failures and an answer are one message in three calls', async (engine) => {
    const model = sayingModel([broken()], [broken()], ['Good.']);
    const { ends, outcome } = await play(engine, agents.triesThrice, model, false);
    expect(ends).toEqual(['Good.']);
    expect(model.asked).toHaveLength(3);
    expect(outcome).toMatchObject({ status: 'completed', output: 'Good.' });
  });

  onEngines('[eino 84] of streams that break off the reader sees each, and that it will be made again', async (engine) => {
    for (const agent of [agents.triesWithTools, agents.triesThrice]) {
      const model = sayingModel(['One', broken()], ['Two', broken()], ['Good.']);
      const { deltas, retries, ends } = await play(engine, agent, model);
      expect(deltas).toEqual(['start', 'One', 'void', 'start', 'Two', 'void', 'start', 'Good.']);
      expect(retries.map(({ attempt, error }) => [attempt, error.message])).toEqual([
        [0, 'The line is dead.'],
        [1, 'The line is dead.'],
      ]);
      expect(ends).toEqual(['Good.']);
    }
  });

  onEngines('[eino 86] without an answer the run fails, with the number of calls and the last error', async (engine) => {
    const model = sayingModel([broken('first')], [broken('second')], [broken('third')]);
    const { outcome, ends } = await play(engine, agents.triesTwice, model);
    expect(outcome).toMatchObject(failure('model-retries-exhausted'));
    expect((outcome as { error: { message: string } }).error.message).toMatch(/exceeds max retries: .* in 3 calls\. .*third/);
    expect(ends).toEqual([]);
  });

  onEngines('[eino 87] backoff is asked with the number of the retry', async (engine) => {
    const { run } = await play(engine, agents.countsBackoffs, sayingModel([broken()], [broken()], ['Good.']));
    expect(await run.notes()).toEqual([[], [1], [1, 2]]);
  });

  onEngines('[eino 88] without a configuration the error is the original one, after one call', async (engine) => {
    const model = sayingModel([broken('No.', false)]);
    const { outcome } = await play(engine, plain, model, false);
    expect(outcome).toMatchObject(failure('model-failed', 'No.'));
    expect(model.asked).toHaveLength(1);
  });

  onEngines('[eino 89] an error that is not worth a retry ends its stream, and the run', async (engine) => {
    const model = sayingModel(['Half', broken('No.')]);
    const { deltas, outcome, retries } = await play(engine, agents.neverTriesAgain, model);
    expect(deltas).toEqual(['start', 'Half', 'void']);
    expect(retries).toEqual([]);
    expect(outcome).toMatchObject(failure('model-failed', 'No.'));
    expect(model.asked).toHaveLength(1);
  });

  onEngines('[eino 91] without a predicate every error is retried', async (engine) => {
    const model = sayingModel([broken('never again', false)], ['Good.']);
    expect((await play(engine, agents.triesOnce, model)).ends).toEqual(['Good.']);
  });

  onEngines('[eino 92] in a sequence the next agent is asked once, behind the answer that counts', async (engine) => {
    const model = sayingModel(['One', broken()], ['Two', broken()], ['Good.'], ['Next.']);
    const { deltas, retries, ends, outcome } = await play(engine, agents.triesThenNext, model);
    expect(deltas.slice(0, 8)).toEqual(['start', 'One', 'void', 'start', 'Two', 'void', 'start', 'Good.']);
    expect(retries.map(({ runPath }) => runPath)).toEqual(Array.from({ length: 2 }, () => ['triesThenNext', 'triesThrice']));
    expect(ends).toEqual(['Good.', 'Next.']);
    expect(outcome).toMatchObject({ status: 'completed', text: 'Next.' });
    expect(model.asked).toHaveLength(4);
    expect(texts(model.asked[3]?.messages ?? [])).toEqual(['Hi', 'For context: [triesThrice] said: Good..']);
  });

  onEngines('[eino 93] in a sequence the next agent is not asked when the one before it fails', async (engine) => {
    for (const agent of [agents.neverThenNext, agents.plainThenNext]) {
      const model = sayingModel(['Half', broken('No.', false)]);
      const { retries, ends, outcome } = await play(engine, agent, model);
      expect(outcome).toMatchObject(failure('model-failed', 'No.'));
      expect([retries, ends]).toEqual([[], []]);
      expect(model.asked).toHaveLength(1);
    }
  });

  onEngines(
    '[eino 94] a stream that failed stays out of what goes over a continue-as-new, in a backoff and in a later interrupt',
    async (engine) => {
      const model = sayingModel(['Half', broken()], [{ tool: 'asks', input: { text: 'Sure?' } }], ['Good.']);
      const run = await engine.play(agents.restsAndAsks, { model });
      await run.reached('model-retry');
      await run.goOnAsNew();
      expect(model.asked).toHaveLength(1);
      await run.letTimePass();
      const { id } = only(await run.waiting(1));
      await run.goOnAsNew();
      await run.resume(id, 'yes');
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Good.' });
      expect(model.asked).toHaveLength(3);
      expect(JSON.stringify(await run.messages())).not.toContain('Half');
    },
  );

  onEngines('[eino 96] the run fails with the error that shouldRetry says instead, of a message and of an error', async (engine) => {
    for (const answer of [['Bad.'], [broken()]]) {
      const { outcome, ends } = await play(engine, agents.rewritesErrors, sayingModel(answer), false);
      expect(outcome).toMatchObject(failure('model-failed', 'Not like this.'));
      expect(ends).toEqual([]);
    }
  });

  onEngines('[eino 97] additional settings add up from retry to retry', async (engine) => {
    const model = sayingModel([broken()], [broken()], ['Good.']);
    const { outcome, retries } = await play(engine, agents.addsSettings, model, false);
    expect(settingsOf(model)).toEqual([{}, { temperature: 0.1 }, { temperature: 0.1, topK: 5 }]);
    expect(retries.map(({ rejectReason }) => rejectReason)).toEqual([{}, { temperature: 0.1 }]);
    expect(outcome).toMatchObject({ status: 'completed' });
  });

  onEngines('[eino 98] modified input is seen by the retry alone', async (engine) => {
    const model = sayingModel([broken()], [calling], ['Good.']);
    const { run } = await play(engine, agents.changesInput, model);
    expect(model.asked.map(({ messages }) => texts(messages)[0])).toEqual(['Hi', 'Shorter.', 'Hi']);
    expect(texts(await run.messages())[0]).toBe('Hi');
  });

  onEngines('[eino 99] persisted input replaces the messages, with settings in the same decision', async (engine) => {
    const model = sayingModel(['Half', broken()], [calling], ['Good.']);
    const { run } = await play(engine, agents.persistsInput, model);
    expect(model.asked.map(({ messages }) => texts(messages)[0])).toEqual(['Hi', 'Shorter.', 'Shorter.']);
    expect(settingsOf(model)).toEqual([{}, { temperature: 0 }, {}]);
    expect(texts(await run.messages())).toEqual(['Shorter.', '', '', 'Good.']);
  });

  onEngines('[eino 101] of whole answers only the accepted one is an event', async (engine) => {
    expect((await play(engine, agents.rejectsBad, sayingModel(['Bad.'], ['Good.']), false)).ends).toEqual(['Good.']);
    expect((await play(engine, agents.rejectsBad, sayingModel(['Good.']), false)).ends).toEqual(['Good.']);
    const none = await play(engine, agents.rejectsBad, sayingModel(['Bad.'], ['Bad.']), false);
    expect(none.ends).toEqual([]);
    expect(none.outcome).toMatchObject(failure('model-retries-exhausted'));
  });

  onEngines('[eino 102] a run that is cancelled in a backoff ends at once, after one call', async (engine) => {
    const model = sayingModel([broken()], ['Good.']);
    const run = await engine.play(agents.restsForLong, { model });
    await run.reached('model-retry');
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(model.asked).toHaveLength(1);
  });

  onEngines('[eino 103] shouldRetry sees what a stream had said, and its error', async (engine) => {
    const broke = ['One ', 'two', broken()];
    const { retries } = await play(engine, agents.repeatsWhatItSaw, sayingModel(broke, ['Good.']));
    expect(retries).toMatchObject([{ rejectReason: { attempt: 1, said: 'One two', error: 'The line is dead.' } }]);
    const { outcome } = await play(engine, agents.decidesNothing, sayingModel(broke));
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'The line is dead.' } });
  });

  onEngines('[eino 104] a whole stream that is rejected will be made again, the next one counts', async (engine) => {
    const { retries, ends, deltas } = await play(engine, agents.rejectsBad, sayingModel(['Bad.'], ['Good.']));
    expect(retries.map(({ attempt, error }) => [attempt, error.code])).toEqual([[0, 'model-response-rejected']]);
    expect(ends).toEqual(['Good.']);
    // In memory, deltas come straight from the calls, and the client puts the rejected call's end between them.
    expect(deltas.filter((delta) => delta !== 'void')).toEqual(['start', 'Bad.', 'start', 'Good.']);
  });

  onEngines('[eino 106] a shouldRetry that throws ends the run, naming it', async (engine) => {
    expect((await play(engine, agents.throwsDecision, sayingModel(['Good.']))).outcome).toMatchObject(
      failure('hook-failed', 'shouldRetry of agent "throwsDecision" failed: out of order'),
    );
  });

  onEngines('[eino 107] nothing returned accepts; no retries and a rejection are exhausted', async (engine) => {
    expect((await play(engine, agents.decidesNothing, sayingModel(['Good.']))).ends).toEqual(['Good.']);
    expect((await play(engine, agents.hasNoRetries, sayingModel(['Bad.']))).outcome).toMatchObject(failure('model-retries-exhausted'));
  });

  onEngines('[eino 107] an error beside retry is ignored', async (engine) => {
    expect((await play(engine, agents.rejectsAndRewrites, sayingModel(['Bad.'], ['Good.']))).ends).toEqual(['Good.']);
  });

  onEngines('[eino 108] the reason of a rejection can be read where the stream ends', async (engine) => {
    const { retries } = await play(engine, agents.rejectsWithReason, sayingModel(['Bad.'], ['Good.']));
    expect(retries).toMatchObject([{ rejectReason: { rule: 'politeness' } }]);
  });

  onEngines('[eino 109] a cancelled stream is neither retried nor failed over, and nobody is asked', async (engine) => {
    const never = gate();
    const half = gate();
    const model = sayingModel(['Half', never.pass()]);
    const run = await engine.play(agents.triesEverything, {
      model,
      onDelta: ({ type }) => (type === 'text-delta' ? void half.pass() : undefined),
    });
    await half.reached;
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(await run.lines()).not.toContain('model-retry');
    expect(model.asked).toHaveLength(1);
    never.open();
  });
});

describe('failover', () => {
  onEngines('[eino 111] a model that says it was cancelled, in a run that is not, is asked about', async (engine) => {
    const aborted = Object.assign(new Error('context canceled'), { name: 'AbortError' });
    expect((await play(engine, agents.asksAboutAborts, withOther([[aborted]]))).ends).toEqual(['Good.']);
  });

  onEngines('[eino 112] stops when getFailoverModel throws, or has no model', async (engine) => {
    expect((await play(engine, agents.throwsChoice, sayingModel([broken('first')]))).outcome).toMatchObject(
      failure('model-unknown', 'There is no other model.'),
    );
    expect((await play(engine, agents.choosesNone, sayingModel([broken('first')]))).outcome).toMatchObject(
      failure('model-failover-invalid', 'getFailoverModel of agent "choosesNone" returned no model at attempt 1.'),
    );
  });

  onEngines(
    '[eino 113] a stream that breaks off is shown to shouldFailover, and the answer is of the second model alone',
    async (engine) => {
      const model = withOther([['p1', 'p2', broken()]]);
      const { deltas, ends, retries } = await play(engine, agents.asksAboutHalves, model);
      expect(deltas).toEqual(['start', 'p1', 'p2', 'void', 'start', 'Good.']);
      expect(ends).toEqual(['Good.']);
      expect(retries).toMatchObject([{ attempt: 0, failover: { attempt: 1, model: 'test/other' } }]);
    },
  );

  onEngines('[eino 114] a run that is cancelled while a stream breaks off asks nobody and no other model', async (engine) => {
    const cancelled = gate();
    const model = withOther([[cancelled.pass(), broken()]]);
    const run = await engine.play(agents.goesToOther, { model });
    while (model.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await run.cancel();
    cancelled.open();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(await run.lines()).not.toContain('model-retry');
    expect(model.names).toEqual(['model']);
  });

  onEngines('[eino 116] each model has its own retries, and the last error is that they are exhausted', async (engine) => {
    const model = modelsSaying(() => [[broken()], [broken()], [broken()]]);
    const { outcome, retries } = await play(engine, agents.triesThenOther, model, false);
    expect(model.names).toEqual(['model', 'model', 'other', 'other']);
    expect(outcome).toMatchObject(failure('model-retries-exhausted'));
    expect(retries.map(({ attempt, error, failover }) => [attempt, error.code, failover?.model])).toEqual([
      [0, 'model-failed', undefined],
      [1, 'model-retries-exhausted', 'test/other'],
      [0, 'model-failed', undefined],
    ]);
  });

  onEngines('[eino 117] a retry that works asks for no other model', async (engine) => {
    const model = sayingModel([broken()], ['Good.']);
    expect((await play(engine, agents.triesThenOther, model)).ends).toEqual(['Good.']);
    expect(model.names).toEqual(['model', 'model']);
  });

  onEngines('[eino 117] an error that is not worth a retry goes to the next model at once', async (engine) => {
    const model = withOther([[broken()]]);
    expect((await play(engine, agents.neverTriesThenOther, model)).ends).toEqual(['Good.']);
    expect(model.names).toEqual(['model', 'other']);
  });

  onEngines('[eino 117] content that is rejected too often goes to the next model, streaming and whole', async (engine) => {
    for (const stream of [true, false]) {
      const model = withOther([['Bad one'], ['Bad two']], 'good from m2');
      expect((await play(engine, agents.rejectsThenOther, model, stream)).ends).toEqual(['good from m2']);
      expect(model.names).toEqual(['model', 'model', 'other']);
    }
  });
});
