import { messageOf } from '../../contract/errors';
import type { Json, Message } from '../../contract/messages/messages';
import { canonicalJson, isMessage, notJson } from '../../contract/messages/messages';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { callbacks } from './callbacks';
import type { ChainAt, Phase } from './chain';
import { Chain, checkCallback, checkedCallbackOptions, phases } from './chain';
import { detachedInvocation } from './invocation';
import type {
  CallbackArgs,
  CallbackAt,
  CallbackOptions,
  CallbackResult,
  CallbackResultView,
  ChainOutcome,
  Place,
  Places,
  ToolResultMessages,
  ToolResultMessagesArgs,
} from './types';

interface CallbackMessages extends CallbackResult {
  readonly messages?: unknown;
}
const said: Phase<ToolResultMessagesArgs, CallbackMessages> = { name: 'tool result messages', custom: 'messages' };

type ByHand<Args extends CallbackArgs> = Omit<Args, keyof CallbackArgs> & Partial<CallbackArgs>;

type ByHandAt<At extends Place> = ByHand<Places[At][0]>;
type OutcomeAt<At extends Place> = ChainOutcome<Places[At][1]>;
type Around = 'model' | 'tool' | 'agent';
type Before<Of extends Around> = `before${Capitalize<Of>}`;
type After<Of extends Around> = `after${Capitalize<Of>}`;

class CallbackSet<Of extends Around> {
  constructor(
    readonly around: Of,
    readonly before: ChainAt<Before<Of>>,
    readonly after: ChainAt<After<Of>>,
  ) {}

  registerBefore(callback: CallbackAt<Before<Of>>): this {
    this.before.add(callback);
    return this;
  }

  registerAfter(callback: CallbackAt<After<Of>>): this {
    this.after.add(callback);
    return this;
  }

  /** Adds another set's callbacks, without its options. */
  append(other: this): this {
    this.before.append(other.before);
    this.after.append(other.after);
    return this;
  }

  runBefore(args?: ByHandAt<Before<Of>> | null): Promise<OutcomeAt<Before<Of>>> {
    return this.before.run(filled<Places[Before<Of>][0]>(args));
  }

  runAfter(args?: ByHandAt<After<Of>> | null): Promise<OutcomeAt<After<Of>>> {
    return this.after.run(filled<Places[After<Of>][0]>(args));
  }

  clone(): CallbackSet<Of> {
    return new CallbackSet(this.around, this.before.clone(), this.after.clone());
  }

  asMiddleware(name = `${this.around}-callbacks`): AgentMiddleware {
    return callbacks({ name, [this.around]: this });
  }
}

export type ModelCallbacks = CallbackSet<'model'>;
export type AgentCallbacks = CallbackSet<'agent'>;

/**
 * Callbacks before and after tool calls, made by `toolCallbacks`.
 * @example
 * const quiet: ToolCallbacks = toolCallbacks().registerAfter(({ error }) =>
 *   error === undefined ? undefined : { customResult: 'The tool is away.' },
 * );
 * export const outcome = await quiet.runAfter({ toolName: 'refund', toolCallId: 'c1', arguments: {} });
 */
export class ToolCallbacks extends CallbackSet<'tool'> {
  private messages: Chain<ToolResultMessagesArgs, CallbackMessages> | undefined;
  private view: CallbackResultView | undefined;

  /** Makes the messages for the model. The last registration counts. */
  registerToolResultMessages(callback: ToolResultMessages): this {
    checkCallback(callback, said.name);
    this.messages = new Chain(said, {}, [async (args) => ({ messages: await callback(args) })]);
    return this;
  }

  /** Replaces the result for later callbacks. The last registration counts. */
  registerCallbackResult(view: CallbackResultView): this {
    checkCallback(view, 'callback result');
    this.view = view;
    return this;
  }

  get hasCallbackResult(): boolean {
    return this.view !== undefined;
  }

  async resultForCallbacks(args: Parameters<CallbackResultView>[0]): Promise<Json> {
    const seen = await this.view?.(args);
    if (seen === undefined) return args.result;
    const problem = notJson(seen);
    if (problem !== undefined) throw new Error(`the result for callbacks of the tool "${args.toolName}" is not JSON: ${problem}`);
    return seen;
  }

  get hasToolResultMessages(): boolean {
    return this.messages !== undefined;
  }

  override append(other: this): this {
    super.append(other);
    if (other.messages !== undefined) this.messages = other.messages;
    if (other.view !== undefined) this.view = other.view;
    return this;
  }

  /** Afterwards `args.arguments` has the tool's arguments. */
  override async runBefore(args?: ByHandAt<'beforeTool'> | null): Promise<OutcomeAt<'beforeTool'>> {
    const outcome = await super.runBefore(args);
    const { result } = outcome;
    if (!args || result?.modifiedArguments === undefined) return outcome;
    if (canonicalJson(result.modifiedArguments) === canonicalJson(args.arguments)) return outcome;
    return { ...outcome, result: { ...result, modifiedArguments: args.arguments } };
  }

  /** Without an answer of a callback the custom result is the tool's result. */
  override async runAfter(args?: ByHandAt<'afterTool'> | null): Promise<OutcomeAt<'afterTool'>> {
    const outcome = await this.runSeen(args);
    if (outcome.result !== undefined || outcome.error !== undefined) return outcome;
    return { result: args?.result === undefined ? {} : { customResult: args.result } };
  }

  /** Callbacks see the view; afterwards `args.result` is the result again. */
  private async runSeen(args: ByHandAt<'afterTool'> | null | undefined): Promise<OutcomeAt<'afterTool'>> {
    const { result } = args ?? {};
    if (!args || result === undefined || this.view === undefined) return super.runAfter(args);
    const own = args as { result?: Json };
    try {
      own.result = await this.resultForCallbacks({ ...filled<Places['afterTool'][0]>(args), result });
      return await super.runAfter(args);
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(messageOf(error)) };
    } finally {
      own.result = result;
    }
  }

  /** Values other than messages leave the default message. */
  async runToolResultMessages(args?: ByHand<ToolResultMessagesArgs> | null): Promise<ChainOutcome<readonly Message[]>> {
    const { result, error } = (await this.messages?.run(filled<ToolResultMessagesArgs>(args))) ?? {};
    if (error !== undefined) return { error };
    const messages: readonly unknown[] = Array.isArray(result?.messages) ? result.messages : [result?.messages];
    return messages.length > 0 && messages.every(isMessage) ? { result: messages } : {};
  }

  override clone(): ToolCallbacks {
    const copy = new ToolCallbacks('tool', this.before.clone(), this.after.clone());
    copy.messages = this.messages;
    copy.view = this.view;
    return copy;
  }
}

/**
 * Makes a set of callbacks before and after each model call.
 * @example
 * export const ping = modelCallbacks()
 *   .registerBefore(({ invocation }) => (invocation.userMessage === '/ping' ? { customResponse: 'pong' } : undefined))
 *   .asMiddleware('ping');
 */
export function modelCallbacks(given: CallbackOptions = {}): ModelCallbacks {
  const options = checkedCallbackOptions('modelCallbacks', given);
  return new CallbackSet('model', new Chain(phases.beforeModel, options), new Chain(phases.afterModel, options));
}

/**
 * Makes a set of callbacks before and after each tool call.
 * @example
 * export const clamp = toolCallbacks()
 *   .registerBefore((call) => {
 *     const { orderId, amount } = call.arguments as { orderId: string; amount: number };
 *     if (call.toolName === 'refund') return { modifiedArguments: { orderId, amount: Math.min(amount, 100) } };
 *   })
 *   .asMiddleware('clamp');
 */
export function toolCallbacks(given: CallbackOptions = {}): ToolCallbacks {
  const options = checkedCallbackOptions('toolCallbacks', given);
  return new ToolCallbacks('tool', new Chain(phases.beforeTool, options), new Chain(phases.afterTool, options));
}

/**
 * Makes a set of callbacks before and after an agent.
 * @example
 * export const guard = agentCallbacks()
 *   .registerBefore(({ invocation }) => (invocation.userMessage === '' ? { customResponse: 'Ask me something.' } : undefined))
 *   .asMiddleware('guard');
 */
export function agentCallbacks(given: CallbackOptions = {}): AgentCallbacks {
  const options = checkedCallbackOptions('agentCallbacks', given);
  return new CallbackSet('agent', new Chain(phases.beforeAgent, options), new Chain(phases.afterAgent, options));
}

/** The same object, so that its owner sees changes by callbacks. */
function filled<Args extends CallbackArgs>(args: ByHand<Args> | null | undefined): Args {
  const given = (args ?? {}) as { -readonly [Field in keyof CallbackArgs]?: CallbackArgs[Field] };
  given.invocation ??= detachedInvocation();
  given.values ??= {};
  return given as unknown as Args;
}
