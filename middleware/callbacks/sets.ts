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

abstract class CallbackSet<Before extends Place, After extends Place> {
  constructor(
    readonly before: ChainAt<Before>,
    readonly after: ChainAt<After>,
  ) {}

  registerBefore(callback: CallbackAt<Before>): this {
    this.before.add(callback);
    return this;
  }

  registerAfter(callback: CallbackAt<After>): this {
    this.after.add(callback);
    return this;
  }

  /** Adds another set's callbacks, without its options. */
  append(other: this): this {
    this.before.append(other.before);
    this.after.append(other.after);
    return this;
  }

  runBefore(args?: ByHandAt<Before> | null): Promise<OutcomeAt<Before>> {
    return this.before.run(filled<Places[Before][0]>(args));
  }

  runAfter(args?: ByHandAt<After> | null): Promise<OutcomeAt<After>> {
    return this.after.run(filled<Places[After][0]>(args));
  }
}

export class ModelCallbacks extends CallbackSet<'beforeModel', 'afterModel'> {
  clone(): ModelCallbacks {
    return new ModelCallbacks(this.before.clone(), this.after.clone());
  }

  asMiddleware(name = 'model-callbacks'): AgentMiddleware {
    return callbacks({ name, model: this });
  }
}

export class ToolCallbacks extends CallbackSet<'beforeTool', 'afterTool'> {
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

  clone(): ToolCallbacks {
    const copy = new ToolCallbacks(this.before.clone(), this.after.clone());
    copy.messages = this.messages;
    copy.view = this.view;
    return copy;
  }

  asMiddleware(name = 'tool-callbacks'): AgentMiddleware {
    return callbacks({ name, tool: this });
  }
}

export class AgentCallbacks extends CallbackSet<'beforeAgent', 'afterAgent'> {
  readonly around = 'agent';

  clone(): AgentCallbacks {
    return new AgentCallbacks(this.before.clone(), this.after.clone());
  }

  asMiddleware(name = 'agent-callbacks'): AgentMiddleware {
    return callbacks({ name, agent: this });
  }
}

export function modelCallbacks(given: CallbackOptions = {}): ModelCallbacks {
  const options = checkedCallbackOptions('modelCallbacks', given);
  return new ModelCallbacks(new Chain(phases.beforeModel, options), new Chain(phases.afterModel, options));
}

export function toolCallbacks(given: CallbackOptions = {}): ToolCallbacks {
  const options = checkedCallbackOptions('toolCallbacks', given);
  return new ToolCallbacks(new Chain(phases.beforeTool, options), new Chain(phases.afterTool, options));
}

export function agentCallbacks(given: CallbackOptions = {}): AgentCallbacks {
  const options = checkedCallbackOptions('agentCallbacks', given);
  return new AgentCallbacks(new Chain(phases.beforeAgent, options), new Chain(phases.afterAgent, options));
}

/** The same object, so that its owner sees changes by callbacks. */
function filled<Args extends CallbackArgs>(args: ByHand<Args> | null | undefined): Args {
  const given = (args ?? {}) as { -readonly [Field in keyof CallbackArgs]?: CallbackArgs[Field] };
  given.invocation ??= detachedInvocation();
  given.values ??= {};
  return given as unknown as Args;
}
