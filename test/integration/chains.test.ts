import type { Conversation } from '../../client/conversations/conversation';
import type { Interrupt } from '../../contract/interrupts';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { MessageReceipt } from '../../contract/service';
import { fixtureTools } from '../fixtures/tools';
import { logOf } from '../support/server-logs';
import { openTemporal } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

it.concurrent('an answer that comes in two ways counts once and leaves no trace of the second, also over a continue-as-new', async () => {
  const both = calls({ name: 'refund', input: { orderId: '42', amount: 80 } }, { name: 'refund', input: { orderId: '43', amount: 90 } });
  const bed = await startTestBed(script(both, text('Done.')), { tools: fixtureTools });
  const temporal = await openTemporal();
  const run = await bed.client.start('signed', 'hello');
  const outcome = await run.outcome();
  if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
  const [first, second] = outcome.interrupts as [Interrupt, Interrupt];
  const answer = { interruptId: first.id, answer: { type: 'approve' }, by: 'ada' };
  await temporal.handle(run.id).executeUpdate(names.answerUpdate, { args: [{ ...answer, delivery: 'one' }] });
  await temporal.handle(run.id).signal(names.answerSignal, { ...answer, delivery: 'one' });
  await temporal.goOnAsNew(run.id);
  await temporal.handle(run.id).signal(names.answerSignal, { ...answer, delivery: 'one' });
  await temporal.handle(run.id).signal(names.answerSignal, { ...answer, delivery: 'another' });
  await run.approve(second.id, { by: 'ada' });
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  expect((await logOf(run)).filter(({ type }) => type === 'resume-ignored')).toHaveLength(1);
  await temporal.close();
  await bed.close();
});

const answer = () => ({ parts: [{ type: 'text' as const, text: 'Yes.' }] });
/** Sends until a worker names the turn; a message that waits longer has no turn in the receipt. */
async function taken(chat: Conversation, text: string, id: string): Promise<MessageReceipt> {
  for (;;) {
    const receipt = await chat.send(text, { id });
    if (receipt.turn !== undefined) return receipt;
  }
}
const saidIn = async (chat: Conversation, limit = 100, before?: number): Promise<readonly string[]> => {
  const page = await chat.transcript({ limit, ...(before === undefined ? {} : { before }) });
  return page.messages.map(({ turn, message }) => `${turn} ${textOf(message)}`);
};

it.concurrent('a conversation is one over every continue-as-new, and its pages reach into all of them', async () => {
  const bed = await startTestBed(answer);
  const temporal = await openTemporal();
  const chat = bed.client.conversation('plain', `chain-${bed.taskQueue}`);
  for (let turn = 1; turn <= 3; turn++) {
    expect(await taken(chat, `Question ${turn}?`, `q${turn}`)).toEqual({ id: `q${turn}`, turn });
    await chat.turn(turn);
    await temporal.goOnAsNew(chat.id);
  }
  expect(await taken(chat, 'Question 1?', 'q1')).toEqual({ id: 'q1', turn: 1 });
  expect((await bed.client.run(chat.id).view()).status).toBe('idle');
  expect(await saidIn(chat)).toEqual(['1 Question 1?', '1 Yes.', '2 Question 2?', '2 Yes.', '3 Question 3?', '3 Yes.']);
  const { before } = await chat.transcript({ limit: 3 });
  expect(await saidIn(chat, 3, before)).toEqual(['1 Question 1?', '1 Yes.', '2 Question 2?']);
  const other = bed.client.conversation('short', chat.id);
  await expect(other.send('Hi')).rejects.toMatchObject({ code: 'run-id-in-use' });
  const nobody = bed.client.conversation('nobody', `nobody-${bed.taskQueue}`);
  await expect(nobody.send('Hi')).rejects.toMatchObject({ code: 'agent-unknown' });
  await bed.client.run(nobody.id).outcome();
  expect((await nobody.view()).ended).toMatchObject({ reason: 'failed', error: { code: 'agent-unknown' } });
  const run = await bed.client.start('plain', 'Hi');
  await expect(bed.client.conversation('plain', run.id).send('Hi')).rejects.toMatchObject({ code: 'not-a-conversation' });
  await temporal.close();
  await bed.close();
});

it.concurrent('a conversation takes messages while no worker is there, each once, and ends for being idle when one comes', async () => {
  const bed = await startTestBed(answer);
  const chat = bed.client.conversation('plain', `alone-${bed.taskQueue}`, { idle: '1s' });
  await bed.worker.shutdown();
  const stranger = bed.client.conversation('short', chat.id);
  // Messages of one client go one after another, with five seconds per message for a worker.
  const left = await Promise.all([
    chat.send('Hello?', { id: 'a' }),
    stranger.send('Hello?', { id: 'b' }),
    bed.client.conversation('plain', chat.id).send('Hello?', { id: 'a' }),
  ]);
  expect(left).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'a' }]);
  expect((await chat.queue())[0]).toMatchObject({ id: 'a', mode: 'after-turn' });
  const again = await startTestBed(answer, { taskQueue: bed.taskQueue });
  expect(await bed.client.run(chat.id).outcome()).toBeDefined();
  expect(await bed.client.run(chat.id).result()).toEqual({ turns: 1, reason: 'idle' });
  expect(await saidIn(chat)).toEqual(['1 Hello?', '1 Yes.']);
  expect((await logOf(bed.client.run(chat.id))).filter(({ type }) => type === 'message-ignored')).toMatchObject([
    { id: 'b', code: 'run-id-in-use' },
  ]);
  await expect(chat.send('Still there?')).rejects.toMatchObject({ code: 'conversation-ended' });
  await again.close();
  await bed.client.close();
});
