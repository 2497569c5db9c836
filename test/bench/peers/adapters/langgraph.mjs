// The default durability is 'async'.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { Command } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';

/** @type {import('../peer').PeerModule['open']} */
export async function open({ postgres, model, words, pay, refund }) {
  class FakeModel extends BaseChatModel {
    _llmType() {
      return 'fake';
    }
    bindTools() {
      return this;
    }
    async _generate(messages) {
      const task = messages.find((message) => message.getType() === 'human').content;
      const { text, call } = model(task, messages.filter((message) => message.getType() === 'tool').length);
      const calls = call === undefined ? [] : [{ type: 'tool_call', id: call.id, name: call.name, args: call.input }];
      return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] };
    }
  }
  const schema = z.object({ run: z.string(), turn: z.number() });
  const tools = [
    tool(() => words(), { name: 'words', description: 'New words.', schema }),
    tool((input, config) => pay(input, `${config.configurable.thread_id}:${config.toolCall?.id ?? config.toolCallId}`), {
      name: 'pay',
      description: 'Pays.',
      schema,
    }),
    tool((input) => refund(input), { name: 'refund', description: 'Pays money back.', schema }),
  ];
  const checkpointer = PostgresSaver.fromConnString(postgres);
  await checkpointer.setup();
  const plain = createAgent({ model: new FakeModel({}), tools, checkpointer });
  const careful = createAgent({
    model: new FakeModel({}),
    tools,
    checkpointer,
    middleware: [humanInTheLoopMiddleware({ interruptOn: { refund: { allowedDecisions: ['approve', 'reject'] } } })],
  });
  const config = (id) => ({ configurable: { thread_id: id }, recursionLimit: 10_000 });
  const messages = (task) => ({ messages: [{ role: 'user', content: task }] });

  return {
    async run(id, task) {
      await plain.invoke(messages(task), config(id));
    },
    async park(id, task) {
      const { __interrupt__ } = await careful.invoke(messages(task), config(id));
      if (__interrupt__ === undefined) throw new Error('The run did not ask.');
    },
    async answer(id) {
      await careful.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), config(id));
    },
    // LangGraph recovers no thread by itself.
    recover: (ids) => Promise.all(ids.map((id) => plain.invoke(null, config(id)))),
    close: () => checkpointer.end(),
  };
}
