import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { ChildAgentOptions } from '../../workflows/index';
import type { Run } from '../../client/runs/run';
import { textOf } from '../../contract/messages/messages';
import { ticket } from '../fixtures/child-workflows';
import type { Gate } from '../support/gate';
import { gate as newGate } from '../support/gate';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';
import type { TestBed } from '../support/test-bed';

interface Desk {
  start(question: string, options: ChildAgentOptions): Promise<TicketHandle>;
  close(): Promise<void>;
}
type TicketHandle = Awaited<ReturnType<Client['workflow']['start']>>;

let bed: TestBed;
let desk: Desk;
let tickets = 0;
/** Open when the model gets a question for the first time, because the run exists by then. */
const begun = new Map<string, Gate>();

async function startDesk(): Promise<Desk> {
  const { address } = testServer();
  const taskQueue = `desk-${process.pid}`;
  const [connection, native] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowsPath: join(__dirname, '..', 'fixtures', 'child-workflows.ts'),
    bundlerOptions: {
      webpackConfigHook: (config) => ({
        ...config,
        resolve: {
          ...config.resolve,
          alias: { ...config.resolve?.alias, 'holdfast/workflow': join(__dirname, '..', '..', 'workflows', 'index.ts') },
        },
      }),
    },
  });
  const running = worker.run();
  const client = new Client({ connection });
  return {
    start: (question, options) =>
      client.workflow.start(ticket, {
        workflowId: `ticket-${process.pid}-${tickets++}`,
        taskQueue,
        args: [question, { taskQueue: bed.taskQueue, ...options }],
      }),
    close: async () => {
      worker.shutdown();
      await running;
      await Promise.all([connection.close(), native.close()]);
    },
  };
}

beforeAll(async () => {
  const answer = script(calls({ name: 'ask', input: { question: 'Which order?' } }), text('It is on its way.'));
  bed = await startTestBed((request) => {
    void begun.get(request.messages.map(textOf)[0] ?? '')?.pass();
    return answer(request);
  });
  desk = await startDesk();
});

afterAll(async () => {
  await desk.close();
  await bed.close();
});

async function asking(question: string, options: ChildAgentOptions & { readonly id: string }): Promise<{ handle: TicketHandle; run: Run }> {
  const gate = newGate();
  begun.set(question, gate);
  const handle = await desk.start(question, options);
  await gate.reached;
  const run = bed.client.run(options.id);
  expect((await run.outcome()).status).toBe('waiting');
  return { handle, run };
}

const failureOf = async (handle: TicketHandle): Promise<unknown> => {
  const error: unknown = await handle.result().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { cause?: unknown }).cause;
};

it('an agent answers a workflow of the user as its child, and is a run like any other', async () => {
  const { handle, run } = await asking('Where is it?', { id: 'child-asks', tags: ['desk'], by: 'ticket' });
  const [interrupt] = await run.interrupts();
  expect(interrupt).toMatchObject({ info: { question: 'Which order?' } });
  await run.resume(interrupt!.id, { answer: '42' });
  expect(await handle.result()).toBe('Ticket closed: It is on its way.');
  expect(await run.result()).toBe('It is on its way.');
  expect((await bed.client.start('plain', 'Where is it?', { id: 'child-asks' })).isNew).toBe(false);
});

it('a child that fails or cannot start is a failure with its code', async () => {
  const codes = await Promise.all(
    [
      ['', { id: 'child-asks' }],
      ['Hi', { id: 'a/b' }],
      ['x'.repeat(300_000), {}],
      ['Hi', { options: { tools: ['nothing'] } }],
      ['Hi', { id: 'child-late', deadline: '1s' }],
      ['Hi', { deadline: 'soon' }],
      ['Hi', { tags: ['x'.repeat(3000)] }],
    ].map(async ([question, options]) => failureOf(await desk.start(question as string, options as ChildAgentOptions))),
  );
  expect(codes).toMatchObject([
    { type: 'run-id-in-use' },
    { type: 'run-id-invalid' },
    { type: 'input-too-large' },
    { type: 'options-invalid' },
    { type: 'run-timed-out' },
    { type: 'input-invalid' },
    { type: 'input-invalid' },
  ]);
});

it('a child that somebody cancels is cancelled for the workflow too, and a cancelled workflow cancels its child', async () => {
  const { handle: first, run: cancelled } = await asking('Which one?', { id: 'child-cancelled' });
  await cancelled.cancel();
  expect(await failureOf(first)).toMatchObject({ type: 'cancelled' });

  const { handle: second, run: child } = await asking('Which other one?', { id: 'child-of-cancelled' });
  await second.cancel();
  expect(await failureOf(second)).toMatchObject({ name: 'CancelledFailure' });
  expect((await child.outcome()).status).toBe('cancelled');
});
