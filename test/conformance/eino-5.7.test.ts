import type { ModelChunk, LanguageModel } from '../../activities/models/language-model';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { gate } from '../support/gate';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';

/* Eino, the turn loop (5.7). A push is a message, a preempt a message for `now`, a stop the conversation's end, the checkpoint the run. */

afterAll(closeEngines);

type Asked = { readonly messages: readonly Message[]; readonly signal: AbortSignal };
type Step = (asked: Asked) => AsyncIterable<ModelChunk>;

function streaming(...steps: readonly Step[]): LanguageModel & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    generate: () => Promise.reject(new Error('The model was asked for a whole answer.')),
    async *stream({ messages, signal }) {
      const step = steps[asked.length];
      asked.push(messages.map(textOf));
      if (step === undefined) throw new Error('The model was asked once too often.');
      yield* step({ messages, signal });
    },
  };
}

const says = (text: string): Step =>
  async function* () {
    yield { type: 'text', text };
    yield { type: 'finish' };
  };

const calls = (name: string, text: string): Step =>
  async function* () {
    yield { type: 'part', part: { type: 'tool-call', id: `call-${text}`, name, input: { text } } };
    yield { type: 'finish' };
  };

/** Says half of the text, then waits until the door opens or the call is stopped. */
const half = (door: ReturnType<typeof gate>, text: string): Step =>
  async function* ({ signal }) {
    yield { type: 'text', text };
    const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('Stopped.'))));
    await Promise.race([door.pass(), stopped]);
    yield { type: 'text', text: ' And all.' };
    yield { type: 'finish' };
  };

onEngines('[eino 158] an urgent message ends the turn, and the next turn takes it alone', async (engine) => {
  const door = gate();
  const model = streaming(half(door, 'Half.'), says('At once.'));
  const { conversation, run } = await engine.converse(agents.plain, model);
  await conversation.send('Slowly, please.', { id: 'slow' });
  await door.reached;
  expect(await conversation.send('Now!', { id: 'urgent', mode: 'now' })).toEqual({ id: 'urgent', turn: 2 });
  expect(await conversation.turn(1)).toMatchObject({ status: 'stopped' });
  expect(await conversation.turn(2)).toMatchObject({ status: 'completed' });
  const taken = (await run.log()).flatMap((event) => (event.type === 'message' ? [[event.turn, event.id]] : []));
  expect(taken).toEqual([
    [1, 'slow'],
    [2, 'urgent'],
  ]);
  expect(model.asked[1]).toEqual(['Slowly, please.', 'Half.', 'Now!']);
});

onEngines('[eino 159] an urgent message that comes late, or has to wait, ends no later turn', async (engine) => {
  const door = gate();
  const model = streaming(half(door, 'Half.'), says('Two.'), says('Three.'));
  const { conversation } = await engine.converse(agents.plain, model);
  await conversation.send('One?');
  await door.reached;
  await conversation.pause();
  expect(await conversation.send('Two?', { mode: 'now' })).toMatchObject({ turn: 2 });
  door.open();
  expect(await conversation.turn(1)).toMatchObject({ status: 'completed' });
  await conversation.unpause();
  expect(await conversation.turn(2)).toMatchObject({ status: 'completed' });
  expect(await conversation.send('Three?', { mode: 'now' })).toMatchObject({ turn: 3 });
  expect(await conversation.turn(3)).toMatchObject({ status: 'completed' });
});

onEngines('[eino 161] a plain end lets the turn end and leaves the rest in the queue', async (engine) => {
  const door = gate();
  const { conversation, run } = await engine.converse(agents.plain, streaming(half(door, 'Half.')));
  await conversation.send('One?');
  await door.reached;
  await conversation.send('Two?', { id: 'two' });
  await conversation.end();
  door.open();
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: { turns: 1, reason: 'asked' } });
  expect(await conversation.turn(1)).toMatchObject({ status: 'completed' });
  expect(await conversation.view()).toMatchObject({ status: 'ended', queue: [{ id: 'two' }] });
});

onEngines('[eino 162] an end at once keeps what the turn was about, and another conversation goes on with it', async (engine) => {
  const door = gate();
  const first = await engine.converse(agents.plain, streaming(half(door, 'Half.')));
  await first.conversation.send('One?');
  await door.reached;
  await first.conversation.end({ mode: 'now' });
  expect(await first.run.outcome()).toMatchObject({ status: 'completed' });
  const { messages } = await first.conversation.transcript();
  expect(messages.map(({ message, partial = false }) => [textOf(message), partial])).toEqual([
    ['One?', false],
    ['Half.', true],
  ]);
  const model = streaming(says('Whole.'));
  const second = await engine.converse(agents.plain, model, {
    messages: messages.map(({ message: { role, parts } }) => ({ role, parts })),
  });
  await second.conversation.send('Go on.');
  await second.conversation.turn(1);
  expect(model.asked).toEqual([['One?', 'Half.', 'Go on.']]);
});

onEngines('[eino 163] an interrupt of the program is kept and resumed over a continue-as-new', async (engine) => {
  const { conversation, run } = await engine.converse(agents.plain, streaming(calls('asks', 'Sure?'), says('Done.')));
  await conversation.send('Go.');
  const [interrupt] = await run.waiting(1);
  await run.goOnAsNew();
  await run.resume(interrupt?.id ?? '', 'yes');
  expect(await conversation.turn(1)).toMatchObject({ status: 'completed' });
  expect((await conversation.transcript()).messages.map(({ message: { role } }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
});

onEngines('[eino 164] an error of a hook is what the turn ends with, and messages and state are kept', async (engine) => {
  const model = streaming(says('Fine.'));
  const { conversation } = await engine.converse(agents.refusesFirst, model);
  await conversation.send('refuse');
  expect(await conversation.turn(1)).toMatchObject({ status: 'failed', error: { code: 'hook-failed' } });
  await conversation.send('Go on.');
  expect(await conversation.turn(2)).toMatchObject({ status: 'completed' });
  expect(model.asked).toEqual([['refuse', 'Go on.']]);
});

onEngines('[eino 166] messages of before that cannot be read are an error, and none are a fresh start', async (engine) => {
  const broken = [{ role: 'user', parts: 'Hi' }] as unknown as readonly Message[];
  const begin = async (): Promise<unknown> => {
    const { conversation } = await engine.converse(agents.plain, streaming(), { messages: broken });
    return conversation.send('Hi');
  };
  await expect(begin()).rejects.toMatchObject({ code: 'input-invalid' });
  const model = streaming(says('Hi.'));
  const { conversation } = await engine.converse(agents.plain, model, { messages: [] });
  await conversation.send('Hi');
  await conversation.turn(1);
  expect(model.asked).toEqual([['Hi']]);
});

onEngines('[eino 168] after an error in preparing a turn its messages stand in their order before the next one', async (engine) => {
  const model = streaming(says('Fine.'));
  const { conversation } = await engine.converse(agents.refusesFirst, model);
  await conversation.pause();
  await Promise.all([conversation.send('one'), conversation.send('two'), conversation.send('refuse')]);
  await conversation.unpause();
  expect(await conversation.turn(1)).toMatchObject({ status: 'failed' });
  await conversation.send('four');
  await conversation.turn(2);
  expect(model.asked).toEqual([['one', 'two', 'refuse', 'four']]);
});

onEngines('[eino 169] what waits at the end can be read again and again, and sending after that fails', async (engine) => {
  const { conversation, run } = await engine.converse(agents.plain, streaming());
  await conversation.pause();
  for (const id of ['late1', 'late2', 'late3']) await conversation.send(id, { id });
  await conversation.end();
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  for (let times = 0; times < 2; times++) expect((await conversation.queue()).map(({ id }) => id)).toEqual(['late1', 'late2', 'late3']);
  await expect(conversation.send('late4')).rejects.toMatchObject({ code: 'conversation-ended' });
});

onEngines('[eino 171] a turn streams on over repeated interrupts', async (engine) => {
  const model = streaming(calls('asks', 'Sure?'), calls('asks', 'Really?'), says('Done.'));
  const { conversation, run } = await engine.converse(agents.plain, model);
  await conversation.send('Go.');
  for (let times = 0; times < 2; times++) {
    const [interrupt] = await run.waiting(1);
    await run.resume(interrupt?.id ?? '', 'yes');
    await run.reached('interrupt-end');
  }
  expect(await conversation.turn(1)).toMatchObject({ status: 'completed' });
  expect(model.asked).toHaveLength(3);
});
