// Crash recovery needs the checkpoints of running runs.
import { Agent } from '@mastra/core/agent';
import { createDurableAgent } from '@mastra/core/agent/durable';
import { Mastra } from '@mastra/core';
import { createTool } from '@mastra/core/tools';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';

const usage = { inputTokens: 100, outputTokens: 100, totalTokens: 200 };

function fakeModel(model) {
  const say = (prompt) => {
    const [{ text: task }] = prompt.find(({ role }) => role === 'user').content;
    const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    const { text, call } = model(task, results.length);
    const toolCall = call && { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.input) };
    return { text, toolCall, finishReason: call === undefined ? 'stop' : 'tool-calls' };
  };
  return {
    specificationVersion: 'v2',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const { text, toolCall, finishReason } = say(prompt);
      return { content: [{ type: 'text', text }, ...(toolCall ? [toolCall] : [])], finishReason, usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const { text, toolCall, finishReason } = say(prompt);
      const chunks = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: text },
        { type: 'text-end', id: 't' },
        ...(toolCall ? [toolCall] : []),
        { type: 'finish', finishReason, usage },
      ];
      return { stream: new ReadableStream({ start: (to) => (chunks.forEach((chunk) => to.enqueue(chunk)), to.close()) }) };
    },
  };
}

/** @type {import('../peer').PeerModule['open']} */
export async function open({ postgres, model, words, pay, refund }) {
  const inputSchema = z.object({ run: z.string(), turn: z.number() });
  const tools = {
    words: createTool({ id: 'words', description: 'New words.', inputSchema, execute: async () => words() }),
    pay: createTool({
      id: 'pay',
      description: 'Pays.',
      inputSchema,
      // A tool's context lacks the run.
      execute: (input, context) => pay(input, `${input.run}:${context.agent?.toolCallId}`),
    }),
    refund: createTool({
      id: 'refund',
      description: 'Pays money back.',
      inputSchema,
      requireApproval: true,
      execute: async (input) => refund(input),
    }),
  };
  const agent = new Agent({ id: 'worker', name: 'worker', instructions: 'You work.', model: fakeModel(model), tools });
  const durable = createDurableAgent({ agent, maxSteps: 10_000 });
  const storage = new PostgresStore({ id: 'peers', connectionString: postgres });
  await storage.init();
  const mastra = new Mastra({ agents: { durable }, storage, logger: false, recovery: { durableAgents: 'auto' } });

  const ended = async (output) => {
    const { error } = await output.getFullOutput();
    if (error !== undefined && error !== null) throw error;
  };
  return {
    async run(id, task) {
      const { output, cleanup } = await durable.stream(task, { runId: id, maxSteps: 10_000 });
      await ended(output);
      cleanup();
    },
    park(id, task) {
      return new Promise((resolve, reject) => {
        durable
          .stream(task, { runId: id, maxSteps: 10_000, onSuspended: () => resolve() })
          .then(async ({ output }) => {
            for await (const chunk of output.fullStream) if (chunk.type === 'error') reject(chunk.payload);
          })
          .catch(reject);
      });
    },
    async answer(id) {
      await ended(await durable.approveToolCall({ runId: id }));
    },
    async recover(ids) {
      const { succeeded } = await mastra.recoverAllDurableAgents();
      if (succeeded < ids.length) throw new Error(`Of ${ids.length} runs ${succeeded} were recovered.`);
    },
    async close() {
      await storage.close?.();
    },
  };
}
