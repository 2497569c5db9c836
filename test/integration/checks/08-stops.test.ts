import { calls, startTestBed, text } from '../../support/test-bed';
import type { TestBed } from '../../support/test-bed';

describe('[check 8] on a server a stop of one agent', () => {
  let bed: TestBed;
  const asked: string[] = [];
  beforeAll(async () => {
    bed = await startTestBed(({ instructions, messages }) => {
      asked.push(instructions);
      const isFirst = !messages.some(({ role }) => role === 'assistant');
      return instructions.includes('stoppedTool') && isFirst ? calls({ name: 'stops', input: { request: 'Go.' } }) : text('An answer.');
    });
  });
  afterAll(async () => bed.close());

  it.each(['stoppedLanes', 'stoppedRuns', 'stoppedTool'])('ends the run %s, and what is beside it', async (agent) => {
    const run = await bed.client.start(agent, 'Go.');
    const beside = agent === 'stoppedTool' ? 1 : 2;
    while ((await run.interrupts()).length < beside) await run.outcome();
    const question = (await run.interrupts()).find((asking) => 'info' in asking && asking.info === 'Stop?');
    const before = asked.length;
    await run.resume(question?.id ?? '', 'Yes.');
    // It waits for the other one until the news of the stop have come.
    for await (const event of run.events()) if (event.type === 'run-end') break;
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
    expect(asked).toHaveLength(before);
    expect(await run.interrupts()).toEqual([]);
    if (agent !== 'stoppedRuns') return;
    const child = bed.client.run(`${run.id}~asks`);
    expect(await child.outcome({ timeout: '30s' })).toMatchObject({ status: 'cancelled' });
  });
});
