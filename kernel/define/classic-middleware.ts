import type { MaybePromise } from '../../contract/maybe-promise';
import type { ToolKind } from '../../contract/manifest';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AgentMiddleware, AgentState, HookContext, Tools, Update } from './middleware';
import { traitsOf } from './traits';
import { blame, labelOf } from '../effects/errors';

export type ToolCallWrap<T extends Tools = Tools> = (
  call: ToolCall,
  next: (call: ToolCall) => Promise<Json>,
  ctx: HookContext<T>,
) => Promise<Json>;

/** Wraps of tool calls by kind of tool. A function alone wraps all kinds. */
export type ToolCallMiddleware<T extends Tools = Tools> =
  | ToolCallWrap<T>
  | {
      readonly name?: string;
      readonly invokable?: ToolCallWrap<T>;
      readonly streamable?: ToolCallWrap<T>;
      readonly enhancedInvokable?: ToolCallWrap<T>;
      readonly enhancedStreamable?: ToolCallWrap<T>;
    };

/**
 * The classic form of a middleware. Its hooks lie outside all handlers' hooks; its instructions and tools come before any `beforeAgent`.
 */
export interface ClassicMiddleware<T extends Tools = Tools> {
  readonly name?: string;
  readonly additionalInstruction?: string;
  readonly additionalTools?: readonly (keyof T & string)[];
  beforeChatModel?(state: AgentState, ctx: HookContext<T>): MaybePromise<Update<AgentState>>;
  afterChatModel?(state: AgentState, ctx: HookContext<T>): MaybePromise<Update<AgentState>>;
  readonly wrapToolCall?: ToolCallMiddleware<T>;
}

export type MiddlewareEntry<T extends Tools = Tools> = AgentMiddleware<T> | ClassicMiddleware<T>;

export const classicFields = ['additionalInstruction', 'additionalTools', 'beforeChatModel', 'afterChatModel'] as const;

export const toolCallWraps: Readonly<Record<string, ToolKind>> = {
  invokable: 'invokable',
  streamable: 'streamable',
  enhancedInvokable: 'enhanced',
  enhancedStreamable: 'enhanced-streamable',
};

/** A middleware with a name and only `wrapToolCall` is a handler. */
export function isClassic(entry: object): entry is ClassicMiddleware {
  if (classicFields.some((field) => field in entry)) return true;
  const { name, wrapToolCall } = entry as { name?: unknown; wrapToolCall?: unknown };
  return wrapToolCall !== undefined && (name === undefined || typeof wrapToolCall !== 'function');
}

export function isNumbered(entry: object): boolean {
  const { isNumbered: hasNumber = false, onlyOne } = traitsOf(entry);
  return hasNumber || onlyOne !== undefined;
}

export interface Arranged {
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly middleware: readonly AgentMiddleware[];
}

export function arranged(
  own: { readonly instructions: string; readonly tools: readonly string[] },
  entries: readonly MiddlewareEntry[],
  toolCallMiddlewares: readonly ToolCallMiddleware[],
): Arranged {
  const names = new Names(entries);
  const outside = toolCallMiddlewares.flatMap((wraps) => toolLayers(names.of(nameOf(wraps), 'toolCallMiddleware'), wraps));
  const before: AgentMiddleware[] = [];
  const handlers: AgentMiddleware[] = [];
  const after: AgentMiddleware[] = [];
  const instructions = [own.instructions];
  const tools = new Set(own.tools);
  for (const entry of entries) {
    if (!isClassic(entry)) {
      handlers.push(isNumbered(entry) ? { ...entry, name: names.of(undefined, entry.name) } : entry);
      continue;
    }
    const name = names.of(entry.name, 'classic');
    instructions.push(entry.additionalInstruction ?? '');
    for (const tool of entry.additionalTools ?? []) tools.add(tool);
    if (entry.beforeChatModel !== undefined)
      before.push({ name, beforeModelRewriteState: blamed('beforeChatModel', name, entry.beforeChatModel.bind(entry)) });
    if (entry.wrapToolCall !== undefined) before.push(...toolLayers(name, entry.wrapToolCall));
    if (entry.afterChatModel !== undefined)
      after.push({ name, afterModelRewriteState: blamed('afterChatModel', name, entry.afterChatModel.bind(entry)) });
  }
  return {
    instructions: instructions.filter((text) => text !== '').join('\n\n'),
    tools: [...tools],
    middleware: [...outside, ...before, ...handlers, ...after],
  };
}

function nameOf(wraps: ToolCallMiddleware): string | undefined {
  return typeof wraps === 'function' ? undefined : wraps.name;
}

function toolLayers(name: string, wraps: ToolCallMiddleware): readonly AgentMiddleware[] {
  if (typeof wraps === 'function') return [{ name, wrapToolCall: wraps }];
  return Object.entries(toolCallWraps).flatMap(([field, kind]) => {
    const wrapToolCall = wraps[field as keyof typeof wraps] as ToolCallWrap | undefined;
    return wrapToolCall === undefined ? [] : [{ name, onlyKinds: [kind], wrapToolCall: wrapToolCall.bind(wraps) }];
  });
}

type StateHookFunction = NonNullable<AgentMiddleware['beforeModelRewriteState']>;

function blamed(hook: string, name: string, run: StateHookFunction): StateHookFunction {
  return async (state, ctx) => {
    try {
      return await run(state, ctx);
    } catch (error) {
      throw blame(error, labelOf(hook, name));
    }
  };
}

/** Addresses of interrupts contain the names, so the same list must give the same names. */
class Names {
  private readonly taken: Set<string>;

  constructor(entries: readonly MiddlewareEntry[]) {
    this.taken = new Set(entries.flatMap((entry) => (isNumbered(entry) || entry.name === undefined ? [] : [entry.name])));
  }

  of(given: string | undefined, base: string): string {
    if (given !== undefined) return given;
    let name = base;
    for (let n = 2; this.taken.has(name); n++) name = `${base}.${n}`;
    this.taken.add(name);
    return name;
  }
}
