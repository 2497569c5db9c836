import { authorWithRoles, isSameAuthor } from '../../contract/author';
import { nthSegment } from '../../contract/record/agent-paths';
import { defined } from '../../contract/defined';
import type { TurnStatus } from '../../contract/conversations';
import { titleOf } from '../../contract/conversations';
import { jsonSize, limits } from '../../contract/limits';
import type { Failure, Json, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { textOf, toolMessage } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { lessUsage } from '../../contract/usage';
import type { AgentEnd, AnyAgent, AgentDefinition } from '../define/definition';
import { failureOf, isCancellation } from '../effects/errors';
import { Frame } from '../effects/frames';
import { toolsForTurn, withClientTools } from '../run/client-tools';
import { closeCalls, rootConversation } from '../run/conversation';
import type { MessageInbox } from '../run/message-inbox';
import type { AgentPlace } from '../run/place';
import { forget, forgetInside } from '../run/place';
import { agentForRun } from '../run/run-options';
import { isEndOfTurn } from '../run/turn-stop';
import type { RunScope } from '../run/scope';
import type { AgentRecord, SharedMessage } from '../run/state';
import { starterOf } from '../run/state';
import { tellMessage } from '../turn/joined-messages';
import { pendingCallsOf } from '../turn/pending-calls';
import { freshRecord } from './chat';
import { isAlone } from './run-apart';
import { runAgent } from './run-agent';
import { refuseLostTransfer } from './team';

export async function runTurns(run: RunScope, root: AnyAgent, inbox: MessageInbox): Promise<AgentEnd> {
  const { state } = inbox;
  for (;;) {
    if (state.atWork !== true) {
      if (!(await mayBegin(run, inbox))) continue;
      if (state.ended !== undefined) return { output: { turns: state.turn, reason: state.ended.reason }, text: '' };
      run.cancels.at('between', { path: [root.name] });
      beginTurn(run, root, inbox);
    }
    await workOnTurn(run, root, inbox);
  }
}

/** False: the messages were withdrawn. */
async function mayBegin({ ports }: RunScope, inbox: MessageInbox): Promise<boolean> {
  if (!(await inbox.next())) return true;
  ports.beforeTurn?.();
  const checkpoint = ports.checkpoint();
  if (checkpoint !== undefined) await checkpoint;
  await inbox.room(() => inbox.queued);
  return inbox.isReady || inbox.state.ended !== undefined;
}

function beginTurn(run: RunScope, root: AnyAgent, inbox: MessageInbox): void {
  const { state } = inbox;
  state.turn += 1;
  state.atWork = true;
  state.usage = run.state.usage;
  delete state.idleUntil;
  state.writers = [];
  const messages = inbox.queued;
  const [first] = messages as readonly [(typeof messages)[number]];
  const title = state.title ?? titleOf(first.message);
  const isNew = state.title === undefined && title !== undefined;
  if (isNew) state.title = title;
  const clientTools = toolsForTurn(messages, run.manifest);
  if (clientTools !== undefined) state.clientTools = clientTools;
  run.ports.emit({
    type: 'turn-start',
    turn: state.turn,
    ...(isNew ? { title } : {}),
    ...defined({ clientTools: clientTools?.map(({ name }) => name) }),
  });
  const { path } = placeOf(run, root, inbox);
  const said = messages.map(({ message }) => message);
  if (isAlone(root)) startRecord(run, root as AgentDefinition, state.window, said);
  else startConversation(run, state.window, said);
  const author = first.editor ?? authorWithRoles(first);
  if (isSameAuthor(author, starterOf(run.state))) delete state.author;
  else state.author = author;
  inbox.take(messages);
  for (const message of messages) tellMessage(run.ports, { agent: root.name, runPath: path, turn: state.turn }, message);
}

/** A root that is alone keeps its record and goes on counting its iterations, so no address repeats. */
function placeOf(run: RunScope, root: AnyAgent, { state }: MessageInbox): AgentPlace {
  const path = [isAlone(root) ? root.name : nthSegment(root.name, state.turn)];
  const frame = new Frame(run.journal, [nthSegment(root.name, state.turn)]);
  return isAlone(root) ? { path, frame } : { path, frame, branch: { conversation: rootConversation, path: '' } };
}

function startRecord(run: RunScope, root: AgentDefinition, window: number, said: readonly StoredMessage[]): void {
  const { state } = run;
  const before = state.agents[root.name];
  const agent = withClientTools(agentForRun(root, runOptionsOf(state.options, root.name)), run);
  const messages = [...windowOf(before?.messages ?? [], window, (message) => message), ...said];
  state.agents[root.name] = { ...freshRecord(agent, [root.name], messages, state), turn: (before?.turn ?? 0) + 1, begins: true };
}

function startConversation({ state }: RunScope, window: number, said: readonly StoredMessage[]): void {
  const before = windowOf(state.sharedMessages?.[rootConversation] ?? [], window, ({ message }) => message);
  const entries = said.map((message): SharedMessage => ({ agent: null, branch: '', message }));
  state.sharedMessages = { ...state.sharedMessages, [rootConversation]: [...before, ...entries] };
}

/** The system messages before all turns, and the last messages from a user message on. */
function windowOf<Item>(items: readonly Item[], window: number, messageOf: (item: Item) => StoredMessage): readonly Item[] {
  const isOfSystem = (item: Item | undefined): boolean => item !== undefined && messageOf(item).role === 'system';
  let head = 0;
  while (isOfSystem(items[head])) head += 1;
  let bytes = 0;
  let first = items.length;
  for (let position = items.length - 1; position >= head && items.length - position <= window; position--) {
    bytes += jsonSize(messageOf(items[position] as Item));
    if (bytes > limits.window) break;
    if (messageOf(items[position] as Item).role === 'user' || position === head) first = position;
  }
  if (first === items.length) return [...items.slice(0, head), ...endOfTurn(items.slice(head), window, messageOf)];
  return first === head ? items : [...items.slice(0, head), ...items.slice(first)];
}

/** For a turn larger than the window: its first and last messages, never a result without its call. */
function endOfTurn<Item>(items: readonly Item[], window: number, messageOf: (item: Item) => StoredMessage): readonly Item[] {
  const begin = items.map((item) => messageOf(item).role).lastIndexOf('user');
  const begins = items.slice(Math.max(0, begin), begin + 1);
  let bytes = begins.reduce((sum, item) => sum + jsonSize(messageOf(item)), 0);
  let first = items.length;
  for (let position = items.length - 1; position > begin && items.length - position < window; position--) {
    bytes += jsonSize(messageOf(items[position] as Item));
    if (bytes > limits.window) break;
    if (messageOf(items[position] as Item).role !== 'tool') first = position;
  }
  return [...begins, ...items.slice(first)];
}

async function workOnTurn(run: RunScope, root: AnyAgent, inbox: MessageInbox): Promise<void> {
  const turn = { root, inbox, place: placeOf(run, root, inbox) };
  try {
    const end = await runAgent(run, root, turn.place);
    refuseLostTransfer(end, root);
    endTurn(run, turn, { status: inbox.state.isCut === true ? 'stopped' : 'completed', output: end.output });
  } catch (error) {
    if (isEndOfTurn(run, error)) return endTurn(run, turn, { status: 'stopped' });
    // Only a cancel of the run ends the conversation.
    if (run.ports.cancelled || run.stoppedBy !== undefined || run.ports.isTrial === true || isCancellation(error)) throw error;
    run.ports.threw?.(error, { agent: root.name });
    endTurn(run, turn, { status: 'failed', error: failureOf(error) });
  }
}

type TurnAtWork = { readonly root: AnyAgent; readonly inbox: MessageInbox; readonly place: AgentPlace };

interface TurnResult {
  readonly status: TurnStatus;
  readonly output?: Json;
  readonly error?: Failure;
}

function endTurn(run: RunScope, { root, inbox, place }: TurnAtWork, result: TurnResult): void {
  const { state } = run;
  const record = state.agents[root.name];
  // The next message begins a new turn instead of a retry.
  place.frame.forget();
  forgetInside(run, place);
  forget(run, place);
  if (isAlone(root) && record !== undefined) state.agents[root.name] = restingRecord(run, record, result.status);
  else if (result.status !== 'completed') closeCalls(run, rootConversation, (call) => resultOfLost(run, call, result.status));
  const last = isAlone(root) ? record?.messages.at(-1) : state.sharedMessages?.[rootConversation]?.at(-1)?.message;
  const { state: conversation } = inbox;
  inbox.rest();
  const { output } = result;
  run.ports.emit({
    type: 'turn-end',
    turn: conversation.turn,
    status: result.status,
    usage: lessUsage(state.usage, conversation.usage),
    ...(result.status !== 'completed' || (last !== undefined && textOf(last) === output) ? {} : defined({ output })),
    ...defined({ error: result.error, idleUntil: conversation.idleUntil }),
  });
  delete conversation.atWork;
  delete conversation.isCut;
  delete conversation.clientTools;
  delete conversation.stops;
}

function restingRecord(run: RunScope, record: AgentRecord, status: TurnStatus): AgentRecord {
  const lost = pendingCallsOf(record.messages).map((call) => resultOfLost(run, call, status));
  return { ...record, messages: [...record.messages, ...lost] };
}

function resultOfLost({ ports }: RunScope, call: ToolCall, status: TurnStatus): StoredMessage {
  const how = status === 'stopped' ? 'was stopped' : 'ended';
  return toolMessage(ports.uuid(), call, `The turn ${how} before this call had a result.`, { isError: true });
}
