import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { EventBody, RunEvent, RunView } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import type { Json, StoredMessage } from '../../../contract/messages/messages';
import { answerInWords, wordsOf } from '../../../service/responses/answers';
import { inputItemsOf } from '../../../service/responses/input-items';
import { messageIdOf, offsetOf, refOf, responseIdOf } from '../../../service/responses/response-id';
import type { ResponseRef } from '../../../service/responses/response-id';
import { ResponseSegment } from '../../../service/responses/segment';
import type { ResponseEvent, ResponseObject } from '../../../service/responses/types';
import type { OpenAiEvent, OpenAiResponse } from '../../support/responses-bed';
import { shortItem } from '../../support/responses-bed';

const of = { agent: 'agent', runPath: ['agent'] };
const message = messageIdOf(0, 'test');
const first: ResponseRef = { conversation: 'c', message, answers: [] };
const usage = { inputTokens: 2, outputTokens: 1 };

const logOf = (...bodies: readonly EventBody[]): readonly RunEvent[] =>
  bodies.map((body, offset) => ({ ...body, offset, time: 1_700_000_000_000 + offset }));

const said: EventBody = {
  ...of,
  type: 'message',
  turn: 1,
  id: message,
  mode: 'after-turn',
  message: { id: `sent.${message}`, role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
};
const begin: readonly EventBody[] = [{ type: 'run-start', agent: 'agent', input: [] }, { type: 'turn-start', turn: 1 }, said];
const asks: EventBody = { ...of, type: 'model-start', turn: 1, address: 'm1' };
const answers = (parts: StoredMessage['parts'], more: object = {}, id = 'm1'): EventBody => ({
  ...{ ...of, type: 'model-end', turn: 1, address: id, model: 'test/model', usage },
  message: { id, role: 'assistant', parts },
  ...more,
});
const returns = (tool: string, output: Json, more: object = {}): EventBody => ({
  ...of,
  type: 'tool-end',
  tool,
  callId: 'call-1',
  message: { id: 't', role: 'tool', parts: [{ type: 'tool-result', callId: 'call-1', name: tool, output }] },
  ...more,
});
const text = (whole: string) => ({ type: 'text' as const, text: whole });
const ends = (more: object = {}): EventBody => ({ type: 'turn-end', turn: 1, status: 'completed', usage, ...more });
const delta = (body: DeltaBody): Delta => ({ ...of, address: 'm1', attempt: 1, ...body });
const interruptAt = (id: string, info: Json): Interrupt => ({ kind: 'custom', id, address: ['agent', 't1'], agent: 'agent', info });

function shown(stream: readonly (RunEvent | Delta)[], ref = first, after?: number): readonly ResponseEvent[] {
  const segment = new ResponseSegment(ref, 'agent', {}, after);
  return [...segment.created(), ...stream.flatMap((event) => [...segment.take(event)])];
}

function madeOf(events: readonly ResponseEvent[]): OpenAiResponse {
  let response: OpenAiResponse | undefined;
  for (const event of events.filter(({ type }) => !/^response\.(completed|failed|incomplete)$/.test(type)))
    response = accumulateResponse(event as unknown as OpenAiEvent, response);
  return response!;
}

const lastOf = (events: readonly ResponseEvent[]): ResponseObject => {
  const last = events.at(-1)!;
  if (!('response' in last)) throw new Error(`The last event is ${last.type}.`);
  return last.response;
};
const outputOf = (events: readonly ResponseEvent[]) => (lastOf(events) as unknown as OpenAiResponse).output.map(shortItem);

describe('a response of a log', () => {
  const log = logOf(...begin, asks, answers([{ type: 'reasoning', text: 'Hm.' }, text('Hello you.')]), ends());
  const live = [
    ...log.slice(0, 4),
    ...['Hm', '.'].map((piece) => delta({ type: 'reasoning-delta', text: piece })),
    ...['Hel', 'lo ', 'you'].map((piece) => delta({ type: 'text-delta', text: piece })),
    ...log.slice(4),
  ];

  it('is made by a client of the pieces, with reasoning and with texts, and has the same numbers in however many pieces it comes', () => {
    for (const stream of [log, live]) {
      const events = shown(stream);
      expect(madeOf(events).output).toEqual(lastOf(events).output);
      expect(outputOf(events)).toEqual(['reasoning Hm.', 'message Hello you.']);
    }
    const numbersOf = (events: readonly ResponseEvent[]) => events.map(({ type, sequence_number }) => `${sequence_number} ${type}`);
    expect(numbersOf(shown(live))).toEqual(expect.arrayContaining(numbersOf(shown(log))));
  });

  it('gives a reader that comes back in the middle of a text the rest of it', () => {
    const pieces = shown(live);
    for (const { sequence_number: after } of pieces) {
      const before = pieces.filter(({ sequence_number }) => sequence_number <= after);
      const rest = shown(log, first, after).filter(({ sequence_number }) => sequence_number > after);
      const deltas = [...before, ...rest].flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
      expect(deltas.join('')).toBe('Hello you.');
    }
  });

  it('puts the next try in the place of a text that counts no more', () => {
    const events = shown([
      ...log.slice(0, 4),
      delta({ type: 'text-delta', text: 'In vain' }),
      delta({ type: 'attempt-void' }),
      delta({ type: 'text-delta', text: 'Hello' }),
      ...logOf(...begin, asks, answers([text('Hello you.')]), ends()).slice(4),
    ]);
    expect(outputOf(events)).toEqual(['message Hello you.']);
    expect(madeOf(events).output).toEqual(lastOf(events).output);
  });

  it('leaves out a text that counts no more, and that nothing came after', () => {
    const events = shown([
      ...log.slice(0, 4),
      delta({ type: 'text-delta', text: 'In vain' }),
      delta({ type: 'attempt-void' }),
      ...logOf(...begin, asks, ends({ status: 'failed', error: { code: 'model-failed', message: 'No.' } })).slice(4),
    ]);
    expect(lastOf(events)).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'No.' }, output: [] });
    expect(madeOf(events).output_text).toBe('');
  });

  it.each([
    ['cancelled', {}, { status: 'stopped' }, { status: 'cancelled', incomplete_details: null }, 'response.incomplete'],
    ['too long', { finish: 'length' }, {}, { incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'],
    ['failed', {}, { status: 'failed' }, { status: 'failed', error: { code: 'run-failed' } }, 'response.failed'],
    ['completed', { finish: 'stop' }, {}, { status: 'completed', error: null }, 'response.completed'],
  ] as const)('ends as its turn ends: %s', (_, how, end, expected, type) => {
    const events = shown(logOf(...begin, asks, answers([text('Hello')], how), ends(end)));
    expect(events.at(-1)?.type).toBe(type);
    expect(lastOf(events)).toMatchObject({ ...expected, usage: { total_tokens: 3 } });
  });

  it('has the output of a turn that no model said', () => {
    expect(outputOf(shown(logOf(...begin, ends({ output: { sum: 2 } }))))).toEqual(['message {"sum":2}']);
  });

  it('goes on where nobody answered in time', () => {
    const log = logOf(
      ...begin,
      { type: 'interrupt-start', interrupt: interruptAt('i', { question: 'Well?' }) },
      { type: 'interrupt-end', interruptId: 'i', answer: null, reason: 'deadline' },
      asks,
      answers([text('Nobody said.')]),
      ends(),
    );
    expect(outputOf(shown(log))).toEqual(['message Well?', 'message Nobody said.']);
  });
});

describe('a call that the client makes itself', () => {
  const call = { type: 'tool-call', id: 'call-1', name: 'locate', input: { who: 'me' } } as const;
  const log = logOf(
    ...begin,
    asks,
    answers([call]),
    { ...of, type: 'tool-start', tool: 'locate', callId: 'call-1', input: { who: 'me' }, address: 'c1', external: true },
    { type: 'interrupt-start', interrupt: interruptAt('i', { externalCall: { tool: 'locate', callId: 'call-1' } }) },
    { type: 'interrupt-end', interruptId: 'i', answer: { output: 'Here' }, reason: 'answer' },
    returns('locate', 'Here'),
    answers([text('You are here.')], { address: 'm2' }),
    ends(),
  );
  const answered: ResponseRef = { ...first, answers: [[6]] };

  it('is a function_call, and the response ends there', () => {
    const events = shown(log);
    expect(lastOf(events)).toMatchObject({
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'call-1', name: 'locate', arguments: '{"who":"me"}', status: 'completed' }],
    });
    expect(madeOf(events).output).toEqual(lastOf(events).output);
  });

  it('has its result in the input of the next response, and not in the output', () => {
    const events = shown(log, answered);
    expect(outputOf(events)).toEqual(['message You are here.']);
    expect(lastOf(events)).toMatchObject({ previous_response_id: responseIdOf(first) });
    expect(inputItemsOf(answered, log)).toMatchObject([{ type: 'function_call_output', call_id: 'call-1', output: 'Here' }]);
  });
});

it('tells calls of the client from those of another agent with the same id', () => {
  const inside = { agent: 'helper', runPath: ['agent', 'helper'] };
  const call = (name: string) => ({ type: 'tool-call', id: 'call-1', name, input: {} }) as const;
  const log = logOf(
    ...begin,
    answers([call('locate')]),
    answers([call('echo')], { ...inside, address: 'm2' }),
    { type: 'interrupt-start', interrupt: interruptAt('i', { externalCall: { tool: 'locate', callId: 'call-1' } }) },
    returns('echo', 'Yes', inside),
    ends(),
  );
  expect(outputOf(shown(log))).toEqual(['function_call locate {}', 'mcp_call echo {} Yes']);
});

describe('a response that waits for its turn', () => {
  it('is queued, and says so in the stream if the turn before waits for somebody', () => {
    const segment = new ResponseSegment(first, 'agent');
    const standing = segment.stand({ status: 'waiting' } as RunView);
    expect(standing.next()).toMatchObject({ done: true, value: { problem: { code: 'interrupts-open' } } });
    expect([segment.response.status, segment.isOver]).toEqual(['queued', false]);
  });

  it('is cancelled if somebody takes its message back', () => {
    expect(lastOf(shown(logOf({ type: 'message-withdrawn', id: message })))).toMatchObject({ status: 'cancelled' });
  });
});

describe('a question in words', () => {
  const doubt: Interrupt = { ...interruptAt('i', { question: 'Was it paid?' }), kind: 'in-doubt' } as Interrupt;
  const form: Interrupt = { ...interruptAt('i', 'How many?'), answerSchema: { type: 'number' } } as Interrupt;

  it('says how it is answered', () => {
    expect([doubt, form].map((interrupt) => wordsOf(interrupt as Parameters<typeof wordsOf>[0]))).toEqual([
      'Was it paid?\n\nAnswer {"happened": false}, or {"happened": true, "result": …}.',
      'How many?\n\nAnswer with JSON that fits: {"type":"number"}',
    ]);
  });

  it('takes a text, or the JSON that it is', () => {
    expect(answerInWords(doubt, '{"happened": false}')).toEqual({ answer: { happened: false } });
    expect(answerInWords(form, '7')).toEqual({ answer: 7 });
    expect(answerInWords(interruptAt('i', 'Well?'), '7')).toEqual({ answer: '7' });
    expect(answerInWords(doubt, 'No')).toEqual({ misfit: expect.any(String) });
  });
});

describe('the id of a response', () => {
  it.each([first, { conversation: 'a:b@c', message: messageIdOf(77, 'x'), answers: [[5], [17, 23]] }])(
    'says where it is, and from where on to read',
    (ref) => {
      const id = responseIdOf(ref);
      expect(id).toMatch(/^resp_[\w-]+$/);
      expect(refOf(id)).toEqual(ref);
      expect(offsetOf({ ...ref, answers: [] })).toBe(ref === first ? 0 : 77);
    },
  );
});
