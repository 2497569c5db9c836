import { z } from 'zod';
import type { LanguageModel, ModelProvider } from '../../activities/models/language-model';
import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/tools';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import type { AgentOptions } from '../../kernel/define/agent-options';
import type { Agent } from '../../kernel/define/agent-ref';
import { defineAgent } from '../../kernel/define/agent';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import type { Tools } from '../../kernel/define/middleware';
import type { ScriptedStep, TestRun, TestRunOptions } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import { allOf } from './all-of';

export function agentWith(options: Partial<AgentOptions<Tools, 'agent', Json>> = {}): Agent<'agent', Json> {
  return defineAgent<'agent', Json>({
    name: 'agent',
    description: 'Under test.',
    instructions: 'Be a test.',
    model: 'test/model',
    tools: ['echo', 'add', 'fail'],
    ...options,
  });
}

export function agentUnder(...middleware: readonly AgentMiddleware[]): Agent<'agent', Json> {
  return agentWith({ middleware });
}

export const before = (act: (ctx: HookContext) => unknown): AgentMiddleware => ({
  name: 'hook',
  beforeModelRewriteState: async (_, ctx) => void (await act(ctx)),
});

export function withHook<Hook extends keyof AgentMiddleware>(
  name: string,
  hook: Hook,
  act: NonNullable<AgentMiddleware[Hook]>,
): AgentMiddleware {
  return { name, [hook]: act };
}

export const tools = {
  echo: defineTool({ description: 'Says it again.', inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text }),
  add: defineTool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    execute: ({ a, b }) => ({ sum: a + b }),
  }),
  fail: defineTool({
    description: 'Fails.',
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error('out of order');
    },
  }),
};

export function toolOf<Output>(
  execute: Tool<Record<string, never>, Output>['execute'],
  more: Partial<Tool<Record<string, never>, Output>> = {},
): Tool<Record<string, never>, Output> {
  return defineTool({ description: 'Works.', inputSchema: z.object({}) as never, execute, ...more });
}

/** A run with the input `Hi` and the tools of this bed, unless `options` say otherwise. */
export function startRun<Input extends Json, Output>(
  agent: Agent<string, Input, Output>,
  model: readonly ScriptedStep[] | ModelProvider | LanguageModel,
  options: Partial<Omit<TestRunOptions<NoInfer<Input>>, 'model'>> = {},
): Promise<TestRun<Output>> {
  const given = { input: 'Hi', model: Array.isArray(model) ? scriptedModel(model) : model, tools, ...options };
  return testRun(agent, given as unknown as TestRunOptions<NoInfer<Input>>);
}

export const echo = (text: string): { name: string; input: Json } => ({ name: 'echo', input: { text } });

export async function logOf(run: TestRun): Promise<readonly RunEvent[]> {
  await run.outcome();
  return allOf(run.events({ until: 'waiting' }));
}

export async function linesOf(run: TestRun): Promise<readonly string[]> {
  return (await logOf(run)).map(eventLine);
}

export function eventLine(event: RunEvent): string {
  return 'tool' in event ? `${event.type} ${event.tool}` : event.type === 'custom' ? `custom ${event.name}` : event.type;
}

export async function transcriptOf(run: TestRun): Promise<readonly string[]> {
  return (await run.transcript()).map(lineOf);
}

export function lineOf({ role, parts }: Pick<StoredMessage, 'role' | 'parts'>): string {
  const texts = parts.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'tool-call') return `${part.name}(${JSON.stringify(part.input)})`;
    if (part.type === 'tool-result')
      return `${part.isError === true ? 'error ' : ''}${typeof part.output === 'string' ? part.output : JSON.stringify(part.output)}`;
    return part.type;
  });
  return `${role}: ${texts.join(' ')}`;
}

export const fails = (message: string) => (): never => {
  throw new Error(message);
};

export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** A tool that says when it has begun, and works until its door is open. */
export function heldTool() {
  const [begun, door] = [gate(), gate()];
  let calls = 0;
  const held = defineTool({
    description: 'Waits.',
    inputSchema: z.object({}),
    execute: async () => (calls++, begun.open(), await door.opened, 'held'),
  });
  return { held, begun, door, calls: () => calls };
}

/** A model that streams half an answer until its first call is cut off. */
export function halfAnswer() {
  const said = gate();
  let requests = 0;
  const model: LanguageModel = {
    generate: async () => ({ parts: [] }),
    async *stream({ signal }) {
      requests += 1;
      yield { type: 'text', text: requests > 1 ? 'Done.' : 'Half an ' };
      if (requests > 1) return yield { type: 'finish' };
      said.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  return { model, said, requests: () => requests };
}

export function only<T>(items: readonly T[]): T {
  if (items.length !== 1) throw new Error(`There are ${items.length}, not one.`);
  return items[0] as T;
}

export async function approvalOf(run: TestRun): Promise<Extract<Interrupt, { kind: 'approval' }>> {
  await run.outcome();
  const interrupt = only(await run.interrupts());
  if (interrupt.kind !== 'approval') throw new Error(interrupt.kind);
  return interrupt;
}

/** Answers the only interrupt behind a continue-as-new. */
export async function answerAnew(run: TestRun<unknown>, answer: Json = true): Promise<void> {
  const { id } = only(await run.interrupts());
  await run.goOnAsNew();
  await run.resume(id, answer);
}
