import type { Language } from '../../contract/manifest';

const en = {
  instructions:
    'You summarize conversations between a user and an assistant that works with tools. Your summary takes the place of the conversation: the assistant goes on with nothing but what you write. You only write the summary. You call no tools and answer no questions.',
  request: `Write the summary of the conversation above, in plain text, under these headings:

1. Task: what the user wants in the end, and what has changed about it on the way.
2. Rules: what the user asked for or forbade, and what was agreed on.
3. Facts: names, numbers, paths, ids and results of tools that are still needed, copied exactly.
4. Done: what was done, with the outcome of each step, and what failed and why.
5. User messages: everything that the user said, in order, between <all_user_messages> and </all_user_messages>.
6. Open: what remains, what was being done at the very end, and the next step.

Leave out what is no longer needed. Invent nothing.`,
  preamble: 'The conversation so far was too long and has been summarized. This is the summary:',
  goOn: 'Go on from there. Do not ask what was asked already, and do not speak about the summary.',
  transcript: (path: string) => `The whole conversation, for details that the summary lacks, is in ${path}.`,
};

export const summaryTexts: Readonly<Record<Language, typeof en>> = {
  en,
  zh: {
    instructions:
      '你负责为用户与使用工具的助手之间的对话撰写摘要。摘要将取代整个对话:助手之后只能看到你写下的内容。你只写摘要,不调用工具,也不回答问题。',
    request: `请用纯文本为以上对话撰写摘要,按以下标题组织:

1. 任务:用户最终想要什么,途中有哪些变化。
2. 规则:用户要求或禁止了什么,双方约定了什么。
3. 事实:仍然需要的名称、数字、路径、标识和工具结果,请原样抄录。
4. 已完成:做过的事及每一步的结果,以及失败的事和原因。
5. 用户消息:用户说过的全部内容,按顺序写在 <all_user_messages> 与 </all_user_messages> 之间。
6. 待办:还剩什么,对话结束时正在做什么,以及下一步。

不再需要的内容请略去。不要编造。`,
    preamble: '之前的对话过长,已被摘要。摘要如下:',
    goOn: '请从此处继续。不要重复已经问过的问题,也不要谈论这份摘要。',
    transcript: (path) => `摘要中缺少的细节可以在完整的对话记录中找到:${path}。`,
  },
};
