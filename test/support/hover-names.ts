import type { Conversation, HoldfastClient, Run } from 'holdfast/client';
import type { ScriptedModel } from 'holdfast/testing';
import type { Tool } from 'holdfast/worker';
import type { Agent, AgentMiddleware } from 'holdfast/workflow';

// What the examples in hover texts leave to their readers.

export declare const tools: {
  readonly findOrder: Tool<{ orderId: string }, string>;
  readonly refund: Tool<{ orderId: string; amount: number }, string>;
};
export declare const support: Agent<'support'>;
export declare const writer: Agent<'writer'>;
export declare const critic: Agent<'critic'>;
export declare const discreet: AgentMiddleware;
export declare const client: HoldfastClient;
export declare const run: Run;
export declare const chat: Conversation;
export declare const model: ScriptedModel;
