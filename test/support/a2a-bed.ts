import { setImmediate } from 'node:timers/promises';
import type { Client } from '@a2a-js/sdk/client';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { Part, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import type { Hono } from 'hono';
import { messageFate } from '../../client/conversations/conversation';
import { defined } from '../../contract/defined';
import type { RunEvent, RunView } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import type { TestConversation } from '../../testing/index';
import { appOn } from './service-app';

/** Ends at the last event, because a conversation in memory would wait for work. */
async function* logSoFar({ run }: TestConversation): AsyncGenerator<readonly RunEvent[]> {
  const { nextOffset } = await run.view();
  const log: RunEvent[] = [];
  if (nextOffset === 0) return;
  for await (const event of run.events()) if (log.push(event) === nextOffset) break;
  yield log;
}

export function a2aApp(chat: TestConversation, closing?: AbortSignal, inputSchema?: Json): Hono {
  const served = Object.create(chat, { fateOf: { value: (id: string) => messageFate(logSoFar(chat), id) } }) as TestConversation;
  // A conversation in memory takes a message a moment after the receipt.
  const view = (): Promise<RunView> => setImmediate().then(() => chat.run.view());
  const run = Object.create(chat.run, { view: { value: view } }) as TestConversation['run'];
  const agents = [
    { name: 'agent', description: 'Under test.', takesJob: inputSchema !== undefined, ...defined({ inputSchema }) },
    { name: 'other', description: 'Another one.', takesJob: false },
  ];
  return appOn({ conversation: () => served, run: () => run }, { agents, ...defined({ closing }) });
}

export async function a2aClient(fetchImpl: typeof fetch, base: string): Promise<Client> {
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
  return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })], cardResolver }).createFromUrl(base);
}

export const clientOf = (app: Hono): Promise<Client> =>
  a2aClient(async (url, init) => app.request(url, init), 'http://localhost/a2a/agent/');

export const text = (value: string): Part => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });
export const data = (value: Json): Part => ({ content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' });

let messages = 0;

export function saying(
  said: string | readonly Part[],
  more: Partial<SendMessageRequest['message']> = {},
  returnImmediately = false,
): SendMessageRequest {
  const parts = typeof said === 'string' ? [text(said)] : [...said];
  const empty = { contextId: 'test', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  return {
    tenant: '',
    message: { messageId: `m${++messages}`, role: Role.ROLE_USER, parts, ...empty, ...more },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  };
}

export const stateOf = ({ status }: Pick<Task, 'status'>): string => (TaskState[status?.state ?? 0] ?? '').slice('TASK_STATE_'.length);

export const askedBy = ({ status }: Pick<Task, 'status'>): readonly Asked[] =>
  status?.message?.parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value as Asked] : [])) ?? [];

export interface Asked {
  readonly interruptId: string;
  readonly kind: string;
  readonly tool?: string;
  readonly input?: Json;
  readonly answerSchema?: Json;
}

export const textsOf = ({ artifacts }: Pick<Task, 'artifacts'>): readonly string[] => artifacts.map(({ parts }) => textIn(parts));

export const textIn = (parts: readonly Part[]): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

export async function told(stream: AsyncIterable<StreamResponse>): Promise<{ readonly task: Task; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  let task: Task | undefined;
  for await (const { payload } of stream) {
    if (payload?.$case === 'task' && task === undefined) task = payload.value;
    else if (payload?.$case === 'statusUpdate') lines.push(stateOf(payload.value));
    else if (payload?.$case === 'artifactUpdate') {
      const { append, lastChunk, artifact } = payload.value;
      lines.push(`${append ? '+' : '='}${lastChunk ? '.' : ''} ${textIn(artifact?.parts ?? [])}`.trim());
    } else throw new Error(`Not in a stream of a task: ${JSON.stringify(payload)}`);
  }
  if (task === undefined) throw new Error('The stream shows no task.');
  return { task, lines };
}

export async function rpc(app: Hono, method: string, params: unknown, headers: Readonly<Record<string, string>> = {}) {
  return post(app, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }), headers);
}

export async function post(app: Hono, body: string, headers: Readonly<Record<string, string>> = {}, agent = 'agent') {
  const response = await app.request(`/a2a/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const answered: unknown = await response.json();
  return { status: response.status, body: answered as RpcBody };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type RpcBody = any;
