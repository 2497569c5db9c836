import type { HoldfastClient } from '../../client/connect';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import type { AgentSummary } from '../../service/project/load-project';
import type { TestConversation, TestConversationOptions } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { agentWith, tools } from './memory-bed';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Body = any;

export const agents: readonly AgentSummary[] = [{ name: 'support', description: 'Helps.', takesJob: false, tools: ['echo'] }];

export async function servedConversation(
  texts: readonly string[],
  { agent = agentWith(), ...options }: Partial<TestConversationOptions> & { readonly agent?: ReturnType<typeof agentWith> } = {},
) {
  const model = scriptedModel(texts.map((text) => ({ text })));
  const chat: TestConversation = await testConversation(agent, { model, tools, ...options });
  const opened: unknown[][] = [];
  const client = {
    conversation: (...asked: readonly unknown[]) => (opened.push([...asked]), chat),
    run: () => chat.run,
    withDeadline: (_: number, ask: () => unknown) => ask(),
  } as unknown as HoldfastClient;
  const app = createApp({ client, agents, logger: createLogger({ write: () => undefined }) });
  const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> => {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const response = await app.request(`/conversations/c${path}`, { method, ...sent });
    return { status: response.status, body: await response.json() };
  };
  return { chat, model, opened, app, ask };
}
