import { scriptedModel, testConversation } from 'holdfast/testing';
import type { Delta, DeltaBody } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { Part } from '../../contract/messages/messages';
import type { LanguageModel } from '../../activities/models/language-model';
import type { AguiEvent } from '../../service/agui/events';
import { AguiFrames } from '../../service/agui/frames';
import { historyOf } from '../../service/agui/history';
import type { AguiOptions } from '../../service/agui/options';
import type { HookEvent, HookedRun } from '../../service/agui/run-hooks';
import { Projection } from '../../service/projection/projection';
import type { AguiAnswer, AguiThread } from '../support/agui-bed';
import { aguiApp, aguiThread, eventsIn, shortOf } from '../support/agui-bed';
import { gate } from '../support/gate';
import { agentWith, echo, lineOf } from '../support/memory-bed';
import * as agents from './agents';
import type { Engine } from './engines';
import { closeEngines, onEngines } from './engines';
import { holder, tools } from './tools';

afterAll(closeEngines);

const of = { agent: 'agent', runPath: ['agent'] };
const delta = (body: DeltaBody, address = 'a'): Delta => ({ ...of, address, attempt: 1, ...body });
const says = (text: string, address = 'a'): Delta => delta({ type: 'text-delta', text }, address);
const answer = (parts: readonly Part[], address = 'a'): RunEvent => {
  const message = { id: `m-${address}`, role: 'assistant' as const, parts };
  return { ...of, type: 'model-end', turn: 0, address, message, model: 'test/model', offset: 0, time: 0 };
};
const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string, input: Extract<Part, { type: 'tool-call' }>['input']): Part => ({ type: 'tool-call', id, name: 'echo', input });
const result = (callId: string, output: string): RunEvent => {
  const parts = [{ type: 'tool-result' as const, callId, name: 'echo', output }];
  return { ...of, type: 'tool-end', tool: 'echo', callId, message: { id: `r-${callId}`, role: 'tool', parts }, offset: 0, time: 0 };
};

function translated(...given: readonly (RunEvent | Delta)[]): readonly AguiEvent[] {
  const projection = new Projection();
  const frames = new AguiFrames(() => false);
  const steps = [...given.flatMap((one) => [...projection.take(one)]), ...projection.end()];
  return steps.flatMap((step) => [...frames.take(step)]).filter((event): event is AguiEvent => event.type !== 'snapshot-here');
}
const shortly = (...given: readonly (RunEvent | Delta)[]): readonly string[] => translated(...given).map(shortOf);
const idsOf = (events: readonly AguiEvent[]): readonly string[] =>
  events.map((event) => `${event.type} ${'messageId' in event ? event.messageId : ''}`);

type Model = ReturnType<typeof scriptedModel> | LanguageModel;

async function talk(
  model: Model,
  agui: AguiOptions = {},
  { stream = false, ...agent }: Parameters<typeof agentWith>[0] & { stream?: boolean } = {},
) {
  const chat = await testConversation(agentWith({ tools: ['echo'], ...agent }), { model, tools, stream });
  return { chat, thread: aguiThread(aguiApp(chat, agui), 'agent', 'test') };
}
const threadInMemory = async (model: Model, agui: AguiOptions = {}): Promise<AguiThread> => (await talk(model, agui)).thread;
const lines = ({ events }: AguiAnswer): readonly string[] => events.map(shortOf);
const hello = () => scriptedModel([{ text: 'Hello.' }]);
const boom = (): never => {
  throw new Error('boom');
};

type Posted = ReturnType<AguiThread['saying']>;
const jsonOf = (body: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body });

async function readAs({ app, path, body }: Posted, onRead: (read: string) => void): Promise<readonly AguiEvent[]> {
  const response = await app.request(path, jsonOf(body));
  const decoder = new TextDecoder();
  let read = '';
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    read += decoder.decode(piece, { stream: true });
    onRead(read);
  }
  return eventsIn(read);
}

const halfOf = (door: ReturnType<typeof gate>, first: Part): LanguageModel => ({
  generate: () => Promise.reject(new Error('The model streams.')),
  async *stream({ signal }) {
    if (first.type === 'text' || first.type === 'reasoning') yield { type: first.type, text: first.text };
    const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('Stopped.'))));
    await Promise.race([door.pass(), stopped]);
    yield { type: 'text', text: ' And all.' };
    yield { type: 'finish' };
  },
});

describe('translation callbacks', () => {
  it('[trpc 97] of several the first one that returns an event wins, before and after', async () => {
    const asked: string[] = [];
    const thread = await threadInMemory(hello(), {
      translate: {
        before: [
          () => undefined,
          (event) => (event.type === 'model-end' ? { ...event, message: { ...event.message, parts: [text('Two.')] } } : undefined),
          (event) => void asked.push(`before ${event.type}`),
        ],
        after: [(event) => (event.type === 'TEXT_MESSAGE_END' ? event : undefined), (event) => void asked.push(`after ${event.type}`)],
      },
    });
    const shown = lines(await thread.say('Hi.'));
    expect(shown).toContain('TEXT_MESSAGE_CONTENT Two.');
    expect(asked).not.toContain('before model-end');
    expect(asked).not.toContain('after TEXT_MESSAGE_END');
    expect(asked).toContain('before turn-end');
    expect(asked).toContain('after RUN_FINISHED');
  });

  it('[trpc 97] of a plugin each sees what the one before it left, and one that throws is left out', async () => {
    const seen: string[] = [];
    const named = (name: string) => ({
      name,
      onEvent: (event: RunEvent | Delta) => {
        if (event.type !== 'model-end') return undefined;
        seen.push(JSON.stringify(event.message.parts));
        return { ...event, message: { ...event.message, parts: [text(name)] } };
      },
    });
    const thread = await threadInMemory(hello(), { plugins: [named('one'), { name: 'breaks', onEvent: boom }, named('two')] });
    expect(lines(await thread.say('Hi.'))).toContain('TEXT_MESSAGE_CONTENT two');
    expect(seen).toEqual([text('Hello.'), text('one')].map((part) => JSON.stringify([part])));
  });

  it('[trpc 113] that fail before the translation end the run with their error', async () => {
    const thread = await threadInMemory(hello(), { translate: { before: [boom] } });
    expect(lines(await thread.say('Hi.'))).toEqual(['RUN_STARTED', 'RUN_ERROR callback-failed: before translate callback: boom']);
  });

  it('[trpc 114] that fail at the first event end the stream with that, and nothing is run', async () => {
    const model = hello();
    const thread = await threadInMemory(model, { translate: { after: [boom] } });
    expect(lines(await thread.say('Hi.'))).toEqual(['RUN_ERROR callback-failed: after translate callback: boom']);
    expect(model.requests).toEqual([]);
  });

  it('[trpc 116] may replace the last event, and what they make of another ends the stream too', async () => {
    const failing = (at: AguiEvent['type']): AguiOptions => ({
      translate: { after: [({ type }) => (type === at ? { type: 'RUN_ERROR', message: 'replaced' } : undefined)] },
    });
    for (const at of ['RUN_FINISHED', 'TEXT_MESSAGE_START'] as const) {
      const shown = lines(await (await threadInMemory(hello(), failing(at))).say('Hi.'));
      expect(shown.filter((line) => /^RUN_(FINISHED|ERROR)/.test(line))).toEqual(['RUN_ERROR : replaced']);
      expect(shown.at(-1)).toBe('RUN_ERROR : replaced');
    }
  });

  it('[trpc 117] that fail behind the translation stop the turn', async () => {
    const door = gate();
    const after = (event: AguiEvent): void => (event.type === 'CUSTOM' ? boom() : undefined);
    const { chat, thread } = await talk(
      halfOf(door, text('Half.')),
      { translate: { after: [after] } },
      {
        middleware: [{ name: 'tells', beforeAgent: (_, ctx) => ctx.sendEvent('note', 1) }],
        stream: true,
      },
    );
    const shown = lines(await thread.say('Hi.'));
    expect(shown).toEqual(['RUN_STARTED', 'RUN_ERROR callback-failed: after translate callback: boom']);
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
  });

  it('[trpc 102] that return something else than an event are an error, and an empty text gives nothing', async () => {
    const thread = await threadInMemory(hello(), { translate: { before: [() => 'unknown' as never] } });
    expect(lines(await thread.say('Hi.')).at(-1)).toMatch(/^RUN_ERROR callback-failed: .*must return an event.*"unknown"/);
    expect(shortly(says(''), answer([text('')]))).toEqual([]);
  });
});

describe('texts', () => {
  it('[trpc 98] give a start and contents, and their end once', () => {
    expect(shortly(says('Hel'), says('lo'), answer([text('Hello')]))).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Hel',
      'TEXT_MESSAGE_CONTENT lo',
      'TEXT_MESSAGE_END',
    ]);
  });

  it('[trpc 99] that come whole give start, content and end', () => {
    expect(shortly(answer([text('Hello')]))).toEqual(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT Hello', 'TEXT_MESSAGE_END']);
  });

  it('[trpc 101] that interleave end each at its own end', () => {
    const given = [says('1', 'a'), says('1', 'b'), says('2', 'a'), says('2', 'b'), answer([text('12')], 'a'), answer([text('12')], 'b')];
    const [start, content, end] = ['START', 'CONTENT', 'END'].map((phase) => `TEXT_MESSAGE_${phase}`);
    expect(idsOf(translated(...given))).toEqual([
      `${start} a`,
      `${content} a`,
      `${start} b`,
      `${content} b`,
      `${content} a`,
      `${content} b`,
      `${end} a`,
      `${end} b`,
    ]);
  });

  it('[trpc 103] of a call that nobody began are not shown', () => {
    expect(shortly(delta({ type: 'tool-input-delta', callId: '', text: '{' }))).toEqual([]);
  });

  it('[trpc 109] that are open are closed at the end of the run', () => {
    const end: RunEvent = { type: 'run-end', status: 'completed', offset: 1, time: 0 };
    expect(idsOf(translated(says('1', 'a'), says('1', 'b'), end)).slice(-2)).toEqual(['TEXT_MESSAGE_END a', 'TEXT_MESSAGE_END b']);
  });
});

describe('calls', () => {
  it('[trpc 104] give start, arguments and end under their message, and a result with an id of its own', () => {
    const events = translated(answer([call('c1', { text: 'x' })]), result('c1', 'done'));
    expect(events.map(shortOf)).toEqual(['TOOL_CALL_START echo', 'TOOL_CALL_ARGS {"text":"x"}', 'TOOL_CALL_END', 'TOOL_CALL_RESULT done']);
    expect(events[0]).toMatchObject({ parentMessageId: 'a' });
    expect(events[3]).toMatchObject({ messageId: 'r-c1', toolCallId: 'c1' });
  });

  it('[trpc 106] whose arguments came in pieces are not repeated at the end', () => {
    const pieces = ['{"text"', ':"x"}'].map((piece) => delta({ type: 'tool-input-delta', callId: 'c1', text: piece }));
    expect(
      shortly(delta({ type: 'tool-input-start', callId: 'c1', tool: 'echo' }), ...pieces, answer([call('c1', { text: 'x' })])),
    ).toEqual(['TOOL_CALL_START echo', 'TOOL_CALL_ARGS {"text"', 'TOOL_CALL_ARGS :"x"}', 'TOOL_CALL_END']);
  });

  it('[trpc 107] whose arguments come before the name are shown whole with the message', () => {
    const early = delta({ type: 'tool-input-delta', callId: 'c1', text: '{"te' });
    expect(shortly(early, answer([call('c1', { text: 'x' })]))).toEqual([
      'TOOL_CALL_START echo',
      'TOOL_CALL_ARGS {"text":"x"}',
      'TOOL_CALL_END',
    ]);
  });

  it('[trpc 134] of a history stand in their message, and their results behind it', () => {
    const said: RunEvent = {
      ...of,
      type: 'message',
      turn: 1,
      id: 'u1',
      mode: 'after-turn',
      message: { id: 's', role: 'user', parts: [text('Hi.')] },
      offset: 0,
      time: 0,
    };
    const { messages } = historyOf([
      said,
      answer([call('c1', {}), call('c2', {})]),
      result('c1', '1'),
      result('c2', '2'),
      answer([text('Done.')], 'b'),
    ]);
    expect(messages.map(({ role, id }) => `${role} ${id}`)).toEqual(['user u1', 'assistant a', 'tool r-c1', 'tool r-c2', 'assistant b']);
    expect(messages[1]).toMatchObject({ toolCalls: [{ id: 'c1' }, { id: 'c2' }] });
  });
});

describe('requests', () => {
  it('[trpc 108] whose answer is an error end with it', async () => {
    const thread = await threadInMemory(scriptedModel([{ error: 'boom', retryable: false }]));
    expect(lines(await thread.say('Hi.')).at(-1)).toMatch(/^RUN_ERROR model-failed: .*boom/);
  });

  it('[trpc 119] without messages, or with a wrong last one, are refused', async () => {
    const model = hello();
    const thread = await threadInMemory(model);
    expect(await thread.post({ messages: [] })).toMatchObject({ status: 400, text: expect.stringContaining('no messages') });
    const system = [{ id: 's', role: 'system', content: 'Hi.' }];
    expect(await thread.post({ messages: system })).toMatchObject({ status: 400, text: expect.stringContaining('must be user or tool') });
    const tool = [{ id: 't', role: 'tool', content: 'x' }];
    expect(await thread.post({ messages: tool })).toMatchObject({ status: 400, text: expect.stringContaining('toolCallId') });
    expect(model.requests).toEqual([]);
  });

  it('[trpc 132] that are wrong get their status, and the others the headers of a stream', async () => {
    const { app, path, say } = await threadInMemory(hello());
    expect((await app.request(path, jsonOf('{'))).status).toBe(400);
    const wrong = await app.request(`${path}/cancel`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const { status, headers } = await say('Hi.');
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/event-stream',
      'no-cache, no-store, no-transform',
    ]);
  });

  it('[trpc 133] whose reader goes away block nobody', async () => {
    const door = gate();
    const model = scriptedModel([{ toolCalls: [echo('x')] }, async () => (await door.pass(), { text: 'Done.' })]);
    const { chat, thread } = await talk(model);
    const { app, path, body } = thread.saying('Hi.');
    const response = await app.request(path, jsonOf(body));
    const reader = response.body?.getReader();
    expect(eventsIn(new TextDecoder().decode((await reader?.read())?.value))[0]).toMatchObject({ type: 'RUN_STARTED' });
    await door.reached;
    await reader?.cancel();
    door.open();
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  });
});

const custom = (name: string): HookEvent => ({ type: 'CUSTOM', name, value: null });
const lastOnes = (shown: readonly string[]): readonly string[] => shown.filter((line) => /^RUN_(FINISHED|ERROR)/.test(line));

describe('run hooks', () => {
  it('[trpc 118] show events that no callback sees, and emit nothing inside of one', async () => {
    const seen: string[] = [];
    const refused: unknown[] = [];
    let emit: (event: HookEvent) => void = () => undefined;
    const thread = await threadInMemory(hello(), {
      hooks: [
        { name: 'first', beforeRun: (run) => ((emit = run.emit), run.emit(custom('begins'))) },
        { name: 'second', beforeRun: async (run) => run.emit(custom(run.threadId)), afterRun: (run) => run.emit(custom('ends')) },
      ],
      translate: {
        after: [
          (event) => {
            seen.push(event.type);
            if (event.type !== 'TEXT_MESSAGE_START') return;
            try {
              emit(custom('from a callback'));
            } catch (error) {
              refused.push(error);
            }
          },
        ],
      },
    });
    const { events } = await thread.say('Hi.');
    expect(events.map((event) => ('name' in event ? event.name : event.type))).toEqual([
      'RUN_STARTED',
      'begins',
      'test',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'ends',
      'RUN_FINISHED',
    ]);
    expect(seen).not.toContain('CUSTOM');
    expect(refused).toMatchObject([{ code: 'hook-failed', message: expect.stringContaining('a translate callback must not emit') }]);
    expect(() => emit(custom('late'))).toThrow('the run has ended');
  });

  it('[trpc 118] show what they emit at once, also while they wait', async () => {
    const door = gate();
    const thread = await threadInMemory(hello(), {
      hooks: [{ name: 'waits', beforeRun: async (run) => (run.emit(custom('waits')), door.pass()) }],
    });
    const events = await readAs(thread.saying('Hi.'), (read) => (read.includes('waits') ? door.open() : undefined));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  });

  it('[trpc 139] that fail end the run with their error, and nothing is said', async () => {
    const model = hello();
    const { chat, thread } = await talk(model, { hooks: [{ name: 'audit', beforeRun: boom }] });
    expect(lines(await thread.say('Hi.'))).toEqual(['RUN_STARTED', 'RUN_ERROR hook-failed: beforeRun of the run hook "audit": boom']);
    expect([model.requests, (await chat.view()).turn]).toEqual([[], 0]);
  });

  it('[trpc 139] emit no event of the framework', async () => {
    const wrong: readonly unknown[] = [
      { type: 'RUN_FINISHED', threadId: 'test', runId: 'r' },
      { type: 'RUN_ERROR', message: 'No.' },
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'CUSTOM', name: 'without a value' },
      { type: 'CUSTOM', name: 'odd', value: () => 1 },
      'CUSTOM',
    ];
    const refused: string[] = [];
    const beforeRun = (run: HookedRun): void => {
      for (const event of wrong) {
        try {
          run.emit(event as HookEvent);
        } catch (error) {
          refused.push(codeOf(error) ?? '');
        }
      }
    };
    const shown = lines(await (await threadInMemory(hello(), { hooks: [{ name: 'odd', beforeRun }] })).say('Hi.'));
    expect(refused).toEqual(wrong.map(() => 'hook-failed'));
    expect(lastOnes(shown)).toEqual(['RUN_FINISHED success']);
    expect(shown).not.toContain('CUSTOM');
  });
});

describe('tool messages of an input', () => {
  it('[trpc 121] are shown behind the start of the run, and the model gets all of them', async () => {
    const toolCalls = ['car', 'roof'].map((of) => ({ name: 'pickColor', input: { of } }));
    const model = scriptedModel([{ toolCalls: [echo('own'), ...toolCalls] }, { text: 'Done.' }]);
    const { thread } = await talk(model, {}, { tools: ['echo', 'pickColor'] });
    const own = (await thread.say('Pick.')).events.find((event) => event.type === 'TOOL_CALL_RESULT');
    const messages = [
      { id: own?.messageId ?? '', role: 'tool', toolCallId: 'call-1-1', content: 'own' },
      { id: 't2', role: 'tool', toolCallId: 'call-1-2', content: 'red' },
      { id: '', role: 'tool', toolCallId: 'call-1-3', content: 'blue' },
    ];
    const answer = await thread.post({ messages });
    expect(lines(answer)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT red',
      'TOOL_CALL_RESULT blue',
      'MESSAGES_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Done.',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED success',
    ]);
    expect(answer.events.slice(1, 3)).toMatchObject([{ messageId: 't2' }, { messageId: 'call-1-3' }]);
    const snapshot = answer.events.filter((event) => event.type === 'MESSAGES_SNAPSHOT').at(-1);
    expect(snapshot?.messages.slice(-3)).toMatchObject([{ content: 'own' }, { id: 't2', content: 'red' }, { content: 'blue' }]);
    expect(model.requests[1]?.messages.slice(-3).map(lineOf)).toEqual(['tool: own', 'tool: red', 'tool: blue']);
    expect(lines(await thread.post({ messages }))).toEqual(lines(answer));
    const other = messages.map((message) => ({ ...message, content: 'green' }));
    expect(lines(await thread.post({ messages: other }))[1]).toMatch(/^RUN_ERROR interrupt-answered: /);
  });
});

describe('a history', () => {
  it('[trpc 131] that breaks is shown as far as it goes, and then the error', async () => {
    const {
      chat: { run },
      thread,
    } = await talk(hello());
    await thread.say('Hi.');
    const events = run.events.bind(run);
    const unreadable = new HoldfastError('run-unreadable', 'An event cannot be read.');
    run.events = async function* (options) {
      for await (const event of events(options)) {
        if (event.type === 'model-end') throw unreadable;
        yield event;
      }
    };
    for (const view of [run.view.bind(run), () => Promise.reject(unreadable)]) {
      run.view = view;
      const answer = await thread.post({}, '/connect');
      expect(lines(answer)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_ERROR run-unreadable: An event cannot be read.']);
      const [, snapshot] = answer.events;
      expect(snapshot).toMatchObject({ messages: [{ role: 'user', content: 'Hi.' }] });
    }
  });

  it('[trpc 131] that grows is followed to its end, under the run id of the request', async () => {
    const door = gate();
    const { thread } = await talk(halfOf(door, text('Half.')), {}, { stream: true });
    const first = thread.say('Hi.');
    await door.reached;
    const body = JSON.stringify({ threadId: 'test', runId: 'another', messages: [] });
    const connecting = { app: thread.app, path: `${thread.path}/connect`, body };
    const events = await readAs(connecting, (read) => (read.includes('MESSAGES_SNAPSHOT') ? door.open() : undefined));
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', runId: 'another', outcome: { type: 'success' } });
    await first;
  });
});

/** A run whose model has said the first half of an answer. */
async function halfSaid(engine: Engine, agui: AguiOptions = {}, first = text('Half.')) {
  const door = gate();
  const { conversation, agui: threadWith } = await engine.converse(agents.plain, halfOf(door, first), { stream: true });
  const thread = threadWith(agui);
  const run = thread.say('One?');
  await door.reached;
  return { door, conversation, thread, run };
}

onEngines('[trpc 129] there is exactly one last event, and it is the failure of tidying up', async (engine) => {
  const boomAt =
    (type: AguiEvent['type']) =>
    (event: AguiEvent): void =>
      event.type === type ? boom() : undefined;
  const replaced = ({ type }: AguiEvent): AguiEvent | undefined =>
    type === 'TEXT_MESSAGE_END' ? { type: 'RUN_ERROR', message: 'replaced' } : undefined;
  const cases: readonly (readonly [AguiOptions, string])[] = [
    [{ hooks: [{ name: 'tidies', afterRun: boom }] }, 'RUN_ERROR hook-failed: afterRun of the run hook "tidies": boom'],
    [{ translate: { after: [boomAt('RUN_FINISHED')] } }, 'RUN_ERROR callback-failed: after translate callback: boom'],
    [{ translate: { after: [replaced] }, hooks: [{ name: 'tidies', afterRun: boom }] }, 'RUN_ERROR : replaced'],
  ];
  for (const [options, last] of cases) {
    const { agui } = await engine.converse(agents.plain, hello());
    const shown = lines(await agui(options).say('Hi.'));
    expect(lastOnes(shown)).toEqual([last]);
    expect(shown.at(-1)).toBe(last);
    if (options.hooks !== undefined && options.translate === undefined) expect(shown.at(-2)).toBe('TEXT_MESSAGE_END');
  }
});

onEngines('[trpc 138] a cancel ends plainly, also when a hook or the model fails of it', async (engine) => {
  const ends: string[] = [];
  const { thread, run } = await halfSaid(engine, {
    hooks: [{ name: 'stops', afterRun: (run, last) => (ends.push(last.type), run.signal.throwIfAborted()) }],
  });
  await thread.post({}, '/cancel');
  const shown = lines(await run);
  expect(lastOnes(shown)).toEqual(['RUN_FINISHED cancelled']);
  expect(shown.at(-1)).toBe('RUN_FINISHED cancelled');
  expect(ends).toEqual(['RUN_FINISHED']);
});

onEngines('[trpc 122] a second run of a conversation is refused while the first one goes on', async (engine) => {
  const { door, conversation, thread, run } = await halfSaid(engine);
  expect(await thread.say('Two?')).toMatchObject({ status: 409, text: expect.stringContaining('conversation-busy') });
  door.open();
  expect(lines(await run).at(-1)).toBe('RUN_FINISHED success');
  expect(await conversation.turn(1)).toMatchObject({ status: 'completed' });
});

onEngines('[trpc 127] a cancel ends the run once, whatever run id it names', async (engine) => {
  const { thread, run } = await halfSaid(engine);
  expect(await thread.post({ runId: 'another' }, '/cancel')).toMatchObject({ status: 200 });
  expect(lines(await run).at(-1)).toBe('RUN_FINISHED cancelled');
  expect(await thread.post({}, '/cancel')).toMatchObject({ status: 404, text: expect.stringContaining('turn-unknown') });
});

onEngines('[trpc 128] a cancel closes reasoning that is open', async (engine) => {
  const { thread, run } = await halfSaid(engine, {}, { type: 'reasoning', text: 'Hm.' });
  await thread.post({}, '/cancel');
  expect(lines(await run)).toEqual([
    'RUN_STARTED',
    'REASONING_START',
    'REASONING_MESSAGE_START',
    'REASONING_MESSAGE_CONTENT Hm.',
    'REASONING_MESSAGE_END',
    'REASONING_END',
    'RUN_FINISHED cancelled',
  ]);
});

onEngines('[trpc 123] a reader that goes away stops the turn only where that is switched on', async (engine) => {
  for (const stopWhenGone of [false, true]) {
    const door = gate();
    const { conversation, agui } = await engine.converse(agents.plain, halfOf(door, text('Half.')), { stream: true });
    const { app, path, body } = agui({ stopWhenGone }).saying('Hi.');
    const response = await app.request(path, jsonOf(body));
    const reader = response.body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await door.reached;
    await reader?.cancel();
    await next;
    if (!stopWhenGone) door.open();
    expect(await conversation.turn(1)).toMatchObject({ status: stopWhenGone ? 'stopped' : 'completed' });
  }
});

onEngines('[trpc 126] results of parallel calls are shown as they end', async (engine) => {
  const slow = gate();
  holder.hold('slow', slow);
  const model = scriptedModel([{ toolCalls: [echo('slow'), echo('fast')] }, { text: 'Done.' }]);
  const { agui } = await engine.converse(agents.plain, model);
  const events = await readAs(agui().saying('Hi.'), (read) => (read.includes('TOOL_CALL_RESULT') ? slow.open() : undefined));
  expect(events.map(shortOf).filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual(
    ['fast', 'slow'].map((it) => `TOOL_CALL_RESULT ${it}`),
  );
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
});
