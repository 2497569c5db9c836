import { agenticMiddleware } from '../../middleware/forms/index';
import { patchToolCalls } from '../../middleware/index';
import type { Json } from '../../workflows/index';
import { asked, called, result, user } from '../support/compaction-bed';
import { lineOf } from '../support/memory-bed';

const text = (id: string): string => `Tool call echo with id ${id} was canceled - another message came in before it could be completed.`;

it('[eino 196] what is no call of a tool of the agent is left alone, and a result of a tool search counts', async () => {
  const other = { type: 'server-tool-call' as const, id: 'srv', name: 'web_search', input: {} };
  const mixed = { ...called('call_1'), parts: [other, ...called('call_1').parts] };
  expect((await asked([patchToolCalls()], [mixed as never, user('Hi')])).lines).toHaveLength(3);
  const found = result('call_1', []);
  const search = { ...found, parts: found.parts.map((part) => ({ ...part, search: true })) };
  expect((await asked([patchToolCalls()], [called('call_1'), search as never])).lines).toHaveLength(2);
});

it('[eino 196] agentic messages are patched as well, and a block of a search counts there', async () => {
  const input: Json = [
    { role: 'user', blocks: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      blocks: [
        { type: 'function-tool-call', callId: 'call_1', name: 'echo', input: {} },
        { type: 'function-tool-call', callId: 'call_2', name: 'tool_search', input: {} },
      ],
    },
    { role: 'user', blocks: [{ type: 'tool-search-result', callId: 'call_2', name: 'tool_search', tools: [] }] },
  ];
  const seen: unknown[] = [];
  const watching = agenticMiddleware({
    name: 'watching',
    beforeModelRewriteState: ({ messages }) => void seen.push(...messages.map(({ role, blocks }) => [role, blocks[0]?.type])),
  });
  const { requests } = await asked([patchToolCalls(), watching], input as never);
  expect(requests[0]?.messages.map(lineOf)[2]).toBe(`tool: ${text('call_1')}`);
  expect(seen).toEqual([
    ['user', 'text'],
    ['assistant', 'function-tool-call'],
    ['user', 'function-tool-result'],
    ['user', 'tool-search-result'],
  ]);
});
