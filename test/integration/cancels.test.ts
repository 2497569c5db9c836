import type { GenerateAnswer } from '../../activities/models/language-model';
import type { Conversation } from '../../client/conversations/conversation';
import type { Run } from '../../client/runs/run';
import { names } from '../../contract/names';
import { lineOf } from '../support/memory-bed';
import { logOf, replaysOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const bed = sharedBed();

describe('a run that is cancelled', () => {
  it('before its last answer came is cancelled, also when the model does not hear of it', async () => {
    let asked: () => void = () => undefined;
    let answer: (answer: GenerateAnswer) => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const model = bed.scripted(() => {
      asked();
      return new Promise<GenerateAnswer>((resolve) => (answer = resolve));
    });
    const run = await model.start('plain', 'hello');
    await isAsked;
    await run.cancel();
    answer(text('Done.'));
    expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
  });

  it('tells whoever cancelled it what became of that, also when it was resumed before they asked, and cancelled again', async () => {
    const model = bed.scripted(script(calls({ id: 'a', name: 'ask', input: { question: 'One?' } }), text('Done.')));
    const run = await model.start('plain', 'hello');
    await run.outcome();
    const first = await run.cancel({ by: 'ada' });
    await run.outcome();
    await run.resume();
    await run.outcome();
    const second = await run.cancel({ mode: 'after-tools', by: 'bob' });
    await run.outcome();
    await run.resume();
    await run.outcome();
    const [question] = await run.interrupts();
    await run.resume(question?.id ?? '', { answer: 'yes' });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await first.settled(), await second.settled()]).toEqual(['in-time', 'in-time']);
  });
});

it('whoever gave an answer that comes again after a continue-as-new hears that it was taken', async () => {
  const many = calls({ id: 'a', name: 'ask', input: { question: 'One?' } }, { id: 'b', name: 'ask', input: { question: 'Two?' } });
  const run = await bed.scripted(script(many, text('Done.'))).start('plain', 'hello');
  await run.outcome();
  const [first] = await run.interrupts();
  const sent = { interruptId: first?.id, answer: { answer: 'yes' }, delivery: 'one' };
  const handle = bed.temporal.handle(run.id);
  await handle.executeUpdate(names.answerUpdate, { args: [sent] });
  await bed.temporal.goOnAsNew(run.id);
  await expect(handle.executeUpdate(names.answerUpdate, { args: [sent] })).resolves.toMatchObject({ sequence: 1 });
  await expect(handle.executeUpdate(names.answerUpdate, { args: [{ ...sent, delivery: 'two' }] })).rejects.toThrow(
    'Workflow Update failed',
  );
  await run.cancel();
});

describe('a stop of one agent', () => {
  const asked: string[] = [];
  const model = bed.scripted(({ instructions, messages }) => {
    asked.push(instructions);
    const isFirst = !messages.some(({ role }) => role === 'assistant');
    return instructions.includes('stoppedTool') && isFirst ? calls({ name: 'stops', input: { request: 'Go.' } }) : text('An answer.');
  });

  it.each(['stoppedLanes', 'stoppedRuns', 'stoppedTool'])('ends the run %s, and what is beside it', async (agent) => {
    const run = await model.start(agent, 'Go.');
    const beside = agent === 'stoppedTool' ? 1 : 2;
    while ((await run.interrupts()).length < beside) await run.outcome();
    const question = (await run.interrupts()).find((asking) => 'info' in asking && asking.info === 'Stop?');
    const before = asked.length;
    await run.resume(question?.id ?? '', 'Yes.');
    for await (const event of run.events()) if (event.type === 'run-end') break;
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
    expect(asked).toHaveLength(before);
    expect(await run.interrupts()).toEqual([]);
    if (agent !== 'stoppedRuns') return;
    const child = bed.client.run(`${run.id}~asks`);
    expect(await child.outcome()).toMatchObject({ status: 'cancelled' });
  });
});

describe('a turn that waits for an approval on a server', () => {
  afterEach(() => bed.startWorker());

  const refund = script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('As you like.'));

  async function waitingTurn(agent: string): Promise<{ readonly chat: Conversation; readonly run: Run; readonly id: string }> {
    const chat = bed.scripted(refund).conversation(agent);
    const run = bed.client.run(chat.id);
    await chat.send('Go.');
    await run.outcome();
    const [interrupt] = await run.interrupts();
    return { chat, run, id: interrupt?.id ?? '' };
  }

  async function endsOf(run: Run): Promise<readonly string[]> {
    return (await logOf(run, { until: 'waiting' })).flatMap((event) => {
      if (event.type === 'interrupt-end') return [`interrupt-end ${event.reason}`];
      if (event.type === 'tool-end') return [`tool-end ${event.error?.code ?? 'ok'}`];
      return event.type === 'turn-end' ? [`turn-end ${event.status}`] : event.type === 'resume-ignored' ? [`ignored ${event.code}`] : [];
    });
  }

  const lastLines = async (chat: Conversation, count: number): Promise<readonly string[]> =>
    (await chat.transcript()).messages.slice(-count).map(({ message }) => lineOf(message));
  const stopped = 'tool: error The turn was stopped before somebody answered.';

  it('ends when somebody stops it, and the history replays', async () => {
    const { chat, run, id } = await waitingTurn('guarded');
    await chat.stop({ by: 'ann' });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    await expect(run.approve(id)).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    await expect(chat.stop()).rejects.toMatchObject({ code: 'turn-unknown' });
    await chat.send('And now?');
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(await endsOf(run)).toEqual(['interrupt-end cancel', 'tool-end turn-stopped', 'turn-end stopped', 'turn-end completed']);
    expect(await lastLines(chat, 3)).toEqual([stopped, 'user: And now?', 'assistant: As you like.']);
    expect(await replaysOf([run.id])).toEqual([]);
  });

  it('ends behind a continue-as-new for a message for now that waited while no worker ran, and an answer behind it comes too late', async () => {
    const { chat, run, id } = await waitingTurn('guarded');
    await bed.temporal.goOnAsNew(chat.id);
    await bed.temporal.untilEntered(chat.id);
    await bed.stopWorker();
    expect(await chat.send('No, wait.', { mode: 'now', id: 'now' })).toEqual({ id: 'now' });
    await run.approve(id, { by: 'ada' });
    await bed.startWorker();
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(await endsOf(run)).toEqual([
      'interrupt-end cancel',
      'tool-end turn-stopped',
      'turn-end stopped',
      'ignored interrupt-withdrawn',
      'turn-end completed',
    ]);
    expect(await replaysOf([run.id])).toEqual([]);
  });

  it('ends with the isolated agent that asks, which is cancelled', async () => {
    const { chat, run, id } = await waitingTurn('refunds');
    await chat.stop();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await run.interrupts()).toEqual([]);
    await expect(run.approve(id)).rejects.toMatchObject({ code: expect.stringMatching(/^(interrupt-withdrawn|run-ended)$/) as string });
    expect((await run.view()).status).toBe('idle');
    expect(await replaysOf([run.id])).toEqual([]);
  });
});
