import type { makeGrpcRetryInterceptor } from '@temporalio/client';
import { makeGrpcRetryInterceptor as retrying } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { HoldfastClient } from '../../../client/connect';
import { codeOf, messageOf } from '../../../contract/errors';
import { whileOpen } from '../../../host/closed-connection';

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type Next = Parameters<Interceptor>[1];
type Call = ReturnType<Next>;

const never = new Promise<never>(() => undefined);

const description = temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
  ...{ execution: { workflowId: 'default/r1', runId: 'one' }, type: { name: 'agentRun' }, status: 1 },
  ...{ startTime: { seconds: 1, nanos: 0 }, historyLength: 1 },
});
const open = (): HoldfastClient => {
  const workflowService = {
    describeWorkflowExecution: async () => ({ workflowExecutionInfo: description }),
    getWorkflowExecutionHistory: (request: { readonly waitNewEvent?: boolean }) =>
      request.waitNewEvent === undefined ? Promise.resolve({ history: { events: [] } }) : never,
    getWorkflowExecutionHistoryReverse: () => never,
    listWorkflowExecutions: () => never,
    startWorkflowExecution: () => never,
  };
  const through = (_: unknown, run: () => unknown): unknown => run();
  const connection = {
    plugins: [],
    options: { address: '127.0.0.1:7233' },
    workflowService,
    withDeadline: through,
    withAbortSignal: through,
    withMetadata: through,
    ensureConnected: async () => undefined,
  };
  return new HoldfastClient({ connection: connection as never, namespace: 'default', close: async () => undefined });
};

it.each<[string, (client: HoldfastClient) => Promise<unknown>]>([
  ['a result', (client) => client.run('r1').result()],
  ['an outcome', (client) => client.run('r1').outcome()],
  ['a view', (client) => client.run('r1').view()],
  ['the next event', (client) => client.run('r1').events().next()],
  ['an answer', (client) => client.run('r1').resume('i', 1)],
  ['an upgrade', (client) => client.run('r1').upgrade()],
  ['a start', (client) => client.start('plain', 'Hi')],
  ['a list', (client) => client.list()],
])('what is waited for when a client is closed is refused at once, with a code: %s', async (_, ask) => {
  const client = open();
  const waiting = ask(client).then(
    () => 'came',
    (error: unknown) => [codeOf(error), messageOf(error)],
  );
  await new Promise(setImmediate);
  await client.close();
  expect(await waiting).toEqual(['client-closed', 'This client is closed.']);
});

const noCall = (): void => undefined;

it('a request that a timer makes again ends as cancelled, and does not throw, when the connection was closed meanwhile', () => {
  jest.useFakeTimers();
  let isOpen = true;
  let asked = 0;
  const next: Next = () => {
    if (!isOpen) throw new Error('Channel has been shut down');
    asked += 1;
    return {
      start: (metadata, listener) => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: 14, details: 'nobody', metadata });
      },
      sendMessage: noCall,
      sendMessageWithContext: noCall,
      startRead: noCall,
      halfClose: noCall,
      cancelWithStatus: noCall,
      getPeer: () => '',
    } as Partial<Call> as Call;
  };
  const inner = retrying({ retryableDecider: (_, { code }) => Number(code) === 14, delayFunction: () => 100 });
  const metadata = { clone: () => metadata } as never;
  const codes: number[] = [];
  whileOpen(() => isOpen, inner)({ method_definition: {} } as never, next).start(metadata, {
    onReceiveMetadata: noCall,
    onReceiveMessage: noCall,
    onReceiveStatus: ({ code }) => void codes.push(code),
  });
  jest.advanceTimersByTime(100);
  expect([asked, codes]).toEqual([2, []]);
  isOpen = false;
  jest.advanceTimersByTime(100);
  expect([asked, codes]).toEqual([2, [1]]);
  jest.useRealTimers();
});
