import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/models';
import type { Conversation } from '../../client/conversation';
import type { Run } from '../../client/run';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import { recordHistory, replayHistories } from '../../testing/index';
import { lineOf } from '../support/memory-bed';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

let temporal: Temporal;
beforeAll(async () => {
  temporal = await openTemporal();
});
afterAll(() => temporal.close());

async function waitingTurn(agent: string, answer: (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>) {
  const bed = await startTestBed(answer);
  const chat = bed.client.conversation(agent, `${agent}-${bed.taskQueue}`);
  const run = bed.client.run(chat.id);
  await chat.send('Go.');
  await run.outcome({ timeout: '30s' });
  const [interrupt] = await run.interrupts();
  return { bed, chat, run, id: interrupt?.id ?? '' };
}

const refund = script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('As you like.'));

async function endsOf(run: Run): Promise<readonly string[]> {
  const log: RunEvent[] = [];
  for await (const event of run.events({ until: 'waiting', deltas: false })) log.push(event);
  return log.flatMap((event) => {
    if (event.type === 'interrupt-end') return [`interrupt-end ${event.reason}`];
    if (event.type === 'tool-end') return [`tool-end ${event.error?.code ?? 'ok'}`];
    return event.type === 'turn-end' ? [`turn-end ${event.status}`] : event.type === 'resume-ignored' ? [`ignored ${event.code}`] : [];
  });
}

const lastLines = async (chat: Conversation, count: number): Promise<readonly string[]> =>
  (await chat.transcript()).messages.slice(-count).map(({ message }) => lineOf(message));
const stopped = 'tool: error The turn was stopped before somebody answered.';

async function replays(run: Run): Promise<void> {
  const histories = mkdtempSync(join(tmpdir(), 'holdfast-stopped-'));
  await recordHistory({ id: run.id, server: testServer(), file: join(histories, 'run.json') });
  const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories });
  expect(replayed.filter(({ error }) => error !== undefined)).toEqual([]);
}

describe('a turn that waits for an approval on a server', () => {
  it('ends when somebody stops it, and the history replays', async () => {
    const { bed, chat, run, id } = await waitingTurn('guarded', refund);
    await chat.stop({ by: 'ann' });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    await expect(run.approve(id)).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    await expect(chat.stop()).rejects.toMatchObject({ code: 'turn-unknown' });
    await chat.send('And now?');
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(await endsOf(run)).toEqual(['interrupt-end cancel', 'tool-end turn-stopped', 'turn-end stopped', 'turn-end completed']);
    expect(await lastLines(chat, 3)).toEqual([stopped, 'user: And now?', 'assistant: As you like.']);
    await replays(run);
    await bed.close();
  });

  it('ends behind a continue-as-new for a message for now that waited while no worker ran, and an answer behind it comes too late', async () => {
    const { bed, chat, run, id } = await waitingTurn('guarded', refund);
    const execution = await temporal.executionOf(chat.id);
    await temporal.handle(chat.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(chat.id, execution);
    await temporal.untilEntered(chat.id);
    await bed.worker.shutdown();
    expect(await chat.send('No, wait.', { mode: 'now', id: 'now' })).toEqual({ id: 'now' });
    await run.approve(id, { by: 'ada' });
    const again = await startTestBed(refund, { taskQueue: bed.taskQueue });
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(await endsOf(run)).toEqual([
      'interrupt-end cancel',
      'tool-end turn-stopped',
      'turn-end stopped',
      'ignored interrupt-withdrawn',
      'turn-end completed',
    ]);
    await replays(run);
    await again.close();
    await bed.client.close();
  });

  it('ends with the isolated agent that asks, which is cancelled', async () => {
    const { bed, chat, run, id } = await waitingTurn('refunds', refund);
    await chat.stop();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await run.interrupts()).toEqual([]);
    await expect(run.approve(id)).rejects.toMatchObject({ code: expect.stringMatching(/^(interrupt-withdrawn|run-ended)$/) as string });
    expect((await run.view()).status).toBe('idle');
    await replays(run);
    await bed.close();
  });
});
