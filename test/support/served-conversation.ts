import type { AgentSummary } from '../../service/project/load-project';
import type { TestConversation, TestConversationOptions } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { agentWith, tools } from './memory-bed';
import { answerOf, appOn } from './service-app';

export const agents: readonly AgentSummary[] = [{ name: 'support', description: 'Helps.', takesJob: false, tools: ['echo'] }];

export async function servedConversation(
  texts: readonly string[],
  { agent = agentWith(), ...options }: Partial<TestConversationOptions> & { readonly agent?: ReturnType<typeof agentWith> } = {},
) {
  const model = scriptedModel(texts.map((text) => ({ text })));
  const chat: TestConversation = await testConversation(agent, { model, tools, ...options });
  const opened: unknown[][] = [];
  const conversation = (...asked: readonly unknown[]) => (opened.push([...asked]), chat);
  const app = appOn({ conversation, run: () => chat.run }, { agents });
  const ask = (method: string, path: string, body?: unknown) => answerOf(app, method, `/conversations/c${path}`, body);
  return { chat, model, opened, app, ask };
}
