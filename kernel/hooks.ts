import { HoldfastError } from '../contract/plain/errors';
import type { Json, StoredMessage } from '../contract/plain/messages';
import { notJson } from '../contract/plain/messages';
import { blame, labelOf } from './compose';
import { hookContext } from './context';
import type { Frame } from './frames';
import { frozen } from './freeze';
import type { AgentMiddleware, AgentState, RunSetup } from './middleware';
import type { AgentScope } from './scope';
import { exitTool } from './tool-plan';
import { storedMessages } from './transcript';

type StateHook = 'beforeModelRewriteState' | 'afterModelRewriteState' | 'afterToolCalls';

/** What a hook's return value came to; recorded as the result of its frame. */
interface HookResult {
  readonly messages?: readonly StoredMessage[];
  readonly tools?: readonly string[];
  readonly values?: Readonly<Record<string, Json>>;
  readonly instructions?: string;
  readonly returnDirectly?: readonly string[];
}

/** Runs a hook of every middleware that has it, in registration order, each seeing what the earlier ones changed. */
export async function runStateHooks(hook: StateHook, scope: AgentScope, iteration: Frame): Promise<void> {
  for (const middleware of scope.agent.middleware) {
    if (middleware[hook] === undefined) continue;
    const result = await runHook(hook, middleware, iteration, async (frame) => {
      const { messages, tools } = scope.record;
      const update = await middleware[hook]?.(frozen({ messages, tools }), hookContext(scope, frame));
      return checkedUpdate(update, hook, middleware, scope);
    });
    applyResult(scope, result);
  }
}

export async function runBeforeAgent(scope: AgentScope, setup: Frame): Promise<void> {
  for (const middleware of scope.agent.middleware) {
    if (middleware.beforeAgent === undefined) continue;
    const result = await runHook('beforeAgent', middleware, setup, async (frame) => {
      const { instructions, tools, returnDirectly } = scope.record;
      const update = await middleware.beforeAgent?.(frozen({ instructions, tools, returnDirectly }), hookContext(scope, frame));
      return checkedUpdate(update, 'beforeAgent', middleware, scope);
    });
    applyResult(scope, result);
  }
}

export async function runAfterAgent(scope: AgentScope, end: Frame): Promise<void> {
  for (const middleware of scope.agent.middleware) {
    if (middleware.afterAgent === undefined) continue;
    await runHook('afterAgent', middleware, end, async (frame) => {
      const { messages, tools } = scope.record;
      await middleware.afterAgent?.(frozen({ messages, tools }), hookContext(scope, frame));
      return {};
    });
  }
}

function runHook(
  hook: string,
  middleware: AgentMiddleware,
  parent: Frame,
  run: (frame: Frame) => Promise<HookResult>,
): Promise<HookResult> {
  const label = labelOf(hook, middleware.name);
  return parent.effect(`${hook}:${middleware.name}`, async () => {
    const frame = parent.child(`${hook}:${middleware.name}`, label);
    try {
      const result = await run(frame);
      frame.close();
      return result;
    } catch (error) {
      frame.abandon();
      throw blame(error, label);
    }
  });
}

function applyResult(scope: AgentScope, result: HookResult): void {
  const { record } = scope;
  if (result.messages !== undefined) record.messages = result.messages;
  if (result.tools !== undefined) record.tools = result.tools;
  if (result.instructions !== undefined) record.instructions = result.instructions;
  if (result.returnDirectly !== undefined) record.returnDirectly = result.returnDirectly;
  if (result.values !== undefined) record.values = { ...record.values, ...result.values };
}

function checkedUpdate(update: unknown, hook: string, middleware: AgentMiddleware, scope: AgentScope): HookResult {
  if (update === undefined || update === null) return {};
  const label = labelOf(hook, middleware.name);
  if (typeof update !== 'object' || Array.isArray(update))
    throw new HoldfastError('hook-failed', `${label} returned ${typeof update}; return nothing or an object with what changes.`);
  const { messages, tools, values, instructions, returnDirectly } = update as Partial<AgentState & RunSetup> & {
    values?: Record<string, Json>;
  };
  return {
    ...(messages === undefined
      ? {}
      : { messages: storedMessages(messages, scope.record.messages, () => scope.run.ports.uuid(), label, scope.run.ensured) }),
    ...(tools === undefined ? {} : { tools: checkedTools(tools, label, scope) }),
    ...(values === undefined ? {} : { values: checkedValues(values, label) }),
    ...(instructions === undefined ? {} : { instructions: checkedText(instructions, label) }),
    ...(returnDirectly === undefined ? {} : { returnDirectly: checkedTools(returnDirectly, label, scope) }),
  };
}

function checkedTools(tools: unknown, label: string, scope: AgentScope): readonly string[] {
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === 'string'))
    throw new HoldfastError('hook-failed', `${label} returned tools that are no list of names.`);
  const unknown = tools.find((tool) => !Object.hasOwn(scope.run.manifest.tools, tool) && tool !== exitTool);
  if (unknown !== undefined) throw new HoldfastError('tool-unknown', `${label} named the tool "${unknown}", which no worker has.`);
  return tools;
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
