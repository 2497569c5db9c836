import type { Hono } from 'hono';
import type { ClientTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { JsonObject } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import type { HoldfastClient } from '../../client/index';
import type { Entered } from '../access/gate';
import type { AppParts } from '../parts';
import { askedAgent } from '../http/asked-agent';
import { current } from '../http/current';
import { dataFrame, frameStream } from '../http/event-stream';
import { Routes, events, ok } from '../http/routes';
import type { AgentSummary } from '../project/load-project';
import type { Wish } from './input';
import { CancelInput, RunAgentInput, toolsIn, wishOf } from './input';
import type { ThreadPlan } from './plan';
import { planOf } from './plan';
import { RunHooks } from './run-hooks';
import { runThread } from './run-thread';
import { logBetween } from '../projection/thread-log';
import type { Thread } from '../projection/thread';
import { threadOf } from '../projection/thread';
import { Translator } from './translate';

/** Clients post all messages of a thread each time. */
const bodyLimit = 16 * 1024 * 1024;

/** Errors in the stream, so that clients keep the open interrupts. Other errors are a status. */
const toldInStream: readonly ErrorCode[] = [
  'interrupts-open',
  'interrupt-unknown',
  'interrupt-answered',
  'interrupt-withdrawn',
  'interrupt-expired',
  'answer-invalid',
];

/** AG-UI: an endpoint for each agent. A thread is a conversation, a run is a turn. */
export function aguiRoutes(parts: AppParts): Hono {
  const streamed = {
    may: 'runs:read',
    body: RunAgentInput,
    bodyLimit,
    answers: { 200: { says: 'Events of AG-UI.', type: events } },
  } as const;
  const stop = ok('Stopped', 'It is asked to stop.');
  return new Routes('Protocols')
    .add(
      'GET /:agent',
      { may: 'runs:read', summary: 'AG-UI: the capabilities of an agent.', answers: ok('Protocol', 'Capabilities.') },
      ({ agent }) => capabilitiesOf(askedAgent(parts, agent, undefined)),
    )
    .add('POST /:agent', { summary: 'AG-UI: runs an agent.', ...streamed }, async ({ agent, body: input, ...caller }) => {
      const { name, clientTools } = askedAgent(parts, agent, undefined);
      const wish = wishOf(input);
      await checkAuthor(caller.client, input, wish);
      return shown(parts, { caller, agent: name, input, wish, tools: wish.type === 'say' ? toolsIn(input, clientTools) : [] });
    })
    .add(
      'POST /:agent/connect',
      { summary: 'AG-UI: shows a thread, and what goes on in it.', ...streamed },
      ({ agent, body: input, ...caller }) => {
        const { name } = askedAgent(parts, agent, undefined);
        return shown(parts, { caller, agent: name, input, wish: { type: 'history' }, tools: [] });
      },
    )
    .add(
      'POST /:agent/cancel',
      { may: 'runs:control', summary: 'AG-UI: stops the turn at work.', body: CancelInput, answers: stop },
      async ({ agent, body, client }) => {
        const { name } = askedAgent(parts, agent, undefined);
        const { threadId, forwardedProps } = body;
        await stopTurn(threadFor(client, name, threadId), defined({ by: forwardedProps?.by }));
        return { threadId };
      },
    ).app;
}

function capabilitiesOf({ name, description, tools = [], clientTools }: AgentSummary): JsonObject {
  return {
    identity: { name, description, type: 'holdfast' },
    transport: { streaming: true, websocket: false, httpBinary: false, pushNotifications: false, resumable: true },
    tools: {
      supported: true,
      parallelCalls: true,
      clientProvided: clientTools !== undefined,
      items: tools.map((tool) => ({ name: tool })),
    },
    state: { snapshots: true, deltas: true, memory: true, persistentState: true },
    reasoning: { supported: true, streaming: true },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
  };
}

const patienceMs = 5000;

/** After the cancel of a waiting turn a page may send its next message at once, so the answer waits for the turn's end. */
async function stopTurn(thread: Thread, who: { readonly by?: string }): Promise<void> {
  const view = await thread.view();
  await thread.stop(who);
  if (view?.status !== 'waiting') return;
  const events = thread.events({ from: view.nextOffset, until: 'end', signal: AbortSignal.timeout(patienceMs) });
  for await (const { type } of events) if (type === 'turn-end') return;
}

function threadFor(client: HoldfastClient, agent: string, threadId: string): Thread {
  if (isRunId(threadId)) return threadOf(client, agent, threadId);
  throw new HoldfastError(
    'request-invalid',
    `threadId is "${threadId}". Use 1 to 200 letters, digits and . _ - : @, starting with a letter or digit.`,
  );
}

/** Before the stream begins, so that the refusal has a status. */
async function checkAuthor(client: HoldfastClient, { forwardedProps }: RunAgentInput, { type }: Wish): Promise<void> {
  const { by, roles } = forwardedProps ?? {};
  client.author(defined({ by, roles }));
  if (type !== 'history') await client.permit(type === 'say' ? 'runs:start' : 'runs:answer');
}

interface Asked {
  readonly caller: Entered;
  readonly agent: string;
  readonly input: RunAgentInput;
  readonly wish: Wish;
  readonly tools: readonly ClientTool[];
}

async function shown(parts: AppParts, asked: Asked): Promise<Response> {
  const { logger, closing } = parts;
  const { agent, input, tools, caller } = asked;
  const { client, isKnown } = caller;
  const thread = threadFor(client, agent, input.threadId);
  const plan = await plannedFor(thread, asked, closing);
  const options = current(parts.agui) ?? {};
  const context = { agent, threadId: input.threadId, runId: input.runId };
  const translator = new Translator(options, context, logger);
  const hooks = new RunHooks(options.hooks ?? [], context, translator, logger);
  return frameStream((signal) => runThread({ thread, input, tools, plan, translator, hooks, signal }), {
    ...parts,
    isKnown,
    frameOf: dataFrame,
    ...(options.stopWhenGone === true ? { onGone: () => void thread.stop().catch(() => undefined) } : {}),
  });
}

/** Throws before the stream, or returns a function that throws in the stream. */
async function plannedFor(thread: Thread, { wish }: Asked, signal: AbortSignal): Promise<() => Promise<ThreadPlan>> {
  try {
    const view = await thread.view().catch((error: unknown) => {
      // A damaged history is shown as far as possible.
      if (wish.type === 'history' && codeOf(error) === 'run-unreadable') return undefined;
      throw error;
    });
    const plan = await planOf(wish, { view, log: () => logBetween(thread, 0, view?.nextOffset ?? 0, signal) });
    return () => Promise.resolve(plan);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !toldInStream.includes(code)) throw error;
    return () => Promise.reject(error);
  }
}
