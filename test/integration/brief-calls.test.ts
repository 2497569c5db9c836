import { temporal as protocol } from '@temporalio/proto';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { RunEvent } from '../../contract/events';
import type { Scripted } from '../support/shared-bed';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const { EventType } = protocol.api.enums.v1;
const echoing = { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) };

let wait = false;
let made = 0;
/** How many characters of a value each call of the tool `large` leaves behind. */
let size = 10;
const withoutEffect = defineTool({
  ...echoing,
  effect: 'none',
  execute: async ({ text: said }) => {
    made += 1;
    if (wait) await new Promise((resolve) => setTimeout(resolve, 900));
    return said;
  },
});
const bed = sharedBed({
  tools: {
    told: withoutEffect,
    longer: withoutEffect,
    shared: withoutEffect,
    large: defineTool({
      ...echoing,
      effect: 'none',
      execute: ({ text: said }, call) => (call.runLocal.set(call.idempotencyKey, 'x'.repeat(size)), said),
    }),
    unsaid: defineTool({ ...echoing, execute: ({ text: said }) => said }),
    quick: defineTool({ ...echoing, quick: true, execute: ({ text: said }) => said }),
  },
});

describe('a tool whose last calls were short', () => {
  beforeEach(() => {
    wait = false;
    made = 0;
  });

  /** A model that calls a tool so often, one call after another, or all at once. */
  const calling = (name: string, times = 3): Scripted =>
    bed.scripted(script(...Array.from({ length: times }, () => calls({ name, input: { text: 'hello' } })), text('Done.')));
  const callingAtOnce = (name: string, times: number): Scripted =>
    bed.scripted(script(calls(...Array.from({ length: times }, () => ({ name, input: { text: 'hello' } }))), text('Done.')));

  /** A machine with much else to do may take long for a short call. */
  async function playedBriefly(model: Scripted): ReturnType<typeof played> {
    for (let tries = 1; ; tries++) {
      const one = await played(model);
      if (tries === 5 || (one.counts['tool'] === 0 && one.counts['memo'] === 0)) return one;
    }
  }

  async function played(model: Scripted): Promise<{ readonly counts: Readonly<Record<string, number>>; readonly log: readonly string[] }> {
    const run = await model.start('brief', 'Go.');
    expect(await run.result()).toBe('Done.');
    const log: string[] = [];
    for await (const event of run.events()) if (event.offset !== undefined) log.push(lineOf(event, log.length));
    const counts: Record<string, number> = { tool: 0, marker: 0, memo: 0 };
    const { events = [] } = (await bed.temporal.handle(run.id).fetchHistory()) as { events?: protocol.api.history.v1.IHistoryEvent[] };
    for (const { eventType, activityTaskScheduledEventAttributes: scheduled } of events) {
      if (scheduled?.activityType?.name === 'callTool') counts['tool'] = (counts['tool'] ?? 0) + 1;
      if (eventType === EventType.EVENT_TYPE_MARKER_RECORDED) counts['marker'] = (counts['marker'] ?? 0) + 1;
      if (eventType === EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED) counts['memo'] = (counts['memo'] ?? 0) + 1;
    }
    // One is of the preparation of the run.
    return { counts: { ...counts, marker: (counts['marker'] ?? 0) - 1 }, log };
  }

  /** All that readers see of an event but ids and times. */
  function lineOf(event: RunEvent, position: number): string {
    expect(event.offset).toBe(position);
    const { time: _, ...rest } = event;
    return JSON.stringify(rest, (key, value: unknown) => (key === 'id' ? 'an id' : value));
  }

  it('is called within the task when a run begins, and readers see the same', async () => {
    const model = calling('told');
    const first = await played(model);
    expect(first.counts).toMatchObject({ tool: 3, marker: 0 });
    const second = await playedBriefly(model);
    expect(second.counts).toEqual({ tool: 0, marker: 3, memo: 0 });
    expect(second.log).toEqual(first.log);
  });

  it('is called in an activity from then on when a call takes longer, and its start is told once', async () => {
    const model = calling('longer');
    const first = await playedBriefly(model);
    made = 0;
    wait = true;
    const second = await played(model);
    expect(second.counts).toMatchObject({ tool: 3 });
    expect(second.log).toEqual(first.log);
    // The one that took too long was made again.
    expect(made).toBe(4);
    wait = false;
    expect((await played(model)).counts).toMatchObject({ tool: 3, marker: 0 });
  });

  it('is tried once only when calls of one message take longer', async () => {
    await playedBriefly(calling('shared'));
    made = 0;
    wait = true;
    const second = await played(callingAtOnce('shared', 4));
    expect(second.counts).toMatchObject({ tool: 4 });
    expect(made).toBe(5);
  });

  it('gets values that are too large for a local activity in an activity', async () => {
    const model = calling('large', 5);
    await playedBriefly(model);
    size = 200_000;
    // The fourth and the fifth get 600 KB and more.
    expect((await played(model)).counts).toMatchObject({ tool: 2, marker: 3 });
  });

  it('is called in an activity always when it does not say its effect', async () => {
    const model = calling('unsaid');
    await played(model);
    expect((await played(model)).counts).toMatchObject({ tool: 3, marker: 0 });
  });

  it('tells no start by itself when it is quick', async () => {
    const model = calling('quick');
    const first = await played(model);
    expect(first.counts).toEqual({ tool: 0, marker: 3, memo: 3 });
    const second = await playedBriefly(model);
    expect(second.counts).toEqual({ tool: 0, marker: 3, memo: 0 });
    expect(second.log).toEqual(first.log);
  });
});
