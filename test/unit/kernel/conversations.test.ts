import type { LanguageModel } from 'holdfast/worker';
import type { TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { sequential } from 'holdfast/workflow';
import { promptOf } from '../../../activities/models/providers/ai-sdk/prompt';
import type { Ports } from '../../../kernel/run/ports';
import { MessageInbox, freshConversation } from '../../../kernel/run/message-inbox';
import { messageOfSent } from '../../../contract/conversations';
import { isDelta } from '../../../contract/deltas';
import type { RunEvent } from '../../../contract/events';
import { textOf } from '../../../contract/messages/messages';
import { errorSaying } from '../../support/failures';
import { agentWith, echo, gate, heldTool, lineOf, startRun, toolOf, tools } from '../../support/memory-bed';

const texts = (...given: readonly string[]) => scriptedModel(given.map((text) => ({ text })));

async function saidIn(conversation: TestConversation): Promise<readonly string[]> {
  const { messages } = await conversation.transcript({ limit: 500 });
  return messages.map(({ turn, message }) => `${turn} ${message.role}: ${textOf(message)}`);
}

function doorModel(): { model: LanguageModel; doors: ReturnType<typeof gate>[]; asked: string[][] } {
  const doors: ReturnType<typeof gate>[] = [];
  const asked: string[][] = [];
  const model: LanguageModel = {
    generate: () => Promise.reject(new Error('It streams.')),
    async *stream({ messages, signal }) {
      const door = gate();
      doors.push(door);
      asked.push(messages.map((message) => textOf(message)));
      yield { type: 'text', text: 'So ' };
      await Promise.race([door.opened, new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))]);
      yield { type: 'text', text: 'far.' };
      yield { type: 'finish' };
    },
  };
  return { model, doors, asked };
}

const ticks = async (): Promise<void> => {
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
};

async function atDoor(said = 'go') {
  const { model, ...seen } = doorModel();
  const chat = await testConversation(agentWith(), { model, tools });
  await chat.send(said);
  await ticks();
  return { chat, ...seen };
}

describe('a conversation', () => {
  it('answers each message in a turn of its own, which begins with what was said before and says what it used', async () => {
    const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 1 });
    const model = scriptedModel([
      { text: 'Hello Ann.', usage: usage(10) },
      { text: 'It is 4.', usage: usage(20) },
    ]);
    const chat = await testConversation(agentWith(), { model, tools });
    expect(await chat.send('I am Ann.')).toMatchObject({ turn: 1 });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed', usage: usage(10) });
    expect(await chat.send('What is 2 + 2?', { by: 'Ann' })).toMatchObject({ turn: 2 });
    expect(await chat.run.outcome()).toEqual({ status: 'idle' });
    expect(await chat.turn(2)).toMatchObject({ usage: usage(20) });
    expect(await chat.run.usage()).toEqual({ inputTokens: 30, outputTokens: 2 });
    expect(await saidIn(chat)).toEqual(['1 user: I am Ann.', '1 assistant: Hello Ann.', '2 user: What is 2 + 2?', '2 assistant: It is 4.']);
    expect(model.requests[1]?.messages.map(textOf)).toEqual(['I am Ann.', 'Hello Ann.', 'What is 2 + 2?']);
    expect(await chat.view()).toMatchObject({ turn: 2, status: 'idle', paused: false, title: 'I am Ann.', queue: [] });
  });

  it('tells the model who said what', () => {
    const messages = [messageOfSent({ id: 'a', content: 'Hi.', by: 'Ann' }), messageOfSent({ id: 'b', content: 'Ho.' })];
    const prompt = promptOf({ instructions: '', messages }, 'v3');
    expect(prompt.map(({ content }) => content)).toEqual([[{ type: 'text', text: 'Ann: Hi.' }], [{ type: 'text', text: 'Ho.' }]]);
  });

  it('takes all that waits into the next turn, in the order in which it was sent', async () => {
    const { chat, doors, asked } = await atDoor('first');
    const receipts = await Promise.all([chat.send('second', { by: 'Ann' }), chat.send('third', { by: 'Ben' })]);
    expect(receipts.map(({ turn }) => turn)).toEqual([2, 2]);
    await ticks();
    expect((await chat.run.view()).conversation?.queue.map(({ message, by }) => `${by}: ${textOf(message)}`)).toEqual([
      'Ann: second',
      'Ben: third',
    ]);
    doors[0]?.open();
    await ticks();
    doors[1]?.open();
    await chat.turn(2);
    expect(asked[1]).toEqual(['first', 'So far.', 'second', 'third']);
    expect(await chat.queue()).toEqual([]);
  });

  it('counts a message once that comes twice under one id', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.', 'Two.'), tools });
    expect(await chat.send('Hi', { id: 'a' })).toEqual({ id: 'a', turn: 1 });
    await chat.run.outcome();
    await chat.run.goOnAsNew();
    expect(await chat.send('Hi', { id: 'a' })).toEqual({ id: 'a', turn: 1 });
    expect(await chat.send('Ho', { id: 'b' })).toEqual({ id: 'b', turn: 2 });
    expect(await saidIn(chat)).toEqual(['1 user: Hi', '1 assistant: One.', '2 user: Ho', '2 assistant: Two.']);
  });

  it('logs a change once that is asked for twice', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.'), tools });
    const twice = async (act: () => Promise<void>): Promise<void> => {
      await act();
      await act();
    };
    await twice(() => chat.pause({ by: 'Ann' }));
    await chat.send('a', { id: 'a' });
    await twice(() => chat.change('a', 'A'));
    await twice(() => chat.rename('Letters', { by: 'Ann' }));
    await twice(() => chat.unpause());
    await chat.turn(1);
    await twice(() => chat.end());
    const log: RunEvent[] = [];
    for await (const event of chat.run.events()) if (!isDelta(event)) log.push(event);
    const types = log.flatMap((event) =>
      event.type === 'conversation-change' ? [event.change] : event.type === 'message-changed' ? [event.id] : [],
    );
    expect(types).toEqual(['paused', 'a', 'titled', 'unpaused', 'ended']);
  });

  it('changes and withdraws what waits, and nothing else', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.'), tools });
    await chat.pause({ by: 'Ann' });
    await chat.send('a', { id: 'a' });
    await chat.send('b', { id: 'b' });
    await chat.change('a', 'A', { by: 'Ann' });
    await chat.withdraw('b');
    await expect(chat.withdraw('b')).rejects.toMatchObject({ code: 'message-unknown' });
    expect((await chat.view()).paused).toBe(true);
    expect((await chat.queue()).map(({ message }) => textOf(message))).toEqual(['A']);
    await chat.unpause();
    expect(await saidIn(chat)).toEqual(['1 user: A', '1 assistant: One.']);
    await expect(chat.change('a', 'again')).rejects.toMatchObject(errorSaying('message-unknown', 'turn 1 has taken it'));
  });

  it('ends behind the turn at work, and leaves what waits', async () => {
    const { chat, doors } = await atDoor('first');
    await chat.send('second', { id: 'late' });
    await chat.end({ by: 'Ann' });
    await expect(chat.send('third')).rejects.toMatchObject({ code: 'conversation-ended' });
    doors[0]?.open();
    expect(await chat.run.outcome()).toMatchObject({ status: 'completed', output: { turns: 1, reason: 'asked' } });
    expect(await chat.view()).toMatchObject({ status: 'ended', ended: { reason: 'asked', by: 'Ann' }, queue: [{ id: 'late' }] });
    await expect(chat.send('fourth')).rejects.toMatchObject({ code: 'conversation-ended' });
    expect(await saidIn(chat)).toEqual(['1 user: first', '1 assistant: So far.']);
  });

  it('ends when it was idle for so long, over a continue-as-new', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.', 'Two.'), tools, idle: '30d' });
    await chat.send('a');
    await chat.run.outcome();
    await chat.run.advance('29d');
    await chat.send('b');
    await chat.run.outcome();
    await chat.run.advance('20d');
    await chat.run.goOnAsNew();
    await chat.run.advance('9d');
    expect(await chat.run.outcome()).toEqual({ status: 'idle' });
    await chat.run.advance('1d');
    expect(await chat.run.outcome()).toMatchObject({ status: 'completed', output: { turns: 2, reason: 'idle' } });
    expect((await chat.view()).ended).toEqual({ reason: 'idle' });
  });

  it('does not end for being idle while it is paused', async () => {
    const chat = await testConversation(agentWith(), { model: texts(), tools, idle: '1h' });
    await chat.pause();
    await chat.run.advance('2h');
    expect(await chat.run.outcome()).toEqual({ status: 'idle' });
    await chat.unpause();
    await chat.run.advance('1h');
    expect(await chat.run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('runs the setup of its agent in each turn, and calls tools under another key each time', async () => {
    const keys: string[] = [];
    const pay = toolOf((_, { idempotencyKey }) => (keys.push(idempotencyKey), 'paid'), { effect: 'once' });
    let setups = 0;
    const counting: AgentMiddleware = { name: 'counting', beforeAgent: async (_, ctx) => void (setups++, await ctx.call('pay', {})) };
    const call = { toolCalls: [{ name: 'pay', input: {} }] };
    const chat = await testConversation(agentWith({ tools: ['pay'], middleware: [counting] }), {
      model: scriptedModel([call, { text: 'a' }, call, { text: 'b' }, call, { text: 'c' }]),
      tools: { pay },
    });
    for (const text of ['a', 'b', 'c']) {
      await chat.send(text);
      await chat.run.outcome();
      await chat.run.goOnAsNew();
    }
    expect(setups).toBe(3);
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(6);
  });

  it('hands a turn to agents that are made of others', async () => {
    const one = agentWith({ tools: [] });
    const chat = await testConversation(sequential({ name: 'both', description: 'Both.', agents: [one] }), {
      model: texts('One.', 'Two.'),
      tools,
    });
    await chat.send('a');
    await chat.run.outcome();
    await chat.run.goOnAsNew();
    await chat.send('b');
    await chat.run.outcome();
    expect(await saidIn(chat)).toEqual(['1 user: a', '1 assistant: One.', '2 user: b', '2 assistant: Two.']);
    expect((await chat.run.transcript()).map(textOf)).toEqual(['a', 'One.', 'b', 'Two.']);
  });

  it('begins a turn with no more than its window, from a message of a person on, and is read by page, the last page first', async () => {
    const model = scriptedModel(Array.from({ length: 5 }, (_, turn) => ({ text: `a${turn}` })));
    const chat = await testConversation(agentWith(), { model, tools, window: 3 });
    for (let turn = 0; turn < 5; turn++) {
      await chat.send(`q${turn}`);
      await chat.run.outcome();
    }
    expect(model.requests[4]?.messages.map(textOf)).toEqual(['q3', 'a3', 'q4']);
    const pages: string[][] = [];
    let before: number | undefined;
    do {
      const page = await chat.transcript({ limit: 4, ...(before === undefined ? {} : { before }) });
      pages.push(page.messages.map(({ message }) => textOf(message)));
      ({ before } = page);
    } while (before !== undefined);
    expect(pages).toEqual([
      ['q3', 'a3', 'q4', 'a4'],
      ['q1', 'a1', 'q2', 'a2'],
      ['q0', 'a0'],
    ]);
  });

  it('begins a turn with the end of the one before, and what began that, where this is larger than its window', async () => {
    const model = scriptedModel([
      { toolCalls: [echo('a')] },
      { toolCalls: [echo('b'), echo('c')] },
      { text: 'Said.' },
      { text: 'Yes.' },
      { text: 'Bye.' },
    ]);
    const chat = await testConversation(agentWith(), { model, tools, window: 5 });
    for (const content of ['Say it.', 'All of it?', 'Bye.']) {
      await chat.send(content);
      await chat.run.outcome();
    }
    const beginnings = [3, 4].map((at) => model.requests[at]?.messages.map(lineOf));
    const last = ['assistant: echo({"text":"b"}) echo({"text":"c"})', 'tool: b', 'tool: c', 'assistant: Said.'];
    expect(beginnings[0]).toEqual(['user: Say it.', ...last, 'user: All of it?']);
    expect(beginnings[1]).toEqual(['user: All of it?', 'assistant: Yes.', 'user: Bye.']);
    const small = await testConversation(agentWith(), {
      model: scriptedModel([{ toolCalls: [echo('a')] }, { text: 'Said.' }, { text: 'Yes.' }]),
      tools,
      window: 1,
    });
    await small.send('Say it.');
    await small.run.outcome();
    await small.send('All of it?');
    expect((await small.run.transcript()).map(textOf)).toContain('Yes.');
  });

  it('is the same in each of its views over a continue-as-new', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.', 'Two.'), tools, title: 'Numbers' });
    await chat.send('a');
    await chat.pause();
    await chat.send('b', { by: 'Ben' });
    await chat.view();
    const before = await chat.run.view();
    await chat.run.goOnAsNew();
    const after = await chat.run.view();
    expect(after).toEqual(before);
    await chat.rename('Letters');
    await chat.unpause();
    expect((await chat.view()).title).toBe('Letters');
  });
});

describe('a message for the next step', () => {
  it('joins the turn at work before its next call of the model', async () => {
    const { held: slow, door, begun } = heldTool();
    const model = scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }] }, { text: 'In French, then.' }]);
    const chat = await testConversation(agentWith({ tools: ['slow'] }), { model, tools: { slow } });
    await chat.send('go');
    await begun.opened;
    const receipt = chat.send('In French, please.', { mode: 'next-step' });
    await ticks();
    door.open();
    expect(await receipt).toMatchObject({ turn: 1 });
    await chat.run.outcome();
    expect(await saidIn(chat)).toEqual([
      '1 user: go',
      '1 assistant: ',
      '1 tool: ',
      '1 user: In French, please.',
      '1 assistant: In French, then.',
    ]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('goes into the next turn when the turn at work has no step left', async () => {
    const { chat, doors } = await atDoor();
    const receipt = chat.send('more', { mode: 'next-step' });
    await ticks();
    doors[0]?.open();
    expect(await receipt).toMatchObject({ turn: 2 });
    await ticks();
    doors[1]?.open();
    await chat.turn(2);
  });

  it('has a receipt without a turn where nobody waits for the turn', async () => {
    const { chat, doors } = await atDoor();
    expect(await chat.send('more', { mode: 'next-step', id: 'more', wait: '1ms' })).toEqual({ id: 'more' });
    doors[0]?.open();
    await ticks();
    expect(await chat.send('more', { mode: 'next-step', id: 'more' })).toEqual({ id: 'more', turn: 2 });
  });

  it('rejects when it was taken back before a turn took it', async () => {
    const { chat, doors } = await atDoor();
    const receipt = chat.send('more', { mode: 'next-step', id: 'more' });
    receipt.catch(() => undefined);
    await ticks();
    await chat.withdraw('more');
    doors[0]?.open();
    await expect(receipt).rejects.toMatchObject({ code: 'message-withdrawn' });
  });
});

it('a message that is for now waits for tools under way, and ends the turn behind them', async () => {
  const { held: slow, door, begun } = heldTool();
  const model = scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }] }, { text: 'Stopped.' }]);
  const chat = await testConversation(agentWith({ tools: ['slow'] }), { model, tools: { slow } });
  await chat.send('go');
  await begun.opened;
  await chat.send('Stop!', { mode: 'now' });
  await ticks();
  door.open();
  expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
  await chat.turn(2);
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
});

describe('a conversation that is cancelled', () => {
  it('takes no message, and goes on where it was idle when somebody resumes it', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.', 'Two.'), tools });
    await chat.send('a', { id: 'a' });
    await chat.turn(1);
    await chat.run.cancel();
    expect(await chat.run.outcome()).toEqual({ status: 'cancelled' });
    await expect(chat.send('b')).rejects.toMatchObject({ code: 'conversation-ended' });
    await chat.run.resume();
    expect(await chat.run.outcome()).toEqual({ status: 'idle' });
    expect(await chat.send('a', { id: 'a' })).toEqual({ id: 'a', turn: 1 });
    expect(await chat.send('b', { id: 'b' })).toEqual({ id: 'b', turn: 2 });
    expect(await saidIn(chat)).toEqual(['1 user: a', '1 assistant: One.', '2 user: b', '2 assistant: Two.']);
  });

  it('keeps what the model had said and what waited, and asks the model again when it is resumed', async () => {
    const { chat, doors, asked } = await atDoor();
    await chat.send('later', { id: 'later' });
    await chat.run.cancel();
    expect(await chat.run.outcome()).toEqual({ status: 'cancelled' });
    expect(await chat.view()).toMatchObject({ status: 'ended', turn: 1, queue: [{ id: 'later' }] });
    const resumed = chat.run.resume();
    await ticks();
    doors[1]?.open();
    await ticks();
    doors[2]?.open();
    await resumed;
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(asked.slice(1).map((texts) => texts.at(-1))).toEqual(['go', 'later']);
    const said = (await chat.transcript()).messages.map(({ message, partial = false }) => [textOf(message), partial]);
    expect(said).toEqual([
      ['go', false],
      ['So ', true],
      ['So far.', false],
      ['later', false],
      ['So far.', false],
    ]);
  });

  it('stops between two turns when its safe point did not come in the first one', async () => {
    const { chat, doors } = await atDoor();
    await chat.send('later');
    await chat.run.cancel({ mode: 'after-tools', by: 'ann' });
    doors[0]?.open();
    expect(await chat.run.outcome()).toEqual({ status: 'cancelled' });
    expect(await chat.view()).toMatchObject({ turn: 1, queue: [{}] });
    const resumed = chat.run.resume();
    await ticks();
    doors[1]?.open();
    await resumed;
    await chat.turn(2);
    expect(await saidIn(chat)).toEqual(['1 user: go', '1 assistant: So far.', '2 user: later', '2 assistant: So far.']);
  });
});

describe('what a conversation refuses', () => {
  it('is every message, if there is nobody to answer it', () => {
    const unfit = { code: 'agent-unknown', message: 'There is no agent "nobody".' };
    const inbox = new MessageInbox(freshConversation({ window: 200 }), {} as never, () => unfit);
    const command = { type: 'send', messages: [{ id: 'a', content: 'Hi', mode: 'after-turn' }] } as const;
    expect(inbox.command(command)).toEqual({ sent: [{ id: 'a', refused: unfit }] });
  });

  it('is a message that is none, or too large, and a name that is of nobody, or too long', async () => {
    const chat = await testConversation(agentWith(), { model: texts(), tools });
    await expect(chat.send('')).rejects.toMatchObject({ code: 'input-invalid' });
    await expect(chat.send('x'.repeat(5 * 1024 * 1024))).rejects.toMatchObject({ code: 'input-too-large' });
    await expect(chat.send('x', { mode: 'soon' as 'now' })).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(chat.send('x', { id: 'no id' })).rejects.toMatchObject({ code: 'request-invalid' });
    for (const by of ['', 'x'.repeat(201)]) await expect(chat.pause({ by })).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('is more than 1,000 messages that wait', async () => {
    const chat = await testConversation(agentWith(), { model: texts(), tools });
    await chat.pause();
    const sent = await Promise.allSettled(Array.from({ length: 10_000 }, (_, n) => chat.send(`message ${n}`)));
    const refused = sent.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
    expect(refused).toHaveLength(9000);
    expect(new Set(refused)).toEqual(new Set(['conversation-full']));
    expect((await chat.queue()).map(({ message }) => textOf(message))).toEqual(Array.from({ length: 1000 }, (_, n) => `message ${n}`));
    await expect(chat.send('one more')).rejects.toMatchObject(errorSaying('conversation-full', 'wait for a turn'));
    await chat.withdraw((await chat.queue())[0]?.id ?? '');
    expect(await chat.send('one more')).toMatchObject({ turn: 1 });
  });

  it('is a change that makes what waits too large', async () => {
    const chat = await testConversation(agentWith(), { model: texts(), tools });
    await chat.pause();
    const large = 'x'.repeat(200 * 1024);
    for (const id of ['a', 'b', 'c']) await chat.send(id === 'c' ? 'short' : large, { id });
    await expect(chat.change('c', large)).rejects.toMatchObject({ code: 'conversation-full' });
    await chat.change('a', 'short');
    await chat.change('c', large);
    expect((await chat.queue()).map(({ message }) => textOf(message).length)).toEqual([5, large.length, large.length]);
  });

  it('is a message of 300 KB, also from a client that does not look at it', () => {
    const content = 'x'.repeat(300 * 1024);
    const inbox = new MessageInbox(freshConversation({ window: 5 }), {} as Ports);
    expect(inbox.command({ type: 'send', messages: [{ id: 'a', content, mode: 'now' }] })).toMatchObject({
      sent: [{ id: 'a', refused: { code: 'input-too-large' } }],
    });
  });

  it('is a message under the id of one that was taken back', async () => {
    const chat = await testConversation(agentWith(), { model: texts('One.'), tools });
    await chat.pause();
    await chat.send('a', { id: 'a' });
    await chat.withdraw('a');
    await chat.run.goOnAsNew();
    await expect(chat.send('a', { id: 'a' })).rejects.toMatchObject({ code: 'message-withdrawn' });
    await expect(chat.withdraw('a')).rejects.toMatchObject(errorSaying('message-unknown', 'took it back'));
    await chat.unpause();
    expect(await saidIn(chat)).toEqual([]);
  });

  it('is everything, where the run is no conversation', async () => {
    const run = await startRun(agentWith(), texts('Hi.'));
    expect((await run.view()).conversation).toBeUndefined();
  });
});

describe('stopping a turn', () => {
  it('of a conversation that has ended says so, as on a server', async () => {
    const ended = await testConversation(agentWith(), { model: texts('Hi.'), tools });
    await ended.end();
    await expect(ended.stop()).rejects.toMatchObject({ code: 'conversation-ended' });
    const cancelled = await testConversation(agentWith(), { model: texts('Hi.'), tools });
    await (await cancelled.run.cancel()).settled();
    await expect(cancelled.stop()).rejects.toMatchObject({ code: 'conversation-ended' });
  });

  it('ends it at its next safe place, and the next message begins another one', async () => {
    const { model, doors } = doorModel();
    const chat = await testConversation(agentWith(), { model, tools, stream: true });
    await expect(chat.stop()).rejects.toMatchObject({ code: 'turn-unknown' });
    await chat.send('Hi.');
    await ticks();
    await chat.stop({ by: 'Ann' });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await chat.view()).toMatchObject({ status: 'idle', paused: false });
    await chat.send('And now?');
    await ticks();
    doors.at(-1)?.open();
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    const changes: unknown[] = [];
    for await (const event of chat.run.events({ until: 'waiting' })) if (event.type === 'conversation-change') changes.push(event);
    expect(changes).toMatchObject([{ change: 'stopping', by: 'Ann' }]);
  });
});
