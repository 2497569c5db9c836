import { chat, end, pause, queue, rename, send, unpause, withdraw } from '../../../cli/commands/conversation-commands';
import { approve, reject } from '../../../cli/commands/answer-commands';
import { FoundService } from '../../../cli/found-service';
import { approval } from 'holdfast/middleware';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import { errorSaying } from '../../support/failures';
import { agentUnder, echo } from '../../support/memory-bed';
import { recordedTerminal } from '../../support/recorded-terminal';
import { servedConversation as serve } from '../../support/served-conversation';

const url = 'http://service';
afterEach(() => jest.restoreAllMocks());

async function at(served: Awaited<ReturnType<typeof serve>>, ...typed: readonly string[]) {
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (asked, init) => served.app.request(String(asked), init));
  const lines = [...typed];
  const terminal = {
    ...recordedTerminal({ live: true }),
    interactive: true,
    ask: (question: string): Promise<string | undefined> => {
      terminal.write(`${question}${lines[0] ?? '^C'}`);
      return Promise.resolve(lines.shift());
    },
  };
  return { terminal, service: new FoundService(url), shown: () => terminal.written().trimEnd().split('\n') };
}

describe('chat', () => {
  it('shows the answer to each message, until somebody leaves', async () => {
    const { terminal, service, shown } = await at(await serve(['Hello.', 'It is 4.']), 'Hi.', '', '2 + 2?');
    expect(await chat(service, terminal, { agent: 'support', by: 'ann' })).toBe(0);
    expect(shown().slice(1)).toEqual(['> Hi.', 'Hello.', '> ', '> 2 + 2?', 'It is 4.', '> ^C']);
    expect(shown()[0]).toMatch(/^Ctrl-C leaves. The conversation stays: npx holdfast chat support chat-[0-9a-f]{8} --by ann$/);
  });

  it('goes on with a conversation, whose last messages it shows', async () => {
    const served = await serve(['Hello.', 'It is 4.']);
    await served.chat.send('Hi.', { by: 'Ben' });
    await served.chat.turn(1);
    const { terminal, service, shown } = await at(served, '2 + 2?');
    await chat(service, terminal, { agent: 'support', id: 'c' });
    expect(shown()).toEqual(['> Ben: Hi.', 'Hello.', expect.stringContaining('Ctrl-C'), '> 2 + 2?', 'It is 4.', '> ^C']);
  });

  it('asks about calls that need an approval', async () => {
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const served = await serve([], { agent: agentUnder(approval({ tools: { echo: true } })), model });
    const { terminal, service, shown } = await at(served, 'Do it.', 'y');
    expect(await chat(service, terminal, { agent: 'support' })).toBe(0);
    expect(shown().join('\n')).toMatch(/echo needs an approval[^]*answered[^]*Done\./);
  });

  it('says what is wrong with a message, and asks again', async () => {
    const { terminal, service, shown } = await at(await serve(['Fine.']), 'x'.repeat(300 * 1024), 'Hi.');
    expect(await chat(service, terminal, { agent: 'support' })).toBe(0);
    expect(shown().filter((line) => line.startsWith('error:'))[0]).toContain('input-too-large');
    expect(shown().slice(-3)).toEqual(['> Hi.', 'Fine.', '> ^C']);
  });

  it('ends where the conversation has ended, or waits', async () => {
    const served = await serve(['One.']);
    await served.chat.pause();
    const paused = await at(served, 'Hi.');
    expect(await chat(paused.service, paused.terminal, { agent: 'support' })).toBe(2);
    expect(paused.shown().at(-1)).toBe('The conversation is paused. The message waits.');
    await served.chat.end();
    const { terminal, service } = await at(served, 'Hi.');
    await expect(chat(service, terminal, { agent: 'support' })).rejects.toMatchObject({ code: 'conversation-ended' });
  });

  it('is for people at a terminal', async () => {
    const { terminal, service } = await at(await serve([]));
    const asked = chat(service, { ...terminal, interactive: false }, { agent: 'support', id: 'c' });
    await expect(asked).rejects.toMatchObject(errorSaying('command-invalid', "send c 'your message'"));
  });
});

describe('send', () => {
  it('shows the turn that takes the message, and fails where that does', async () => {
    const served = await serve([], { model: scriptedModel([{ text: 'Hello.' }]) });
    const { terminal, service, shown } = await at(served);
    expect(await send(service, terminal, 'c', { text: 'Hi.', follow: true, id: 'a' })).toBe(0);
    expect(shown()).toEqual(['for turn 1 of c', 'Hello.']);
    expect(await send(service, terminal, 'c', { text: 'Hi.', follow: true, id: 'a' })).toBe(0);
    expect(await send(service, terminal, 'c', { text: 'Once more.', follow: true })).toBe(1);
  });

  it('says that a message waits for a worker', async () => {
    const served = await serve([]);
    jest.spyOn(served.chat, 'send').mockResolvedValue({ id: 'a' });
    const { terminal, service, shown } = await at(served);
    expect(await send(service, terminal, 'c', { text: 'Hi.', follow: true, mode: 'now' })).toBe(2);
    expect(shown()).toEqual(['The message is stored. A turn takes it as soon as a worker can.']);
  });
});

describe('an approval in a turn', () => {
  const asking = async (...steps: readonly ScriptedStep[]) => {
    const model = scriptedModel([{ toolCalls: [echo('x')] }, ...steps]);
    const served = await serve([], { agent: agentUnder(approval({ tools: { echo: true } })), model });
    await served.chat.send('Do it.');
    await served.chat.run.interrupts();
    return at(served);
  };

  it('is answered, and the turn is shown to its end', async () => {
    const { terminal, service, shown } = await asking({ text: 'Done.' });
    expect(await approve({ service, terminal, id: 'c' }, { follow: true, by: 'ada' })).toBe(0);
    expect(shown().at(-1)).toBe('Done.');
  });

  it('ends with 1 if its turn fails', async () => {
    const { terminal, service } = await asking();
    expect(await reject({ service, terminal, id: 'c' }, { follow: true, by: 'ada' })).toBe(1);
  });
});

it('what waits is listed and taken back', async () => {
  const served = await serve([]);
  const { terminal, service, shown } = await at(served);
  await queue(service, terminal, 'c', {});
  await served.chat.pause();
  await served.chat.send('Hi.', { id: 'a', by: 'Ann' });
  await served.chat.view();
  await queue(service, terminal, 'c', {});
  expect(await withdraw(service, terminal, 'c', { message: 'a', by: 'ann' })).toBe(0);
  expect(shown()).toEqual([
    'No message waits for a turn.',
    'MESSAGE  BY   MODE        TEXT',
    'a        Ann  after-turn  Hi.',
    'The message a is taken back.',
  ]);
  expect(await served.chat.queue()).toEqual([]);
  await expect(withdraw(service, terminal, 'c', { message: '../x' })).rejects.toMatchObject({ code: 'message-unknown' });
});

it('is paused, renamed and ended', async () => {
  const served = await serve([]);
  const { terminal, service, shown } = await at(served);
  await pause(service, terminal, 'c', { by: 'ann' });
  await rename(service, terminal, 'c', { title: 'All of it' });
  expect(await served.chat.view()).toMatchObject({ paused: true, title: 'All of it' });
  await unpause(service, terminal, 'c', {});
  expect(await end(service, terminal, 'c', { now: true, by: 'ann' })).toBe(0);
  expect(await served.chat.view()).toMatchObject({ paused: false, ended: { reason: 'asked', by: 'ann' } });
  expect(shown()).toHaveLength(4);
});

it('send to a conversation that is not there says how to begin it', async () => {
  const error = { code: 'run-unknown', message: 'There is no conversation "c-2".' };
  jest.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ error }, { status: 404 }));
  await expect(send(new FoundService(url), recordedTerminal({ live: false }), 'c-2', { text: 'hi', follow: true })).rejects.toMatchObject({
    code: 'run-unknown',
    message: 'There is no conversation "c-2". To begin it, name its agent: npx holdfast send c-2 hi --agent NAME',
  });
});
