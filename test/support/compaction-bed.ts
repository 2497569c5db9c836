import type { LanguageModel } from '../../activities/models/language-model';
import type { RunEvent } from '../../contract/events';
import type { Json, Message, StoredMessage } from '../../contract/messages/messages';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { OffloadBackend } from '../../middleware/reduction/worker';
import type { ScriptedModel, ScriptedStep, TestRun, TestRunOptions } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import { agentWith, lineOf, logOf, tools } from './memory-bed';

export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
export const system = (text: string): Message => ({ role: 'system', parts: [{ type: 'text', text }] });
export const said = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
export const called = (...calls: readonly string[]): Message => ({
  role: 'assistant',
  parts: calls.map((call) => ({ type: 'tool-call', ...named(call), input: { text: `${named(call).id} in` } })),
});
export const result = (call: string, output: Json): Message => {
  const { id: callId, name } = named(call);
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name, output }] };
};

function named(call: string): { readonly id: string; readonly name: string } {
  const [name, id] = call.includes(':') ? call.split(':') : ['echo', call];
  return { id: id ?? '', name: name ?? '' };
}

export function keptTexts(): OffloadBackend & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return { texts, write: async (path, text) => void texts.set(path, text), read: async (path) => texts.get(path) };
}

export interface Asked {
  readonly run: TestRun;
  readonly requests: ScriptedModel['requests'];
  readonly lines: readonly string[];
  readonly log: readonly RunEvent[];
  readonly messages: readonly StoredMessage[];
}

export interface Asking extends Partial<Omit<TestRunOptions<Json>, 'input' | 'model'>> {
  readonly models?: Readonly<Record<string, LanguageModel>>;
  readonly steps?: readonly ScriptedStep[];
  readonly agent?: Partial<Parameters<typeof agentWith>[0]>;
}

export async function asked(middleware: readonly AgentMiddleware[], input: readonly Message[], asking: Asking = {}): Promise<Asked> {
  const { models = {}, steps = [{ text: 'Done.' }], agent, ...options } = asking;
  const main = scriptedModel(steps);
  const provider = { model: (name: string) => models[name.replace(/^.*\//, '')] ?? main };
  const run = await testRun(agentWith({ middleware, ...agent }), { input: input as never, model: provider, tools, ...options });
  const log = await logOf(run);
  const lines = (main.requests[0]?.messages ?? []).map(lineOf);
  return { run, requests: main.requests, lines, log, messages: await run.transcript() };
}

export async function failureOf({ run }: Asked): Promise<string> {
  const outcome = await run.outcome();
  return 'error' in outcome ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
}
