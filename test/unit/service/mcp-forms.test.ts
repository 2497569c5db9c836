import type { Interrupt } from '../../../contract/interrupts';
import type { Json } from '../../../contract/messages/messages';
import { toolOfAgent } from '../../../service/mcp/agent-tool';
import { answerOfForm, formOf } from '../../../service/mcp/forms';
import { compiledJsonSchema } from '../../../host/json-schema';

const base = { id: 'a.q', address: [], agent: 'desk' };
const question = (answerSchema?: Json): Interrupt => ({
  ...base,
  kind: 'question',
  info: { question: 'Where to?' },
  ...(answerSchema === undefined ? {} : { answerSchema }),
});
const approval: Interrupt = {
  ...base,
  kind: 'approval',
  tool: 'pay',
  callId: 'c',
  input: { amount: 4 },
  inputHash: 'h',
  policy: { name: 'refunds', version: 'v1', stage: { number: 1, of: 2, need: 1 }, given: [] },
};
const inDoubt: Interrupt = { ...base, kind: 'in-doubt', info: { question: 'Did pay happen?' } };
const list: Json = { type: 'array', items: { type: 'string' } };
const address: Json = {
  type: 'object',
  properties: { city: { type: 'string', pattern: '^B' }, express: { type: 'boolean' } },
  required: ['city'],
};
const accept = (content: object) => ({ action: 'accept', content });

describe('a form', () => {
  it('shows the call, its arguments and the stage of its policy', () => {
    expect(formOf(approval).params.message).toBe('May pay be called?\n\npay {"amount":4}\n\nPolicy refunds, stage 1 of 2.');
  });

  it.each<[string, Interrupt, object]>([
    ['an approval', approval, { approved: 'boolean', comment: 'string' }],
    ['a call in doubt', inDoubt, { happened: 'boolean', result: 'string' }],
    ['a question', question(), { answer: 'string' }],
    ['a question for a number', question({ type: 'integer', minimum: 1 }), { answer: 'integer' }],
    ['a question with flat fields', question(address), { city: 'string', express: 'boolean' }],
    ['a question with fields inside fields', question({ type: 'object', properties: { to: address } }), { answer: 'string' }],
    ['a question for a list', question(list), { answer: 'string' }],
    ['a question without fields', question({ type: 'object', properties: {} }), { answer: 'string' }],
  ])('of %s is flat', (_, interrupt, types) => {
    const { requestedSchema } = formOf(interrupt).params;
    const fields = Object.entries(requestedSchema['properties'] as Readonly<Record<string, { readonly type: string }>>);
    expect([requestedSchema['type'], Object.fromEntries(fields.map(([name, { type }]) => [name, type]))]).toEqual(['object', types]);
    expect(JSON.stringify(requestedSchema)).not.toContain('pattern');
  });

  it.each<[string, Interrupt, unknown, Json | undefined]>([
    ['an approval', approval, accept({ approved: true }), { type: 'approve' }],
    ['an approval with a comment', approval, accept({ approved: true, comment: 'ok' }), { type: 'approve', comment: 'ok' }],
    ['a refusal with a reason', approval, accept({ approved: false, comment: 'no' }), { type: 'reject', feedback: 'no' }],
    ['a closed form', approval, { action: 'cancel' }, { type: 'reject' }],
    ['an action that is none', approval, { action: 'later' }, undefined],
    ['no object', approval, 'yes', undefined],
    ['a call that happened', inDoubt, accept({ happened: true, result: '{"id":7}' }), { happened: true, result: { id: 7 } }],
    ['a call with a result in words', inDoubt, accept({ happened: true, result: 'paid' }), { happened: true, result: 'paid' }],
    ['a call that did not happen', inDoubt, accept({ happened: false, result: '7' }), { happened: false }],
    ['a closed form of a call in doubt', inDoubt, { action: 'decline' }, undefined],
    ['words', question(), accept({ answer: 'Bonn' }), 'Bonn'],
    ['a number', question({ type: 'integer' }), accept({ answer: 7 }), 7],
    ['digits for a text', question({ type: 'string' }), accept({ answer: '7' }), '7'],
    ['fields', question(address), accept({ city: 'Bonn' }), { city: 'Bonn' }],
    ['JSON for a list', question(list), accept({ answer: '["a"]' }), ['a']],
    ['a declined question', question(), { action: 'decline' }, undefined],
  ])('with %s is an answer', (_, interrupt, given, answer) => {
    expect(answerOfForm(interrupt, given)).toEqual(answer);
  });

  it.each<[string, Interrupt, object]>([
    ['an approval without a decision', approval, { comment: 'hm' }],
    ['a question without its field', question(), { other: 'x' }],
    ['words for a list', question(list), { answer: 'a, b' }],
  ])('is refused for %s', (_, interrupt, content) => {
    const refused = (): unknown => answerOfForm(interrupt, accept(content));
    expect(refused).toThrow(expect.objectContaining({ code: 'answer-invalid' }) as Error);
  });
});

describe('the tool of an agent', () => {
  const agent = { name: 'desk', description: 'A desk.' };
  const refuse = (problem: string): never => {
    throw new Error(problem);
  };
  const isTaken = (facts: object, given: Json): boolean => {
    const { inputSchema } = toolOfAgent({ ...agent, takesJob: false, ...facts });
    return compiledJsonSchema(inputSchema, refuse, true)(given).length === 0;
  };
  const job: Json = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'], additionalProperties: false };
  const nested: Json = { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#/items' }] } };
  const named: Json = { $id: 'https://example.com/x', type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'string' } } };
  const tree: Json = { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } };

  it.each<[string, object, Json, boolean]>([
    ['a text', {}, { input: 'Hi', runId: 'r' }, true],
    ['no text', {}, {}, false],
    ['a list for a text', {}, { input: [] }, false],
    ['the fields of a job', { takesJob: true, inputSchema: job }, { order: '42', runId: 'r' }, true],
    ['a job without a field', { takesJob: true, inputSchema: job }, { runId: 'r' }, false],
    ['a job with a stranger', { takesJob: true, inputSchema: job }, { order: '42', x: 1 }, false],
    ['a job of any form', { takesJob: true }, { input: 7 }, true],
    ['a job that is a list', { takesJob: true, inputSchema: list }, { input: ['a'] }, true],
    ['a list with a stranger', { takesJob: true, inputSchema: list }, { input: [7] }, false],
    ['a job that refers to itself', { takesJob: true, inputSchema: tree }, { input: { next: { next: {} } } }, true],
    ['a wrong job that refers to itself', { takesJob: true, inputSchema: tree }, { input: { next: 7 } }, false],
    ['a job that refers to its own place', { takesJob: true, inputSchema: nested }, { input: ['a'] }, true],
    ['a job with an id', { takesJob: true, inputSchema: named }, { input: ['a'] }, true],
    [
      'a job with a runId of its own',
      { takesJob: true, inputSchema: { type: 'object', properties: { runId: {} } } },
      { input: { runId: 7 } },
      true,
    ],
  ])('describes %s', (_, facts, given, is) => {
    expect(isTaken(facts, given)).toBe(is);
  });
});
