import { messagesIn, messagesOf } from '../../../contract/messages/message-shapes';
import type { AgenticMessage } from '../../../contract/messages/agentic-messages';
import type { ChatMessage } from '../../../contract/messages/chat-messages';
import type { Json, Message, Part } from '../../../contract/messages/messages';
import { isMessage } from '../../../contract/messages/messages';
import { Random } from '../../parity/random';

function conversation(seed: number): readonly Message[] {
  const random = new Random(`${seed}`);
  const maybe = (fields: object): object => (random.below(3) === 0 ? fields : {});
  const json = (): Json => [null, 0, 'text', '', [1, { a: null }], { deep: [{ er: true }] }][random.below(6)] as Json;
  const words = (): Part =>
    [
      { type: 'text' as const, text: ['Hi', '', ' '][random.below(3)] as string, ...maybe({ extra: { own: { signature: 's' } } }) },
      { type: 'file' as const, mediaType: 'image/png', data: random.below(2) === 0 ? 'aGk=' : { url: 'https://example.com/a.png' } },
    ][random.below(2)] as Part;
  const providers: readonly Part[] = [
    { type: 'server-tool-call', id: 's1', name: 'web_search', input: json() },
    { type: 'server-tool-result', callId: 's1', name: 'web_search', output: json(), isError: true },
    { type: 'mcp-tool-list', server: 'files', tools: [{ name: 'read' }] },
    { type: 'mcp-tool-call', server: 'files', id: 'm1', name: 'read', input: json(), approvalRequestId: 'r1' },
    { type: 'mcp-tool-result', server: 'files', callId: 'm1', name: 'read', output: json(), extra: { own: { id: 1 } } },
    { type: 'mcp-approval-request', server: 'files', id: 'r1', name: 'read', input: json() },
  ];
  const several = <T>(most: number, make: () => T): T[] => Array.from({ length: random.below(most + 1) }, make);
  const message = (position: number): Message => {
    const own = { ...maybe({ id: `m.${seed}.${position}` }), ...maybe({ extra: { note: json() } }) };
    switch (random.below(4)) {
      case 0:
        return { ...own, role: 'system', parts: several(2, () => ({ type: 'text', text: 'Be brief.' })) };
      case 1:
        return {
          ...own,
          role: 'user',
          parts: [...several(3, words), ...several(1, (): Part => ({ type: 'mcp-approval-response', requestId: 'r1', approved: false }))],
        };
      case 2:
        return {
          ...own,
          role: 'assistant',
          parts: [
            ...several(1, (): Part => ({ type: 'reasoning', text: 'Hm.', ...maybe({ extra: { own: { signature: 's' } } }) })),
            ...several(3, () => (random.below(2) === 0 ? words() : (providers[random.below(providers.length)] as Part))),
            ...several(2, (): Part => ({
              type: 'tool-call',
              id: `c${random.below(9)}`,
              name: 'look',
              input: json(),
              ...maybe({ extra: { g: 1 } }),
            })),
          ],
        };
      default:
        return {
          ...own,
          role: 'tool',
          parts: [
            {
              type: 'tool-result',
              callId: 'c1',
              name: 'look',
              ...[
                { output: json() },
                { output: 'No.', isError: true },
                { output: [{ type: 'text', text: 'See' }], multipart: true as const },
                { output: [{ name: 'found' }], search: true as const },
              ][random.below(4)],
            } as Part,
          ],
        };
    }
  };
  return several(8, () => 0).map((_, position) => message(position));
}

const many = Array.from({ length: 400 }, (_, seed) => conversation(seed + 1));

describe('messages in another shape', () => {
  it.each(['parts', 'chat', 'agentic'] as const)('and back are the messages that they were, in %s', (shape) => {
    for (const messages of many) {
      const shown = messagesIn(shape, messages);
      expect(messagesOf(shown)).toStrictEqual(messages);
      expect(shown.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
      // The views are JSON and pass every continue-as-new unchanged.
      expect(messagesOf(JSON.parse(JSON.stringify(shown)) as typeof shown)).toStrictEqual(messages);
    }
    expect(new Set(many.flat().flatMap(({ parts }) => parts.map(({ type }) => type))).size).toBe(12);
  });

  it.each(['chat', 'agentic'] as const)('are the same when they come from there, in %s', (shape) => {
    for (const messages of many) {
      const shown = messagesIn(shape, messages);
      expect(messagesIn(shape, messagesOf(shown))).toStrictEqual(shown);
    }
  });

  it('are valid as they are stored', () => {
    for (const messages of many) expect(messages.filter((message) => !isMessage(message))).toEqual([]);
  });
});

const call: Part = { type: 'tool-call', id: 'c1', name: 'look', input: { at: 1 } };
const result = (callId: string, output: Json = 'Seen.'): Part => ({ type: 'tool-result', callId, name: 'look', output });

describe('agentic messages', () => {
  it('have no role for tools: results are what the user says', () => {
    const messages: readonly Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { id: 'a', role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm.' }, call] },
      { id: 't', role: 'tool', parts: [result('c1')] },
    ];
    expect(messagesIn('agentic', messages)).toEqual([
      { role: 'user', blocks: [{ type: 'text', text: 'Hi' }] },
      {
        id: 'a',
        role: 'assistant',
        blocks: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'function-tool-call', callId: 'c1', name: 'look', input: { at: 1 } },
        ],
      },
      { id: 't', role: 'user', blocks: [{ type: 'function-tool-result', callId: 'c1', name: 'look', output: 'Seen.' }] },
    ]);
  });

  it('have one result each; the first has the id', () => {
    const both: Message = { id: 't', role: 'tool', parts: [result('c1'), result('c2')] };
    const shown = messagesIn('agentic', [both]);
    expect(shown.map(({ id, blocks }) => [id, blocks.length])).toEqual([
      ['t', 1],
      [undefined, 1],
    ]);
    expect(messagesOf(shown)).toEqual([
      { id: 't', role: 'tool', parts: [result('c1')] },
      { role: 'tool', parts: [result('c2')] },
    ]);
  });

  it('that have results beside other things are several messages, the results first', () => {
    const message: AgenticMessage = {
      role: 'user',
      blocks: [
        { type: 'text', text: 'And now?' },
        { type: 'function-tool-result', callId: 'c1', name: 'look', output: 'Seen.' },
        { type: 'tool-search-result', callId: 'c2', name: 'tool_search', tools: [{ name: 'x' }] },
      ],
    };
    expect(messagesOf([message])).toEqual([
      { role: 'tool', parts: [result('c1')] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c2', name: 'tool_search', output: [{ name: 'x' }], search: true }] },
      { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
    ]);
  });
});

describe('chat messages', () => {
  it('have their text as content, calls beside it, and a role for results', () => {
    const messages: readonly Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Let me look.' }, call] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'look', output: 'No.', isError: true }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'No.' },
        ],
      },
    ];
    expect(messagesIn('chat', messages)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Let me look.', toolCalls: [{ id: 'c1', name: 'look', input: { at: 1 } }] },
      { role: 'tool', toolCallId: 'c1', toolName: 'look', content: 'No.', isError: true },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'No.' },
        ],
      },
    ]);
  });

  it('have all calls behind what is said, wherever they stood', () => {
    const [message] = messagesIn('chat', [{ role: 'assistant', parts: [call, { type: 'text', text: 'There.' }] }]);
    expect(message).toMatchObject({ content: 'There.', toolCalls: [{ id: 'c1' }] });
  });
});

describe('what is no message', () => {
  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'Hi'],
    ['a message without anything', { role: 'user' }],
    ['an unknown role', { role: 'robot', content: 'Hi' }],
    ['an agentic message with a role for tools', { role: 'tool', blocks: [] }],
    ['a block of a shape that is not its own', { role: 'assistant', blocks: [call] }],
    ['a block that lacks something', { role: 'assistant', blocks: [{ type: 'mcp-tool-call', id: '1', name: 'x', input: {} }] }],
    ['a part that nobody knows', { role: 'assistant', parts: [{ type: 'sculpture' }] }],
    ['a call without arguments', { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'x' }] }],
    ['a result without its call', { role: 'tool', content: 'Seen.' }],
  ])('is refused by its place: %s', (_, value) => {
    expect(() => messagesOf([{ role: 'user', content: 'Hi' }, value as ChatMessage])).toThrow(
      expect.objectContaining({ code: 'message-invalid', message: expect.stringMatching(/^Message 1 is no message: /) }),
    );
  });

  it('nor is a shape that nobody knows one', () => {
    expect(() => messagesIn('round' as 'chat', [])).toThrow(expect.objectContaining({ code: 'request-invalid' }));
    expect(() => messagesOf('Hi' as never)).toThrow(expect.objectContaining({ code: 'message-invalid' }));
  });
});
