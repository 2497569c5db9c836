import type { LanguageModel, ModelProvider } from '../../activities/models/language-model';
import type { RunEvent } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import type { AgentOptions } from '../../kernel/define/agent-options';
import type { Agent } from '../../kernel/define/agent-ref';
import { defineAgent } from '../../kernel/define/agent';
import type { CustomAgentOptions, CustomEvent } from '../../workflows/index';
import { customAgent } from '../../workflows/index';
import type { Tools } from '../../kernel/define/middleware';
import type { ScriptedModel, ScriptedRequest, ScriptedStep } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import { tools } from './memory-bed';

export function member<const Name extends string>(name: Name, options: Partial<AgentOptions<Tools, Name, string>> = {}): Agent<Name> {
  return defineAgent<Name>({
    name,
    description: `The ${name}.`,
    instructions: `You are the ${name}.`,
    model: `test/${name}`,
    tools: [],
    ...options,
  });
}

export const byHand = <const Name extends string>(
  name: Name,
  run: CustomAgentOptions<Name>['run'],
  agents: CustomAgentOptions<Name>['agents'] = [],
): Agent<Name> => customAgent({ name, description: `The ${name}.`, agents, run });

export const says = (text: string, more: Partial<CustomEvent> = {}): CustomEvent => ({
  message: { role: 'assistant', parts: [{ type: 'text', text }] },
  ...more,
});

export interface Scripts extends ModelProvider {
  readonly of: Readonly<Record<string, ScriptedModel>>;
  requests(name: string): readonly ScriptedRequest[];
}

export function scripts(steps: Readonly<Record<string, readonly ScriptedStep[]>>): Scripts {
  const of = Object.fromEntries(Object.entries(steps).map(([name, list]) => [name, scriptedModel(list)]));
  const named = (model: string): ScriptedModel => {
    const found = of[model.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`No script for the model "${model}".`);
    return found;
  };
  return { of, requests: (name) => named(name).requests, model: named };
}

export interface TeamModel extends LanguageModel {
  requests(name: string): readonly ScriptedRequest[];
}

/** One model for all members, told apart by instructions, because a run on a server has one model. */
export function teamModel(steps: Readonly<Record<string, readonly ScriptedStep[]>>): TeamModel {
  const { model, requests } = scripts(steps);
  return {
    requests,
    generate: async (request) => (await model(/^You are the (\w+)\./.exec(request.instructions)?.[1] ?? '')).generate(request),
  };
}

export const transfer = (name: string): ScriptedStep => ({ toolCalls: [{ name: 'transfer_to_agent', input: { agent_name: name } }] });

export async function play(agent: Agent<string, string, unknown>, steps: Readonly<Record<string, readonly ScriptedStep[]>>, input = 'Go.') {
  const model = scripts(steps);
  const run = await testRun(agent, { input, model, tools });
  return { run, model, outcome: await run.outcome() };
}

export function heard({ messages }: ScriptedRequest): readonly string[] {
  return messages.map((message) => `${message.role}: ${textOf(message)}`);
}

export function placed(event: RunEvent): string {
  const path = 'runPath' in event ? ` ${event.runPath.join('/')}` : '';
  return `${event.type}${path}`;
}
