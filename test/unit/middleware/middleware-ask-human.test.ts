import { z } from 'zod';
import type { AskHumanOptions } from 'holdfast/middleware';
import { askHuman } from 'holdfast/middleware';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { Json } from 'holdfast/workflow';
import { defineTool } from 'holdfast/worker';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentWith, logOf, only, transcriptOf } from '../../support/memory-bed';
import { errorOf } from '../../support/failures';

const { asks } = runExamples(middlewareExamples('ask-human'), require);

const shipping: Json = {
  type: 'object',
  title: 'Where to send it',
  properties: {
    street: { type: 'string', title: 'Street and number', minLength: 3 },
    carrier: {
      oneOf: [
        { const: 'dhl', title: 'DHL' },
        { const: 'ups', title: 'UPS' },
      ],
      title: 'Carrier',
      default: 'dhl',
    },
    when: { type: 'string', format: 'date', title: 'Not before' },
    parcels: { type: 'integer', minimum: 1, maximum: 9, description: 'At most nine.' },
  },
  required: ['street', 'carrier'],
  additionalProperties: false,
};

async function asking(input: Json, options: AskHumanOptions = {}, by?: string): Promise<TestRun> {
  const agent = agentWith({ tools: ['note'], middleware: [askHuman(options)] });
  const note = defineTool({ description: 'Notes.', inputSchema: z.object({}), execute: () => 'noted' });
  const model = scriptedModel([{ toolCalls: [{ name: options.toolName ?? 'askHuman', input }] }, { text: 'Thanks.' }]);
  return testRun(agent, { input: 'Hi', model, tools: { note }, ...(by === undefined ? {} : { by }) });
}

async function asked(run: TestRun) {
  await run.outcome();
  const interrupt = only(await run.interrupts());
  if (interrupt.kind === 'approval') throw new Error(interrupt.kind);
  return interrupt;
}

const resultOf = async (run: TestRun): Promise<string | undefined> => (await transcriptOf(run))[2];

it('docs/reference/middleware/ask-human.md shows code that does what the page says', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'askHuman', input: { question: 'Where to?' } }] }, { text: 'Thanks.' }]);
  const run = await testRun(agentWith({ tools: [], middleware: [asks] }), { input: 'Hi', model });
  await run.resume((await asked(run)).id, { street: 'Hill 4', carrier: 'ups' }, { by: 'sue', roles: ['support'] });
  expect(await resultOf(run)).toBe('tool: {"street":"Hill 4","carrier":"ups"}');
});

describe('askHuman', () => {
  it('asks for a free text, and gives the model what a person says', async () => {
    const run = await asking({ question: 'Which colour?', details: 'The shop has two.' });
    const { id, info, answerSchema } = await asked(run);
    expect(info).toEqual({
      question: 'Which colour?',
      details: 'The shop has two.',
      form: { fields: [{ name: 'answer', label: 'Answer', required: true, type: 'text' }] },
    });
    expect(answerSchema).toEqual({ type: 'string', minLength: 1 });
    await run.resume(id, 'blue', { by: 'ada' });
    expect(await resultOf(run)).toBe('tool: blue');
  });

  it('takes one of the options, and nothing else', async () => {
    const run = await asking({ question: 'Which colour?', options: ['blue', 'red'] });
    const before = await asked(run);
    const choices = ['blue', 'red'].map((value) => ({ value, label: value }));
    expect(before.info).toMatchObject({ form: { fields: [{ type: 'choice', choices }] } });
    await expect(run.resume(before.id, 'green')).rejects.toMatchObject({ code: 'answer-invalid' });
    expect(await asked(run)).toEqual(before);
    await run.resume(before.id, 'red');
    expect(await resultOf(run)).toBe('tool: red');
  });

  it('takes another answer than the options where the model says so', async () => {
    const run = await asking({ question: 'Which colour?', options: ['blue', 'red'], other: true });
    await run.resume((await asked(run)).id, 'green');
    expect(await resultOf(run)).toBe('tool: green');
  });

  it('shows a form with labels, defaults and order, and fills in what an answer leaves out', async () => {
    const run = await asking({ question: 'Where to?' }, { form: shipping });
    const { id, info } = await asked(run);
    expect(info).toEqual({
      question: 'Where to?',
      form: {
        title: 'Where to send it',
        fields: [
          { name: 'street', label: 'Street and number', type: 'text', required: true },
          {
            ...{ name: 'carrier', label: 'Carrier', type: 'choice', required: false, default: 'dhl' },
            choices: [
              { value: 'dhl', label: 'DHL' },
              { value: 'ups', label: 'UPS' },
            ],
          },
          { name: 'when', label: 'Not before', type: 'date', required: false, format: 'date' },
          { name: 'parcels', label: 'parcels', type: 'number', required: false, help: 'At most nine.', min: 1, max: 9 },
        ],
      },
    });
    await expect(run.resume(id, { street: 'x' })).rejects.toMatchObject({ code: 'answer-invalid' });
    await expect(run.resume(id, { carrier: 'dhl' })).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(id, { street: 'Hill 4' });
    expect(await resultOf(run)).toBe('tool: {"street":"Hill 4","carrier":"dhl"}');
  });

  it('fills in the defaults of objects and lists in a form, of null, and of an answer that stands instead', async () => {
    const line = {
      type: 'object',
      properties: { sku: { type: 'string' }, count: { type: 'integer', default: 1 } },
      required: ['sku', 'count'],
    };
    const place = {
      type: 'object',
      properties: { city: { type: 'string' }, country: { type: 'string', default: 'DE' } },
      required: ['city', 'country'],
    };
    const note = { type: ['string', 'null'], default: null };
    const form = {
      type: 'object',
      properties: { place, lines: { type: 'array', items: line }, note },
      required: ['place', 'lines', 'note'],
    };
    const fallback = { place: { city: 'Ulm' }, lines: [] };
    const options: AskHumanOptions = { form, expires: '1d', fallback };
    const run = await asking({ question: 'What?' }, options);
    const { id } = await asked(run);
    const without = run.resume(id, { place: { country: 'FR' }, lines: [] });
    await expect(without).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(id, { place: { city: 'Bonn' }, lines: [{ sku: 'a' }, { sku: 'b', count: 2 }] });
    const bonn = { city: 'Bonn', country: 'DE' };
    const lines = ['a', 'b'].map((sku, before) => ({ sku, count: before + 1 }));
    expect(await resultOf(run)).toBe(`tool: ${JSON.stringify({ place: bonn, lines, note: null })}`);
    const late = await asking({ question: 'What?' }, options);
    await asked(late);
    await late.advance('1d');
    expect(await resultOf(late)).toContain(JSON.stringify({ place: { city: 'Ulm', country: 'DE' }, lines: [], note: null }));
  });

  it('draws the fields that the model asks for', async () => {
    const fields = [
      { name: 'size', label: 'Size', type: 'choice', choices: ['S', 'L'] },
      { name: 'gift', label: 'A gift?', type: 'boolean', required: false },
      { name: 'photo', label: 'Photo of the damage', type: 'file' },
    ];
    const run = await asking({ question: 'What is it?', fields }, { files: true });
    const { id, info } = await asked(run);
    const drawn = [
      { name: 'size', type: 'choice' },
      { name: 'gift', type: 'boolean', required: false },
      { name: 'photo', type: 'file', label: 'Photo of the damage' },
    ];
    expect(info).toMatchObject({ form: { fields: drawn } });
    await expect(run.resume(id, { size: 'S', photo: 'data:…' })).rejects.toMatchObject({ code: 'answer-invalid' });
    const photo = { name: 'box.jpg', mediaType: 'image/jpeg', url: 'https://files.example/box.jpg' };
    await run.resume(id, { size: 'S', photo });
    expect(await resultOf(run)).toBe(`tool: ${JSON.stringify({ size: 'S', photo })}`);
  });

  it('lets the model ask for no files unless it is allowed', async () => {
    const run = await asking({ question: 'What?', fields: [{ name: 'photo', label: 'Photo', type: 'file' }] });
    expect((await run.outcome()).status).toBe('completed');
    expect(await resultOf(run)).toMatch(/^tool: error /);
  });

  it('asks those who are named, and follows an escalation', async () => {
    const run = await asking(
      { question: 'Which colour?' },
      { by: { users: ['ada'] }, remind: ['1d'], escalate: { after: '3d', to: { roles: ['manager'] } }, expires: '30d' },
    );
    const { id } = await asked(run);
    await expect(run.resume(id, 'blue', { by: 'mona', roles: ['manager'] })).rejects.toMatchObject({ code: 'answer-forbidden' });
    await run.advance('3d');
    await run.resume(id, 'blue', { by: 'mona', roles: ['manager'] });
    expect(await resultOf(run)).toBe('tool: blue');
    expect((await logOf(run)).map(({ type }) => type).filter((type) => /remind|escalate/.test(type))).toEqual([
      'interrupt-remind',
      'interrupt-escalate',
    ]);
  });

  it('asks whom a function of the run names', async () => {
    const run = await asking({ question: 'Well?' }, { by: ({ startedBy = '' }) => ({ users: [startedBy] }) }, 'ada');
    expect((await asked(run)).by).toEqual(['ada']);
  });

  it.each<[string, AskHumanOptions, Json, string]>([
    ['that nobody answered', { expires: '1d' }, null, 'tool: Nobody answered in time.'],
    ['the answer instead', { expires: '1d', fallback: 'blue' }, 'blue', 'tool: Nobody answered in time. Go on with this answer: blue'],
  ])('tells the model %s', async (_, options, inLog, result) => {
    const run = await asking({ question: 'Which colour?' }, options);
    await asked(run);
    await run.advance('1d');
    expect(await resultOf(run)).toBe(result);
    expect((await logOf(run)).find(({ type }) => type === 'interrupt-end')).toMatchObject({ reason: 'deadline', answer: inLog });
  });

  it.each<[string, unknown, RegExp]>([
    ['a fall-back that never comes', { fallback: 'x' }, /fallback is the answer when the time is over, and there is no expires/],
    ['a fall-back that does not fit the form', { form: shipping, expires: '1d', fallback: {} }, /fallback does not fit form: street is/],
    ['a form that is none', { form: { type: 'string' } }, /form must be the JSON Schema of an object with properties/],
    ['a name that is none', { by: {} }, /by must be an object with users or roles/],
    ['others where anybody may answer', { escalate: { after: '1d', to: { users: ['x'] } } }, /escalate names others than those of by/],
    ['a misspelt option', { expire: '1d' }, /there is no option "expire"; did you mean expires/],
  ])('refuses %s', (_, options, message) => {
    expect(() => askHuman(options as never)).toThrow(errorOf('agent-invalid', expect.stringMatching(message)));
  });
});
