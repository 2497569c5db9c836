import { EventSourceParserStream } from 'eventsource-parser/stream';
import { attendRun } from '../../cli/attend-run';
import { FoundService } from '../../cli/found-service';
import type { ModelChunk, LanguageModel } from '../../activities/models/language-model';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { createLogger } from '../../host/logger';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { recordedTerminal } from '../support/recorded-terminal';
import { sharedBed } from '../support/shared-bed';

interface Frame {
  readonly id: string | undefined;
  readonly event: RunEvent | Delta;
}

const turnsOf = { 'Talk long.': 40, 'Talk.': 6 } as const;
const words = 'Each of these words is a token of its own.'.split(/(?<= )/);

let held: Gate | undefined;

const talker: LanguageModel = {
  generate: () => Promise.reject(new Error('This test streams.')),
  async *stream({ messages }): AsyncGenerator<ModelChunk> {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    if (turn === 0) await held?.pass();
    for (const text of words) {
      yield { type: 'text', text };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const turns = turnsOf[textOf(messages[0] as Message) as keyof typeof turnsOf];
    if (turn < turns - 1) yield { type: 'part', part: { type: 'tool-call', id: 'call', name: 'echo', input: { text: `turn ${turn}` } } };
    yield { type: 'finish', usage: { inputTokens: 1, outputTokens: words.length } };
  },
};

function* randomNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe('a reader of server-sent events', () => {
  const bed = sharedBed();
  const model = bed.scripted(talker);
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({
      client: bed.client,
      agents: [],
      logger: createLogger({ level: 'silent' }),
      host: '127.0.0.1',
      port: 0,
    });
  });
  afterAll(() => service.close());

  async function* frames(id: string, lastEventId: string | undefined, signal: AbortSignal): AsyncGenerator<Frame> {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await fetch(`${service.url}/runs/${id}/events`, { headers, signal });
    if (response.body === null) return;
    const stream = response.body.pipeThrough(new TextDecoderStream() as never).pipeThrough(new EventSourceParserStream());
    for await (const { id: offset, data } of stream as unknown as AsyncIterable<{ id?: string; data: string }>)
      yield { id: offset, event: JSON.parse(data) as RunEvent | Delta };
  }

  it('sees every durable event exactly once and in order, however often it is cut off', async () => {
    const run = await model.start('plain', 'Talk long.');
    const random = randomNumbers(7);
    const durable: RunEvent[] = [];
    let lastEventId: string | undefined;
    let cuts = 0;
    let ended = false;
    while (!ended) {
      const abort = new AbortController();
      // Cuts the first fifty connections at a random event.
      let left = cuts < 50 ? 1 + Math.floor(random.next().value * 5) : Infinity;
      try {
        for await (const { id, event } of frames(run.id, lastEventId, abort.signal)) {
          if (event.offset !== undefined) {
            expect(id).toBe(String(event.offset));
            lastEventId = id;
            durable.push(event);
            if (event.type === 'model-end' && event.turn === 12) await bed.temporal.handle(run.id).signal('continue-as-new');
          } else expect(id).toBeUndefined();
          if (event.type === 'run-end') ended = true;
          if (--left <= 0) break;
        }
      } finally {
        abort.abort();
      }
      if (!ended) cuts += 1;
    }
    expect(cuts).toBeGreaterThanOrEqual(50);
    expect(durable.map(({ offset }) => offset)).toEqual(durable.map((_event, position) => position));
    expect(durable.filter(({ type }) => type === 'model-end')).toHaveLength(turnsOf['Talk long.']);
    expect(durable.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
    const { historyLength } = await bed.temporal.handle(run.id).describe();
    expect(historyLength).toBeLessThan(turnsOf['Talk long.'] * 12);
  });

  it('sees the tokens of a call in whole, from the start of its attempt to its message, on a connection that is not cut', async () => {
    // Ended calls come from the history, which has no tokens.
    held = gate();
    const run = await model.start('plain', 'Talk.');
    let said = '';
    let messages = 0;
    for await (const { event } of frames(run.id, undefined, new AbortController().signal)) {
      held.open();
      if (event.type === 'attempt-start') said = '';
      if (event.type === 'text-delta') said += event.text;
      expect(event.type).not.toBe('message-replaced');
      if (event.type === 'model-end') {
        expect(said).toBe(words.join(''));
        messages += 1;
      }
    }
    held = undefined;
    expect(messages).toBe(turnsOf['Talk.']);
  });

  it('gets no deltas when it asks for none', async () => {
    const run = await model.start('plain', 'Talk.');
    const response = await fetch(`${service.url}/runs/${run.id}/events?deltas=false`);
    const text = await response.text();
    expect(text).toContain('event: model-end');
    expect(text).not.toContain('delta');
  });

  it.each([true, false])('reads the same on a terminal that is watched and where nobody watches (%s)', async (live) => {
    const run = await model.start('plain', 'Talk.');
    const terminal = recordedTerminal({ live });
    expect(await attendRun(new FoundService(service.url), terminal, { id: run.id, from: 0 })).toBe(0);
    const text = words.join('').trim();
    expect(
      terminal
        .written()
        .split('\n')
        .filter((line) => line === text),
    ).toHaveLength(turnsOf['Talk.']);
    expect(terminal.written()).not.toContain('!');
    if (live) expect(terminal.parts()).toBeGreaterThan(turnsOf['Talk.']);
    else expect(terminal.parts()).toBe(0);
  });
});
