import type { HoldfastClient } from '../../client/index';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';
import { parse } from '../http/parse-request';
import { threadOf } from '../projection/thread';
import { cancelTask } from './cancel';
import { A2aError } from './errors';
import { listTasks } from './list';
import type { RpcRequest } from './request';
import { CancelParams, GetParams, ListParams, SendParams, SubscribeParams, speakerIn } from './request';
import { send } from './send';
import { TaskReading } from './task-reading';
import { taskRefOf } from './task-ref';
import type { A2aFrame } from './wire';

export interface A2aCaller {
  readonly client: HoldfastClient;
  readonly agent: string;
  /** The client has gone, or the service closes. Nothing of a task stops. */
  readonly signal: AbortSignal;
  /** How long an answer may wait for the Temporal server. */
  readonly patienceMs: number;
}

/** What a method gives: one result, or the frames of a stream. */
export type MethodResult = { readonly result: unknown } | { readonly frames: AsyncGenerator<A2aFrame, void, void> };

/** Carries out a request. What is wrong with it is thrown before anything is shown. */
export async function carryOut({ method, params }: RpcRequest, caller: A2aCaller): Promise<MethodResult> {
  const known = methods.get(method);
  if (known !== undefined) return known(params, caller);
  const message = `There is no method ${shown(method)}. A2A 1.0 has ${[...methods.keys()].slice(0, 6).join(', ')}.`;
  throw new A2aError('METHOD_NOT_FOUND', 'protocol-unsupported', message);
}

type Method = (params: unknown, caller: A2aCaller) => Promise<MethodResult>;

const noPush: Method = () =>
  Promise.reject(new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'protocol-unsupported', 'The service sends no push notifications.'));

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['SendStreamingMessage', sendStreaming],
  ['GetTask', getTask],
  ['ListTasks', list],
  ['CancelTask', cancel],
  ['SubscribeToTask', subscribe],
  ['CreateTaskPushNotificationConfig', noPush],
  ['GetTaskPushNotificationConfig', noPush],
  ['ListTaskPushNotificationConfigs', noPush],
  ['DeleteTaskPushNotificationConfig', noPush],
  [
    'GetExtendedAgentCard',
    () => Promise.reject(new A2aError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'protocol-unsupported', 'The agent has no further card.')),
  ],
]);

async function sendMessage(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { message, configuration } = await sendable(params, caller);
  const { returnImmediately = false, historyLength } = configuration ?? {};
  const reading = await send({ ...caller, message, isStreamed: false });
  if (!returnImmediately) await reading.settled();
  return { result: { task: reading.fold.task(defined({ historyLength })) } };
}

async function sendStreaming(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { message, configuration } = await sendable(params, caller);
  return { frames: framesOf(await send({ ...caller, message, isStreamed: true }), configuration?.historyLength) };
}

async function sendable(params: unknown, caller: A2aCaller): Promise<SendParams> {
  const read = parse(SendParams, params, '`params`');
  if (read.configuration?.taskPushNotificationConfig !== undefined) await noPush(params, caller);
  return read;
}

async function getTask(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { id, historyLength } = parse(GetParams, params, '`params`');
  const { fold } = await inTime(caller, () => open(id, caller));
  return { result: fold.task(defined({ historyLength })) };
}

async function list(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { client, agent, signal } = caller;
  const asked = parse(ListParams, params, '`params`');
  return { result: await inTime(caller, () => listTasks(client, agent, asked, signal)) };
}

/** What only reads waits no longer for the Temporal server than other routes do. */
function inTime<T>({ client, patienceMs }: A2aCaller, read: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + patienceMs, read);
}

async function cancel(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { id, metadata } = parse(CancelParams, params, '`params`');
  const { fold } = await cancelTask({ ...caller, id, who: speakerIn(metadata) });
  return { result: fold.task() };
}

async function subscribe(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { id } = parse(SubscribeParams, params, '`params`');
  const reading = await open(id, caller);
  if (reading.fold.isOver)
    throw new HoldfastError('task-ended', `The task ${shown(id)} is over: ${reading.fold.state}. Read it with GetTask.`);
  return { frames: framesOf(reading, undefined) };
}

function open(id: string, { client, agent, signal }: A2aCaller): Promise<TaskReading> {
  const ref = taskRefOf(id);
  return TaskReading.open(threadOf(client, agent, ref.contextId), ref, signal);
}

async function* framesOf(reading: TaskReading, historyLength: number | undefined): AsyncGenerator<A2aFrame, void, void> {
  yield { task: reading.fold.task(defined({ historyLength })) };
  yield* reading.updates();
}
