import { temporal } from '@temporalio/proto';
import { HoldfastClient } from '../../../client/connect';
import { defaultPayloadConverter } from '@temporalio/common';
import { names } from '../../../contract/names';
import { gate } from '../../support/memory-bed';

type Event = temporal.api.history.v1.IHistoryEvent;

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
const start = { agent: 'plain', input: 'Hi', deployment: 'd', tools: {} };

const cancelled: readonly Event[] = [
  { eventId: 1 as never, workflowExecutionStartedEventAttributes: { input: payloads({ start }) } },
  { eventId: 2 as never, workflowExecutionCanceledEventAttributes: {} },
];
const resumed: readonly Event[] = [
  {
    eventId: 1 as never,
    workflowExecutionStartedEventAttributes: {
      input: payloads({
        start,
        snapshot: { lists: {}, shown: [], seen: [], state: {}, events: [{ type: 'run-resume' }], nextOffset: 3, retried: true },
      }),
      memo: { fields: { [names.memo.retryOf]: defaultPayloadConverter.toPayload('one') } },
    },
  },
  { eventId: 2 as never, workflowExecutionCompletedEventAttributes: { result: payloads({ output: 'Done.' }) } },
];

function served({ isResumed, hold }: { isResumed: boolean; hold?: Promise<void> }) {
  const histories: Record<string, readonly Event[]> = { one: cancelled };
  let current = 'one';
  const resume = (): void => void ((histories['two'] = resumed), (current = 'two'));
  if (isResumed) resume();
  const workflowService = {
    describeWorkflowExecution: async () => ({
      workflowExecutionInfo: temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
        ...{ execution: { workflowId: 'default/r1', runId: current }, type: { name: 'agentRun' }, status: 2 },
        ...{ startTime: { seconds: 1, nanos: 0 }, historyLength: 2 },
      }),
    }),
    getWorkflowExecutionHistoryReverse: async () => ({}),
    getWorkflowExecutionHistory: async (request: {
      readonly execution: { readonly runId: string };
      readonly maximumPageSize: number;
      readonly nextPageToken?: Uint8Array;
    }) => {
      const events = histories[request.execution.runId] ?? [];
      if (request.maximumPageSize === 1) return { history: { events: events.slice(0, 1) } };
      if (hold === undefined) return { history: { events } };
      if (request.nextPageToken === undefined) return { history: { events: events.slice(0, 1) }, nextPageToken: new Uint8Array([1]) };
      if (request.execution.runId === 'one') await hold;
      return { history: { events: events.slice(1) } };
    },
  };
  const through = (_: unknown, run: () => unknown): unknown => run();
  const connection = {
    ...{ plugins: [], options: { address: '127.0.0.1:7233' }, workflowService, ensureConnected: async () => undefined },
    ...{ withDeadline: through, withAbortSignal: through, withMetadata: through },
  };
  const client = new HoldfastClient({ connection: connection as never, namespace: 'default', close: async () => undefined });
  return { run: client.run('r1'), resume };
}

type Reading = ReturnType<ReturnType<typeof served>['run']['events']>;

async function typesOf(events: Reading): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { offset, type } of events) types.push(`${offset} ${type}`);
  return types;
}

describe('the events of a run that was cancelled, and went on', () => {
  it.each([
    [0, ['0 run-start', '1 run-end', '2 run-resume', '3 run-end']],
    [2, ['2 run-resume', '3 run-end']],
    [3, ['3 run-end']],
    [4, []],
  ])('are read from the offset %d', async (from, expected) => {
    expect(await typesOf(served({ isResumed: true }).run.events({ from }))).toEqual(expected);
  });

  it('are refused from an offset that it does not have', async () => {
    const reading = typesOf(served({ isResumed: true }).run.events({ from: 5 }));
    await expect(reading).rejects.toMatchObject({ code: 'request-invalid', message: expect.stringContaining('has the offset 4') });
  });

  it('are read beside somebody who began before it went on', async () => {
    const cancel = gate();
    const { run, resume } = served({ isResumed: false, hold: cancel.opened });
    const before = run.events({ from: 0 });
    expect((await before.next()).value).toMatchObject({ type: 'run-start' });
    const rest = typesOf(before);
    resume();
    const behind = run.events({ from: 3 });
    const next = behind.next();
    await new Promise(setImmediate);
    cancel.open();
    expect((await next).value).toMatchObject({ type: 'run-end', offset: 3 });
    expect(await rest).toEqual(['1 run-end']);
  });
});
