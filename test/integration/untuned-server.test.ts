import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Outcome } from '../../client/reading/outcome';
import { defineTool } from '../../activities/tools/tools';
import type { Json } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import { fixtureTools } from '../fixtures/tools';
import { gate } from '../support/gate';
import { replaysOf } from '../support/server-logs';
import { eventually, openTemporal } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

/** At this size, a continue-as-new needs storage, as documented. */
const storage = mkdtempSync(join(tmpdir(), 'holdfast-check-14-'));
const dataConverter = snapshotStorage(new DirectoryDriver(storage));
afterAll(() => rmSync(storage, { recursive: true }));

function statusOf(outcome: Outcome<unknown>): string {
  return outcome.status === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
}

/** A replay decides anew how much fits. */
const replays = async (id: string): Promise<void> => expect(await replaysOf([id], { dataConverter })).toEqual([]);

/** The test server has the default limit of 4 MB. */
describe('[check 14] a run within the documented limits ends on a server that nobody tuned', () => {
  const echoing = (execute: (said: string) => Json) =>
    defineTool({ description: 'Says so.', inputSchema: z.object({ text: z.string() }), execute: ({ text: said }) => execute(said) });
  const counting = echoing((said) => said.length);

  it.each([
    ['messages have three calls of 280 KB each', 280 * 1024, counting],
    ['calls have results of 250 KB', 1, echoing((said) => said.repeat(250_000))],
  ])('sixteen agents at once whose %s', async (_, size, echo) => {
    const three = Array.from({ length: 3 }, (__, n) => ({ id: `large-${n}`, name: 'echo', input: { text: String(n).repeat(size) } }));
    const bed = await startTestBed(script(calls(...three), text('Done.')), { tools: { ...fixtureTools, echo }, dataConverter });
    const run = await bed.client.start('bulkyCrowd', 'hello');
    expect(statusOf(await run.outcome())).toBe('completed');
    expect((await run.transcript()).filter(({ role }) => role === 'tool')).toHaveLength(48);
    await bed.close();
  });

  it('ten calls of 280 KB beside signals of 1.7 MB that come while their task is at work', async () => {
    const atWork = gate();
    const swift = defineTool({
      description: 'Holds the task.',
      inputSchema: z.object({ letter: z.string(), times: z.number() }),
      execute: async () => {
        await atWork.pass();
        return 'on';
      },
    });
    const ten = Array.from({ length: 10 }, (_, n) => ({ id: `large-${n}`, name: 'echo', input: { text: String(n) } }));
    const first = { id: 'hold', name: 'swift', input: { letter: 'x', times: 1 } };
    const bed = await startTestBed(script(calls(first, ...ten), text('Done.')), {
      tools: { ...fixtureTools, echo: counting, swift },
      dataConverter,
    });
    const run = await bed.client.start('swelling', 'hello');
    await atWork.reached;
    const temporal = await openTemporal();
    for (let n = 0; n < 7; n += 1)
      await temporal.handle(run.id).signal(names.answerSignal, { interruptId: `none-${n}`, answer: String(n).repeat(250_000) });
    atWork.open();
    expect(statusOf(await run.outcome())).toBe('completed');
    await replays(run.id);
    await temporal.close();
    await bed.close();
  });

  it('ten answers of 250 KB that one task is offered: it refuses those that it has no room for, and takes them when they are sent again', async () => {
    const ten = Array.from({ length: 10 }, (_, n) => ({ id: `ask-${n}`, name: 'ask', input: { question: `Question ${n}?` } }));
    const answering = script(calls(...ten), text('Done.'));
    const first = await startTestBed(answering, { dataConverter });
    const run = await first.client.start('bulky', 'hello');
    await eventually(async () => expect(await run.interrupts()).toHaveLength(ten.length));
    const interrupts = await run.interrupts();
    await first.worker.shutdown();
    const temporal = await openTemporal();
    const updates = interrupts.map(({ id }, n) => ({
      interruptId: id,
      answer: { answer: String(n).repeat(250_000) },
      delivery: `update-${n}`,
    }));
    const sent = updates.map((answer) =>
      temporal
        .handle(run.id)
        .executeUpdate(names.answerUpdate, { args: [answer], updateId: answer.delivery })
        .then(
          () => 'taken',
          ({ cause }: { readonly cause?: { readonly type?: string } }) => cause?.type,
        ),
    );
    for (const { delivery } of updates) await temporal.untilAdmitted(run.id, delivery);
    const second = await startTestBed(answering, { dataConverter, taskQueue: first.taskQueue });
    const said = await Promise.all(sent);
    // The call woken by the first answer needs a place in the task too.
    expect(said.filter((one) => one === 'taken')).toHaveLength(5);
    expect(said.filter((one) => one === 'run-busy')).toHaveLength(5);
    const left = updates.filter((_, n) => said[n] === 'run-busy');
    await Promise.all(left.map(({ interruptId, answer }) => run.resume(interruptId, answer)));
    expect(await run.result()).toBe('Done.');
    await replays(run.id);
    await temporal.close();
    await first.client.close();
    await second.close();
  });
});
