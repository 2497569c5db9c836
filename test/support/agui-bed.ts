import type { Hono } from 'hono';
import type { HoldfastClient } from '../../client/index';
import type { Json } from '../../contract/messages/messages';
import { createLogger } from '../../host/logger';
import type { AguiEvent } from '../../service/agui/events';
import type { AguiOptions } from '../../service/agui/options';
import { createApp } from '../../service/http/app';
import type { AgentSummary } from '../../service/project/load-project';
import type { TestConversation } from '../../testing/index';
import { clientWith } from './service-app';

export const quietLogger = createLogger({ level: 'silent' });

let runs = 0;

export function aguiApp(chat: TestConversation, agui: AguiOptions = {}, agent = 'agent', facts: AgentFacts = {}): Hono {
  return aguiAppOf(clientWith({ conversation: () => chat, run: () => chat.run }), agui, agent, facts);
}

export type AgentFacts = Pick<AgentSummary, 'tools' | 'clientTools'>;

export function aguiAppOf(client: HoldfastClient, agui: AguiOptions = {}, name = 'agent', facts: AgentFacts = {}): Hono {
  return createApp({ client, agents: [{ name, description: 'Under test.', takesJob: false, ...facts }], logger: quietLogger, agui });
}

export interface AguiThread {
  readonly app: Hono;
  readonly path: string;
  post(fields: Readonly<Record<string, Json>>, route?: string): Promise<AguiAnswer>;
  say(text: string): Promise<AguiAnswer>;
  saying(text: string): { readonly app: Hono; readonly path: string; readonly body: string };
}

export function aguiThread(app: Hono, agent: string, threadId: string): AguiThread {
  const path = `/agui/${agent}`;
  const post: AguiThread['post'] = (fields, route = '') => postTo(app, `${path}${route}`, inputWith({ threadId, ...fields }));
  const said = (text: string): Readonly<Record<string, Json>> => ({ messages: [{ id: `u${++runs}`, role: 'user', content: text }] });
  return {
    app,
    path,
    post,
    say: (text) => post(said(text)),
    saying: (text) => ({ app, path, body: JSON.stringify(inputWith({ threadId, ...said(text) })) }),
  };
}

export interface AguiAnswer {
  readonly status: number;
  readonly events: readonly AguiEvent[];
  readonly text: string;
  readonly headers: Headers;
}

export async function postTo(app: Hono, path: string, body: Json | string): Promise<AguiAnswer> {
  const response = await app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const events = response.headers.get('content-type') === 'text/event-stream' ? eventsIn(text) : [];
  return { status: response.status, events, text, headers: response.headers };
}

export function eventsIn(text: string): readonly AguiEvent[] {
  return text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [JSON.parse(frame.slice(6)) as AguiEvent] : []));
}

export function inputWith(fields: Readonly<Record<string, Json>>): Json {
  const given = { state: {}, tools: [], context: [], forwardedProps: {}, messages: [], protocolVersion: '1.0' };
  return { threadId: 'test', runId: `run-${++runs}`, ...given, ...fields };
}

export function saying(content: string, id = `u${++runs}`): Json {
  return inputWith({ messages: [{ id, role: 'user', content }] });
}

export function shortOf(event: AguiEvent): string {
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_CONTENT':
    case 'TOOL_CALL_ARGS':
      return `${event.type} ${event.delta}`;
    case 'TOOL_CALL_START':
      return `${event.type} ${event.toolCallName}`;
    case 'TOOL_CALL_RESULT':
      return `${event.type} ${event.content}`;
    case 'RUN_FINISHED':
      return `${event.type} ${event.outcome?.type ?? ''}`.trim();
    case 'RUN_ERROR':
      return `${event.type} ${event.code ?? ''}: ${event.message}`;
    default:
      return event.type;
  }
}

type Opening = 'TEXT_MESSAGE' | 'TOOL_CALL' | 'REASONING_MESSAGE' | 'STEP' | 'SUBAGENT';

/** Throws where AG-UI 1.0's client would. */
export function checkStream(events: readonly AguiEvent[]): void {
  const open = new Set<string>();
  events.forEach((event, position) => {
    const { type } = event;
    const fail = (why: string): never => {
      throw new Error(`${why}: ${position} ${JSON.stringify(event)}`);
    };
    if ((position === 0) !== (type === 'RUN_STARTED') && !(position === 0 && type === 'RUN_ERROR')) fail('RUN_STARTED is not first');
    const isLast = position === events.length - 1;
    if (isLast !== (type === 'RUN_FINISHED' || type === 'RUN_ERROR')) fail('the last event is not last');
    if (Object.values(event).includes(null)) fail('a member is null');
    const [, kind, phase] = /^(TEXT_MESSAGE|TOOL_CALL|REASONING_MESSAGE|STEP|SUBAGENT)_(.*)$/.exec(type) ?? [];
    if (kind === undefined || phase === 'RESULT') return;
    const all = event as { messageId?: string; toolCallId?: string; stepName?: string; subagentRunId?: string };
    const id = {
      TEXT_MESSAGE: all.messageId,
      REASONING_MESSAGE: all.messageId,
      TOOL_CALL: all.toolCallId,
      STEP: all.stepName,
      SUBAGENT: all.subagentRunId,
    }[kind as Opening];
    const key = `${kind} ${id}`;
    if (phase === 'START' || phase === 'STARTED') {
      if (open.has(key)) fail('it is open');
      open.add(key);
      return;
    }
    if (!open.has(key)) fail('it is not open');
    if (phase === 'END' || phase === 'FINISHED' || phase === 'ERROR') open.delete(key);
  });
  if (events.at(-1)?.type === 'RUN_FINISHED' && open.size > 0) throw new Error(`Open at the end: ${[...open].join(', ')}`);
}
