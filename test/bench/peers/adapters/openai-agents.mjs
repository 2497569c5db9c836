import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Usage } from '@openai/agents-core';

const taskQueue = 'openai-agents';

/** @type {import('../peer').PeerModule['open']} */
export async function open({ temporal, model, words, pay, refund }) {
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
  const fakeModel = {
    async getResponse({ input }) {
      const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
      const asked = items.find(({ role }) => role === 'user').content;
      const task = typeof asked === 'string' ? asked : asked[0].text;
      const { text, call } = model(task, items.filter(({ type }) => type === 'function_call_result').length);
      const output = [
        { type: 'message', id: randomUUID(), role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
      ];
      if (call !== undefined) {
        const { id: callId, name } = call;
        output.push({ type: 'function_call', id: randomUUID(), callId, name, status: 'completed', arguments: JSON.stringify(call.input) });
      }
      return { usage: new Usage({ inputTokens: 100, outputTokens: 100, totalTokens: 200 }), output };
    },
    async *getStreamedResponse() {
      throw new Error('Not used.');
    },
  };
  const plugin = new OpenAIAgentsPlugin({ modelProvider: { getModel: () => fakeModel }, modelParams: { startToCloseTimeout: '1 minute' } });
  const native = await NativeConnection.connect({ address: temporal.address });
  const worker = await Worker.create({
    connection: native,
    namespace: temporal.namespace,
    taskQueue,
    workflowsPath: createRequire(import.meta.url).resolve('./openai-agents-workflow.cjs'),
    plugins: [plugin],
    activities: {
      words: async () => words(),
      async pay(input) {
        const context = Context.current();
        const beats = setInterval(() => context.heartbeat(), 2000);
        try {
          const { workflowExecution, activityId } = context.info;
          return await pay(input, `${workflowExecution.workflowId}:${activityId}`);
        } finally {
          clearInterval(beats);
        }
      },
      refund: async (input) => refund(input),
    },
  });
  const done = worker.run();
  const connection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection, namespace: temporal.namespace, plugins: [plugin] });
  const options = (id, task) => ({ workflowId: `openai-${id}`, taskQueue, args: [task] });
  const handle = (id) => client.workflow.getHandle(`openai-${id}`);

  return {
    async run(id, task) {
      await client.workflow.execute('openaiRun', options(id, task));
    },
    async park(id, task) {
      const started = await client.workflow.start('openaiRun', options(id, task));
      // A query fails while the worker is busy.
      while (!(await started.query('isWaiting').catch(() => false))) await delay(20);
    },
    async answer(id) {
      await handle(id).signal('approve');
      await handle(id).result();
    },
    recover: (ids) => Promise.all(ids.map((id) => handle(id).result())),
    async close() {
      worker.shutdown();
      await done;
      await native.close();
      await connection.close();
    },
  };
}
