import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../../activities/activities';
import { defineTool } from '../../../activities/tools/define-tool';
import { defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { partsOf } from '../../../worker/worker-parts';
import { z } from 'zod';
import { gate } from '../../support/gate';
import type { CallToolResult } from '../../../contract/record/wire';

/** A once tool that leaves an event and a value, then waits for the gate. The timeout ends soon, or long after the test. */
function onceCall(extra: object = {}, startToCloseTimeoutMs = 50, slowValues = false) {
  let executions = 0;
  const held = gate();
  const nothing = { workflowService: {} as never, namespace: 'default' };
  const marks = defineWorkerMiddleware('marks', () => ({
    async wrapInvokableToolCall(toolInput, next, call) {
      call.sendEvent('seen', call.callId);
      call.runLocal.set('seen', true);
      return next({ ...(toolInput as object), note: 'changed' });
    },
  }));
  const pay = defineTool({
    description: 'Pays.',
    inputSchema: z.looseObject({}),
    effect: 'once',
    concurrency: 1,
    async execute() {
      executions += 1;
      await held.pass();
      return 'paid';
    },
    async reconcile() {
      await held.pass();
      return 'unknown' as const;
    },
  });
  const parts = partsOf(
    { tools: { pay }, middleware: [marks], environment: {} },
    { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined },
  );
  const environment = new MockActivityEnvironment({
    activityId: 'a/t1/pay.0',
    workflowExecution: { workflowId: 'default/r', runId: 'r' },
    startToCloseTimeoutMs,
  });
  const values = gate();
  const resolve = parts.messages.values.resolve.bind(parts.messages.values);
  parts.messages.values.resolve = async (...asked) => (slowValues ? await values.pass() : undefined, resolve(...asked));
  const { callTool } = createActivities(parts);
  const call = { path: ['a'], tool: 'pay', callId: 'c', input: {}, workerMiddleware: [{ name: 'marks', options: {} }], ...extra };
  const run = (): Promise<CallToolResult> => environment.run(() => callTool(call as never));
  return { held, values, run, executions: () => executions, ended: run() };
}

it('a once call whose time is up brings no events, values and changes, as when the timer of the server is first', async () => {
  const { held, ended } = onceCall();
  expect(await ended).toEqual({ address: 'a/t1/pay.0', outcome: { type: 'unsettled', timedOut: true } });
  held.open();
});

it('a tool that is asked too long what became of a call has said why nobody knows, as when the timer of the server is first', async () => {
  const { held, ended } = onceCall({ reconcile: true });
  expect(await ended).toMatchObject({ outcome: { type: 'unsettled', why: "The tool 'pay' gave no result within 0.05 s." } });
  held.open();
});

it('a once call that ends in time brings what it left', async () => {
  const { held, ended } = onceCall({}, 60_000);
  held.open();
  expect(await ended).toMatchObject({
    outcome: { type: 'done', output: 'paid' },
    events: [{ name: 'seen', data: 'c' }],
    runLocal: { set: { seen: true } },
    changes: [{ middleware: 'marks', onWorker: true }],
  });
});

it('a once call whose time is up before its tool begins never begins, and leaves its turn to the next call', async () => {
  const { held, values, run, executions, ended } = onceCall({}, 50, true);
  expect(await ended).toMatchObject({ outcome: { type: 'unsettled', timedOut: true } });
  values.open();
  held.open();
  expect(await run()).toMatchObject({ outcome: { type: 'done', output: 'paid' } });
  expect(executions()).toBe(1);
});
