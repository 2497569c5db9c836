import { temporal as protocol } from '@temporalio/proto';
import { z } from 'zod';
import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/tools';
import type { RunEvent } from '../../contract/events';
import { fixtureTools } from '../fixtures/tools';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

const { EventType } = protocol.api.enums.v1;
const echoing = { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) };

describe('a tool whose last calls were short', () => {
  let temporal: Temporal;
  let bed: TestBed;
  let wait = false;
  let made = 0;
  const none = defineTool({
    ...echoing,
    effect: 'none',
    execute: async ({ text: said }) => {
      made += 1;
      if (wait) await new Promise((resolve) => setTimeout(resolve, 900));
      return said;
    },
  });
  const quick = defineTool({ ...echoing, quick: true, execute: ({ text: said }) => said });
  const start = async (tool: Tool<{ text: string }>, times = 3): Promise<void> => {
    const echo = calls({ name: 'echo', input: { text: 'hello' } });
    bed = await startTestBed(script(...Array.from({ length: times }, () => echo), text('Done.')), {
      tools: { ...fixtureTools, echo: tool },
    });
  };
  beforeAll(async () => void (temporal = await openTemporal()));
  afterAll(() => temporal.close());
  beforeEach(() => {
    wait = false;
    made = 0;
  });
  afterEach(() => bed.close());

  /** A machine with much else to do may take long for a short call. */
  async function playedBriefly(): ReturnType<typeof played> {
    for (let tries = 1; ; tries++) {
      const one = await played();
      if (tries === 5 || (one.counts['tool'] === 0 && one.counts['memo'] === 0)) return one;
    }
  }

  async function played(input = 'Go.'): Promise<{ readonly counts: Readonly<Record<string, number>>; readonly log: readonly string[] }> {
    const run = await bed.client.start('plain', input);
    expect(await run.result()).toBe('Done.');
    const log: string[] = [];
    for await (const event of run.events()) if (event.offset !== undefined) log.push(lineOf(event, log.length));
    const counts: Record<string, number> = { tool: 0, marker: 0, memo: 0 };
    const { events = [] } = (await temporal.handle(run.id).fetchHistory()) as { events?: protocol.api.history.v1.IHistoryEvent[] };
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
    await start(none);
    const first = await played();
    expect(first.counts).toMatchObject({ tool: 3, marker: 0 });
    const second = await playedBriefly();
    expect(second.counts).toEqual({ tool: 0, marker: 3, memo: 0 });
    expect(second.log).toEqual(first.log);
  });

  it('is called in an activity from then on when a call takes longer, and its start is told once', async () => {
    await start(none);
    const first = await playedBriefly();
    made = 0;
    wait = true;
    const second = await played();
    expect(second.counts).toMatchObject({ tool: 3 });
    expect(second.log).toEqual(first.log);
    // The one that took too long was made again.
    expect(made).toBe(4);
    wait = false;
    expect((await played()).counts).toMatchObject({ tool: 3, marker: 0 });
  });

  it('is tried once only when calls of one message take longer', async () => {
    const echo = { name: 'echo', input: { text: 'hello' } };
    bed = await startTestBed(
      ({ messages }) => {
        const isMany = messages.some(({ parts }) => parts.some((part) => part.type === 'text' && part.text === 'Many.'));
        const all = isMany ? calls(echo, echo, echo, echo) : calls(echo);
        return script(...(isMany ? [all] : [all, all, all]), text('Done.'))({ messages } as never);
      },
      { tools: { ...fixtureTools, echo: none } },
    );
    await playedBriefly();
    made = 0;
    wait = true;
    const second = await played('Many.');
    expect(second.counts).toMatchObject({ tool: 4 });
    expect(made).toBe(5);
  });

  it('gets values that are too large for a local activity in an activity', async () => {
    let size = 10;
    const keeping = defineTool({
      ...echoing,
      effect: 'none',
      execute: ({ text: said }, call) => (call.runLocal.set(call.idempotencyKey, 'x'.repeat(size)), said),
    });
    await start(keeping, 5);
    await playedBriefly();
    size = 200_000;
    // The fourth and the fifth get 600 KB and more.
    expect((await played()).counts).toMatchObject({ tool: 2, marker: 3 });
  });

  it('is called in an activity always when it does not say its effect', async () => {
    await start(defineTool({ ...echoing, execute: ({ text: said }) => said }));
    await played();
    expect((await played()).counts).toMatchObject({ tool: 3, marker: 0 });
  });

  it('tells no start by itself when it is quick', async () => {
    await start(quick);
    const first = await played();
    expect(first.counts).toEqual({ tool: 0, marker: 3, memo: 3 });
    const second = await playedBriefly();
    expect(second.counts).toEqual({ tool: 0, marker: 3, memo: 0 });
    expect(second.log).toEqual(first.log);
  });
});
