import { waysToLoop } from '../fixtures/looping-agents';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

describe('code that never pauses', () => {
  const bed = sharedBed({ endlessLoopMs: 1000 });
  const model = bed.scripted(script(calls({ name: 'echo', input: { text: 'hello' } }), text('Done.')));

  // Together, because a stuck run retries its task. An abort would end the test process.
  it('leaves its own run stuck, wherever it stands, and the process as it was', async () => {
    const loops = [
      ...Object.keys(waysToLoop).map((way) => ['spinsInHook', way] as const),
      ['spinsBehindCall', 'behind a call'] as const,
      ['spinsByHand', 'in a custom agent'] as const,
    ];
    const stuck = await Promise.all(
      loops.map(async ([agent, input]) => {
        const run = await model.start(agent, input);
        const outcome = await run.outcome();
        await run.terminate();
        return [input, outcome] as const;
      }),
    );
    expect(stuck).toEqual(loops.map(([, input]) => [input, expect.objectContaining({ status: 'stuck' })]));
    const run = await model.start('plain', 'hello');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });
});

describe('code that pauses and never ends', () => {
  const bed = sharedBed();
  const model = bed.scripted(script(calls({ name: 'yieldsEvents', input: { request: 'Do.' } }), text('Without.')));

  async function brokenTasks(id: string): Promise<readonly unknown[]> {
    const { events } = await bed.temporal.handle(id).fetchHistory();
    return (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes ?? []);
  }

  it.each([
    ['yieldsEvents', 'agent-endless'],
    ['yieldsMessages', 'agent-endless'],
    ['runsAgents', 'agent-endless'],
    ['turnsRound', 'agent-endless'],
    ['usesAnothersContext', 'outside-run'],
  ])('%s fails with %s, in tasks that end well', async (agent, code) => {
    const run = await model.start(agent, 'Go.');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code } });
    expect(await brokenTasks(run.id)).toEqual([]);
  });

  it('an agent without end as a tool is a failure that the model is told of', async () => {
    const run = await model.start('hasEndlessTool', 'Go.');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Without.' });
    expect(await brokenTasks(run.id)).toEqual([]);
  });

  it('100 agents in each other come to their end', async () => {
    const run = await model.start('level98', 'Go.');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(await brokenTasks(run.id)).toEqual([]);
  });
});
