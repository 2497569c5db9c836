import type { MaybePromise } from '../../contract/maybe-promise';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { DeferredTools } from '../../contract/manifest';
import type { Failure, Json, Message, StoredMessage } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { same, withChange } from '../../contract/middleware-changes';
import { append } from '../run/conversation';
import { hookContext } from './context';
import type { Frame } from '../effects/frames';
import { isPromise } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import type { AgentState, Ending, RunSetup } from '../define/middleware';
import type { AgentScope } from '../run/scope';
import type { AgentRecord } from '../run/state';
import { shownState } from './shown-state';
import { ensuredOf } from '../run/ensured';
import { exitTool } from '../define/transfer-names';
import { storedMessage, storedMessages } from '../effects/transcript';
import { blame, errorOf, isCancellation, labelOf } from '../effects/errors';

type StateHook = 'beforeModelRewriteState' | 'afterModelRewriteState' | 'afterToolCalls';

type HookOf = Pick<MiddlewareChange, 'middleware' | 'hook'>;

/** Recorded as the result of the hook's frame. */
interface HookResult extends Partial<Pick<AgentRecord, 'messages' | 'tools' | 'instructions' | 'returnDirectly' | 'deferred'>> {
  readonly values?: Readonly<Record<string, Json>>;
  readonly answer?: GivenAnswer;
  readonly append?: readonly StoredMessage[];
}

interface GivenAnswer {
  readonly message: StoredMessage;
  readonly isNew: boolean;
}

export interface HookAnswer extends GivenAnswer {
  readonly middleware: string;
}

export async function runStateHooks(hook: StateHook, scope: AgentScope, iteration: Frame): Promise<HookAnswer | undefined> {
  let answer: HookAnswer | undefined;
  for (const middleware of scope.agent.middleware) {
    if (middleware[hook] === undefined) continue;
    const of = { middleware: middleware.name, hook };
    const running = runHook(
      of,
      iteration,
      (frame) => middleware[hook]?.(shownState(scope), hookContext(scope, frame)),
      (update) => checkedUpdate(update, of, scope),
    );
    const result = isPromise(running) ? await running : running;
    applyResult(scope, result, of);
    if (result.answer !== undefined) answer ??= { ...result.answer, middleware: middleware.name };
  }
  return answer;
}

export async function runBeforeAgent(scope: AgentScope, setup: Frame): Promise<HookAnswer | undefined> {
  for (const middleware of scope.agent.middleware) {
    if (middleware.beforeAgent === undefined) continue;
    const { instructions, tools, returnDirectly } = scope.record;
    const of = { middleware: middleware.name, hook: 'beforeAgent' };
    const result = await runHook(
      of,
      setup,
      (frame) => middleware.beforeAgent?.(frozen({ instructions, tools, returnDirectly }), hookContext(scope, frame)),
      (update) => checkedUpdate(update, of, scope),
    );
    applyResult(scope, result, of);
    if (result.answer !== undefined) return { ...result.answer, middleware: middleware.name };
  }
  return undefined;
}

export async function runAfterAgent(scope: AgentScope, end: Frame): Promise<void> {
  for (const middleware of scope.agent.middleware) {
    if (middleware.afterAgent === undefined) continue;
    const of = { middleware: middleware.name, hook: 'afterAgent' };
    const result = await runHook(
      of,
      end,
      (frame) => middleware.afterAgent?.(shownState(scope), hookContext(scope, frame)),
      (update) => checkedAppend(update, of, scope),
    );
    appendShown(scope, result.append ?? [], middleware.name, end);
  }
}

export async function runAfterFailure(scope: AgentScope, failure: Failure, root: Frame): Promise<unknown> {
  const hooked = scope.agent.middleware.filter(({ afterFailure }) => afterFailure !== undefined);
  if (hooked.length === 0) return undefined;
  const frame = root.child('failure');
  let message = failure.message;
  for (const middleware of hooked) {
    const of = { middleware: middleware.name, hook: 'afterFailure' };
    try {
      const result = await runHook(
        of,
        frame,
        (inner) => middleware.afterFailure?.(failure, shownState(scope), hookContext(scope, inner)),
        (update) => checkedAppend(update, of, scope),
      );
      appendShown(scope, result.append ?? [], middleware.name, frame);
    } catch (error) {
      if (isCancellation(error)) throw error;
      message += ` Then: ${messageOf(error)}`;
    }
  }
  frame.close();
  return message === failure.message ? undefined : errorOf({ code: failure.code, message });
}

export function appendShown(scope: AgentScope, messages: readonly StoredMessage[], middleware: string, frame: Frame): void {
  const { run, agent, path, record, branch, isGroup = false } = scope;
  for (const message of messages) {
    // A continue-as-new in the setup keeps the message, and re-enters its code.
    if (!record.messages.some(({ id }) => id === message.id)) record.messages = [...record.messages, message];
    frame.once('event', () => {
      if (isGroup) run.ports.emit({ type: 'agent-message', agent: agent.name, runPath: path, message });
      else
        run.ports.emit({
          type: 'model-end',
          agent: agent.name,
          runPath: path,
          turn: record.turn,
          message,
          model: `middleware/${middleware}`,
        });
      if (branch !== undefined) append(run, branch, agent.name, message);
    });
  }
}

/** Hooks run in every iteration, so a hook that decides at once costs no promise. */
export function runHook<Update, Result>(
  of: HookOf,
  parent: Frame,
  call: (frame: Frame) => MaybePromise<Update>,
  checked: (update: Update) => Result,
): MaybePromise<Result> {
  const label = labelOf(of.hook, of.middleware);
  const name = `${of.hook}:${of.middleware}`;
  return parent.soon(name, () => {
    const frame = parent.child(name, { label });
    const fail = (error: unknown): never => {
      if (!frame.code.isHalted) frame.unwind();
      throw blame(error, label);
    };
    const close = (update: Update): Result => {
      try {
        const result = checked(update);
        frame.close();
        return result;
      } catch (error) {
        return fail(error);
      }
    };
    let update: MaybePromise<Update>;
    try {
      update = call(frame);
    } catch (error) {
      return fail(error);
    }
    return isPromise(update) ? frame.code.endOf(update).then(close, fail) : close(update);
  });
}

function applyResult(scope: AgentScope, result: HookResult, of: HookOf): void {
  const { record } = scope;
  noteChanges(record, result, of);
  const { answer: _, append: __, values, ...replaced } = result;
  const { messages } = replaced;
  if (messages !== undefined && record.answered !== undefined && isChangedBefore(record.answered.position, record.messages, messages))
    delete record.answered;
  Object.assign(record, replaced);
  if (values !== undefined) record.values = { ...record.values, ...values };
}

function noteChanges(record: AgentRecord, { messages, tools, instructions }: HookResult, of: HookOf): void {
  const changed = [
    ...(instructions === undefined || instructions === record.instructions ? [] : (['instructions'] as const)),
    ...(messages === undefined || sameIds(messages, record.messages) ? [] : (['messages'] as const)),
    ...(tools === undefined || same(tools, record.tools) ? [] : (['tools'] as const)),
  ];
  if (changed.length > 0) record.changes = withChange(record.changes ?? [], { ...of, changed });
}

function sameIds(one: readonly StoredMessage[], other: readonly StoredMessage[]): boolean {
  return one === other || (one.length === other.length && one.every(({ id }, position) => id === other[position]?.id));
}

function isChangedBefore(position: number, before: readonly StoredMessage[], after: readonly StoredMessage[]): boolean {
  return after.length < position || before.slice(0, position).some(({ id }, index) => after[index]?.id !== id);
}

function checkedUpdate(update: unknown, of: HookOf, scope: AgentScope): HookResult {
  if (update === undefined || update === null) return {};
  const label = labelOf(of.hook, of.middleware);
  if (typeof update !== 'object' || Array.isArray(update))
    throw new HoldfastError('hook-failed', `${label} returned ${typeof update}; return nothing or an object with what changes.`);
  const { messages, tools, values, instructions, returnDirectly, deferred, answer } = update as Partial<AgentState & RunSetup & Ending> & {
    values?: Record<string, Json>;
  };
  const stored = messages === undefined ? undefined : storedOf(messages, label, scope);
  return {
    ...defined({ messages: stored }),
    ...(tools === undefined ? {} : { tools: checkedTools(tools, label, scope) }),
    ...(values === undefined ? {} : { values: checkedValues(values, label) }),
    ...(instructions === undefined ? {} : { instructions: checkedText(instructions, label) }),
    ...(returnDirectly === undefined ? {} : { returnDirectly: checkedTools(returnDirectly, label, scope) }),
    ...(deferred === undefined ? {} : { deferred: checkedDeferred(deferred, label, scope) }),
    ...(answer === undefined ? {} : { answer: checkedAnswer(answer, stored?.[messages?.indexOf(answer) ?? -1], of, scope) }),
  };
}

function storedOf(messages: readonly Message[], label: string, scope: AgentScope): readonly StoredMessage[] {
  const { record, run } = scope;
  if (messages === record.messages) return record.messages;
  return storedMessages(messages, [...ensuredOf(scope).values(), ...record.messages], () => run.ports.uuid(), label);
}

function checkedAnswer(answer: Message, changed: StoredMessage | undefined, { hook, middleware }: HookOf, scope: AgentScope): GivenAnswer {
  const label = labelOf(hook, middleware);
  if (hook !== 'beforeAgent' && hook !== 'afterToolCalls')
    throw new HoldfastError('hook-failed', `${label} returned an answer; beforeAgent and afterToolCalls can end the agent by one.`);
  if (changed !== undefined) return { message: changed, isNew: false };
  const known = scope.record.messages.find(({ id }) => id === (answer as Partial<StoredMessage> | null)?.id);
  const message = storedMessage(answer, known, () => scope.run.ports.uuid(), `The answer of ${label}`);
  if (message !== known && message.role !== 'assistant')
    throw new HoldfastError('message-invalid', `The answer of ${label} is neither a message of the state nor one of the assistant.`);
  return { message, isNew: message !== known };
}

function checkedAppend(update: unknown, of: HookOf, scope: AgentScope): HookResult {
  const append = (update as { readonly append?: unknown } | null | undefined)?.append;
  if (append === undefined) return {};
  const label = labelOf(of.hook, of.middleware);
  const messages = storedMessages(append as readonly Message[], [], () => scope.run.ports.uuid(), label);
  if (messages.some(({ role }) => role !== 'assistant'))
    throw new HoldfastError('message-invalid', `${label} appended a message that is none of the assistant.`);
  return { append: messages };
}

function checkedTools(tools: unknown, label: string, scope: AgentScope): readonly string[] {
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === 'string'))
    throw new HoldfastError('hook-failed', `${label} returned tools that are no list of names.`);
  const unknown = tools.find(
    (tool) => !Object.hasOwn(scope.run.manifest.tools, tool) && tool !== exitTool && !scope.agent.ownTools.has(tool),
  );
  if (unknown !== undefined) throw new HoldfastError('tool-unknown', `${label} named the tool "${unknown}", which no worker has.`);
  return tools;
}

function checkedDeferred(deferred: DeferredTools, label: string, scope: AgentScope): DeferredTools {
  const { tools, search } = (deferred ?? {}) as Partial<DeferredTools>;
  const [searchTool = ''] = checkedTools([search], label, scope);
  return { tools: checkedTools(tools, label, scope), search: searchTool };
}

function checkedValues(values: Readonly<Record<string, Json>>, label: string): Readonly<Record<string, Json>> {
  const problem = notJson(values);
  if (problem !== undefined) throw new HoldfastError('value-not-json', `${label} passed on a value that is not JSON: ${problem}.`);
  return values;
}

function checkedText(text: unknown, label: string): string {
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `${label} returned instructions that are no text.`);
  return text;
}
