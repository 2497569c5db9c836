import type { z } from 'zod';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { shown } from '../../contract/shown';
import type { PushedTask } from '../../contract/task-push';
import { parse } from '../http/parse-request';
import { keptTimeout } from '../kept-timeout';
import { threadOf } from '../projection/thread';
import type { A2aCaller } from './caller';
import { A2aError, asKind } from './errors';
import { listTasks } from './list';
import { checkedConfig, configUnknown, notSupported, shownConfig } from './push/targets';
import type { RpcRequest } from './request';
import {
  CancelParams,
  GetParams,
  ListParams,
  ListPushParams,
  PushParams,
  SendParams,
  SetPushParams,
  SubscribeParams,
  speakerIn,
} from './request';
import { send } from './send';
import { TaskReading, lookFor } from './task-reading';
import { taskRefOf } from './task-ref';
import type { A2aFrame } from './wire';

type MethodResult = { readonly result: unknown } | { readonly frames: AsyncGenerator<A2aFrame, void, void> };

/** Throws a request's errors before the stream begins. */
export async function carryOut({ method, params }: RpcRequest, caller: A2aCaller): Promise<MethodResult> {
  const known = methods.get(method);
  if (known !== undefined) return known(params, caller);
  const message = `There is no method ${shown(method)}. A2A 1.0 has ${[...methods.keys()].slice(0, 6).join(', ')}.`;
  throw new A2aError('METHOD_NOT_FOUND', 'protocol-unsupported', message);
}

type Method = (params: unknown, caller: A2aCaller) => Promise<MethodResult>;

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['SendStreamingMessage', sendStreaming],
  ['GetTask', getTask],
  ['ListTasks', list],
  ['CancelTask', cancel],
  ['SubscribeToTask', subscribe],
  [
    'CreateTaskPushNotificationConfig',
    ofPush(SetPushParams, async (given, task, { client, pushTo }) => {
      const config = checkedConfig(given, pushTo);
      await client.permit('runs:start');
      await client.pushes.set(task, config);
      return shownConfig(task, config);
    }),
  ],
  [
    'GetTaskPushNotificationConfig',
    ofPush(PushParams, async ({ id }, task, { client }) => {
      const config = (await client.pushes.list(task)).find((one) => one.id === id);
      if (config === undefined) throw configUnknown(id);
      return shownConfig(task, config);
    }),
  ],
  [
    'ListTaskPushNotificationConfigs',
    ofPush(ListPushParams, async (_, task, { client }) => ({
      configs: (await client.pushes.list(task)).map((config) => shownConfig(task, config)),
    })),
  ],
  [
    'DeleteTaskPushNotificationConfig',
    ofPush(PushParams, async ({ id }, task, { client }) => {
      await client.permit('runs:start');
      await client.pushes.remove(task, id);
      return {};
    }),
  ],
  [
    'GetExtendedAgentCard',
    () => Promise.reject(new A2aError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'protocol-unsupported', 'The agent has no further card.')),
  ],
]);

function ofPush<Params extends { readonly taskId: string }>(
  schema: z.ZodType<Params>,
  act: (params: Params, task: PushedTask, caller: A2aCaller) => Promise<unknown>,
): Method {
  return async (given, caller) => {
    if (caller.pushTo.length === 0) throw notSupported();
    const params = parse(schema, given, '`params`');
    return inTime(caller, async () => {
      const ref = taskRefOf(params.taskId);
      await lookFor(threadOf(caller.client, caller.agent, ref.contextId), ref);
      return { result: await act(params, { agent: caller.agent, ...ref }, caller) };
    });
  };
}

async function sendMessage(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { reading, configuration } = await sent(params, caller, false);
  const { returnImmediately = false, historyLength } = configuration ?? {};
  if (!returnImmediately) await reading.settled();
  return { result: { task: reading.fold.task(defined({ historyLength })) } };
}

async function sendStreaming(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { reading, configuration } = await sent(params, caller, true);
  return { frames: framesOf(reading, configuration?.historyLength) };
}

interface Sent extends Pick<SendParams, 'configuration'> {
  readonly reading: TaskReading;
}

async function sent(params: unknown, caller: A2aCaller, isStreamed: boolean): Promise<Sent> {
  const { message, metadata, configuration } = parse(SendParams, params, '`params`');
  const given = configuration?.taskPushNotificationConfig;
  const config = given === undefined ? undefined : checkedConfig(given, caller.pushTo);
  const reading = await send({ ...caller, message: { ...message, metadata: { ...metadata, ...message.metadata } }, isStreamed });
  if (config !== undefined) await caller.client.pushes.begin({ agent: caller.agent, ...reading.fold.ref }, config);
  return { reading, configuration };
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

function inTime<T>({ client, patienceMs }: A2aCaller, read: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + patienceMs, read);
}

const cancelMs = 5000;

/** Withdraws a message from the queue, or stops the turn, even a waiting turn. */
async function cancel(params: unknown, caller: A2aCaller): Promise<MethodResult> {
  const { id, metadata } = parse(CancelParams, params, '`params`');
  const { thread, fold } = await open(id, caller);
  if (fold.isOver) throw new A2aError('TASK_NOT_CANCELABLE', 'task-ended', `The task "${id}" is over: ${fold.state}.`);
  if (fold.turn === undefined) {
    await thread.withdraw(fold.ref.message).catch(notCancelable);
    return { result: (await open(id, caller)).fold.task() };
  }
  await thread.stop(speakerIn(metadata)).catch(notCancelable);
  const signal = AbortSignal.any([caller.signal, keptTimeout(cancelMs)]);
  const stopped = await open(id, { ...caller, signal });
  return { result: (await stopped.settled()).fold.task() };
}

function notCancelable(error: unknown): void {
  const code = codeOf(error);
  throw code === 'turn-unknown' || code === 'message-unknown' ? asKind('TASK_NOT_CANCELABLE', error) : error;
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
