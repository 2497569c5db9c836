import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { EventBody } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import type { Json, Part } from '../../../contract/messages/messages';
import { UiFrames } from '../../../service/ai-sdk/frames';
import type { UiPart } from '../../../service/ai-sdk/parts';
import { Projection } from '../../../service/projection/projection';
import { pageOf, textsOf, toolsOf } from '../../support/ai-sdk-page';

type Given = EventBody | Delta;

const deskAt = (...runPath: readonly string[]) => ({ agent: runPath.at(-1) ?? '', runPath: [...runPath] });
const desk = deskAt('desk');
const delta = (body: DeltaBody, turn = 0, of = desk): Delta => ({
  ...of,
  address: `${of.runPath.join('/')}/t${turn}/model`,
  attempt: 1,
  ...body,
});
const says = (text: string, turn = 0): Delta => delta({ type: 'text-delta', text }, turn);
const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string, input: Json): Part => ({ type: 'tool-call', id, name: 'refund', input });
const answer = (parts: readonly Part[], turn = 0, of = desk): EventBody => ({
  ...of,
  type: 'model-end',
  turn,
  address: `${of.runPath.join('/')}/t${turn}/model`,
  message: { id: `m${turn}`, role: 'assistant', parts },
  model: 'test/model',
});
const result = (callId: string, output: Json, how: { readonly isError?: true } = {}, of = desk): EventBody => ({
  ...of,
  type: 'tool-end',
  tool: 'refund',
  callId,
  message: { id: `r-${callId}`, role: 'tool', parts: [{ type: 'tool-result', callId, name: 'refund', output, ...how }] },
});
const started = (callId: string, input: Json, of = desk): EventBody => ({
  ...of,
  type: 'tool-start',
  tool: 'refund',
  callId,
  input,
  address: `${callId}.0`,
});
const asks = (id: string, callId: string, input: Json): EventBody => ({
  type: 'interrupt-start',
  interrupt: { id, address: ['desk'], agent: 'desk', kind: 'approval', tool: 'refund', callId, input, inputHash: 'h' } satisfies Interrupt,
});
const ended = (interruptId: string, decision: Json): EventBody => ({
  type: 'interrupt-end',
  interruptId,
  answer: decision,
  reason: 'answer',
  by: 'ada',
});

function partsOf(...given: readonly Given[]): readonly UiPart[] {
  const projection = new Projection();
  const frames = new UiFrames();
  const steps = given.flatMap((one, offset) => [
    ...projection.take('attempt' in one && 'address' in one ? one : { ...one, offset, time: 0 }),
  ]);
  return [
    { type: 'start', messageId: 'turn-1' },
    ...[...steps, ...projection.end()].flatMap((step) => [...frames.take(step)]),
    ...frames.endStep(),
    { type: 'finish', finishReason: 'stop' },
  ];
}

describe('parts of a UI message', () => {
  it('are the same with tokens and without', async () => {
    const whole = await pageOf(
      partsOf(answer([text('One two.'), call('c', { amount: 4 })]), result('c', 'paid'), answer([text('Done.')], 1)),
    );
    const live = await pageOf(
      partsOf(
        says('One '),
        says('two.'),
        delta({ type: 'tool-input-start', callId: 'c', tool: 'refund' }),
        delta({ type: 'tool-input-delta', callId: 'c', text: '{"amount"' }),
        answer([text('One two.'), call('c', { amount: 4 })]),
        result('c', 'paid'),
        says('Do', 1),
        answer([text('Done.')], 1),
      ),
    );
    expect(live).toEqual(whole);
    expect(toolsOf(live)).toMatchObject([{ toolCallId: 'c', state: 'output-available', input: { amount: 4 }, output: 'paid' }]);
  });

  it('say which text is void when the model is asked again, and end the calls of it', async () => {
    const parts = partsOf(
      says('I pa'),
      delta({ type: 'tool-input-start', callId: 'c', tool: 'refund' }),
      delta({ type: 'tool-input-delta', callId: 'c', text: '{"am' }),
      delta({ type: 'attempt-void' }),
      answer([text('I look.')]),
    );
    const page = await pageOf(parts);
    const [first, second] = page.parts.filter(({ type }) => type === 'text') as { text: string; providerMetadata: Json }[];
    expect([first?.text, second?.text]).toEqual(['I pa', 'I look.']);
    expect(page.parts.filter(({ type }) => type === 'data-holdfast-void')).toMatchObject([{ data: { id: 'desk/t0/model' } }]);
    expect(first?.providerMetadata).toEqual({ holdfast: { message: 'desk/t0/model' } });
    expect(second?.providerMetadata).not.toEqual(first?.providerMetadata);
    expect(toolsOf(page)).toMatchObject([{ state: 'output-error' }]);
  });

  it('show the arguments with which a call is made, when somebody has changed them', async () => {
    const page = await pageOf(
      partsOf(
        answer([call('c', { amount: 90 })]),
        asks('i', 'c', { amount: 90 }),
        ended('i', { type: 'approve', editedInput: { amount: 40 } }),
        started('c', { amount: 40 }),
        result('c', 'paid'),
      ),
    );
    expect(toolsOf(page)).toMatchObject([{ state: 'output-available', input: { amount: 40 }, output: 'paid', approval: { id: 'i' } }]);
    expect(page.parts.filter(({ type }) => type === 'data-holdfast-interrupt')).toMatchObject([
      { data: { id: 'i', ended: 'answer', by: 'ada' } },
    ]);
  });

  it('ask at the same call again when another stage has to decide', async () => {
    const page = await pageOf(
      partsOf(
        answer([call('c', { amount: 90 })]),
        asks('i', 'c', { amount: 90 }),
        ended('i', { type: 'approve' }),
        asks('j', 'c', { amount: 90 }),
      ),
    );
    expect(toolsOf(page)).toMatchObject([{ state: 'approval-requested', approval: { id: 'j' } }]);
  });

  it('keep calls of agents apart that have the same id', async () => {
    const [a, b] = [deskAt('desk', 'a'), deskAt('desk', 'b')];
    const page = await pageOf(
      partsOf(
        answer([call('c', { amount: 1 })], 0, a),
        answer([call('c', { amount: 2 })], 0, b),
        result('c', 'of b', {}, b),
        result('c', 'of a', { isError: true }, a),
      ),
    );
    expect(toolsOf(page)).toMatchObject([
      { toolCallId: 'c', state: 'output-error', input: { amount: 1 }, errorText: 'of a' },
      { state: 'output-available', input: { amount: 2 }, output: 'of b' },
    ]);
  });

  it('leave texts open that are written at the same time', async () => {
    const [a, b] = [deskAt('desk', 'a'), deskAt('desk', 'b')];
    const of = (words: string, at: typeof a): Delta => delta({ type: 'text-delta', text: words }, 0, at);
    const page = await pageOf(
      partsOf(of('A1 ', a), of('B1 ', b), of('A2', a), of('B2', b), answer([text('A1 A2')], 0, a), answer([text('B1 B2')], 0, b)),
    );
    expect(textsOf(page)).toBe('A1 A2|B1 B2');
  });

  it('bring what a tool says meanwhile, and what code sends', async () => {
    const toolDelta = (body: DeltaBody): Delta => ({ ...desk, address: 'desk/t0/refund.0', attempt: 1, ...body });
    const parts = partsOf(
      answer([call('c', {})]),
      started('c', {}),
      toolDelta({ type: 'tool-progress', callId: 'c', tool: 'refund', data: 0.5 }),
      toolDelta({ type: 'tool-output-delta', callId: 'c', tool: 'refund', text: 'pa' }),
      toolDelta({ type: 'tool-output-delta', callId: 'c', tool: 'refund', text: 'id' }),
      { ...desk, type: 'custom', name: 'weather', data: { sun: true } },
      result('c', 'paid'),
    );
    expect(parts.filter((part) => part.type === 'tool-output-available')).toMatchObject([
      { output: 'pa', preliminary: true },
      { output: 'paid', preliminary: true },
      { output: 'paid' },
    ]);
    const page = await pageOf(parts);
    expect(page.parts).toContainEqual({ type: 'data-holdfast-progress', id: 'c', data: { tool: 'refund', callId: 'c', data: 0.5 } });
    expect(page.parts).toContainEqual({ type: 'data-weather', data: { sun: true } });
  });

  it('show a question to a person as a part of data, and nothing of an agent that is a tool', async () => {
    const question: Interrupt = { id: 'q', address: ['desk'], agent: 'desk', kind: 'question', info: { question: 'Which?' } };
    const page = await pageOf(
      partsOf(
        { type: 'interrupt-start', interrupt: question },
        answer([text('Hidden.')], 0, deskAt('desk', 'ask!0', 'sub')),
        answer([text('Shown.')]),
      ),
    );
    expect(page.parts).toContainEqual({ type: 'data-holdfast-interrupt', id: 'q', data: question });
    expect(textsOf(page)).toBe('Shown.');
  });

  it('ask for an approval of a call that the page does not show as a part of data alone', async () => {
    const page = await pageOf(partsOf(answer([text('I ask.')]), asks('i', 'elsewhere', { amount: 1 })));
    expect(toolsOf(page)).toEqual([]);
    expect(page.parts).toContainEqual(expect.objectContaining({ type: 'data-holdfast-interrupt', id: 'i' }));
  });

  it('show files of a model', async () => {
    const page = await pageOf(
      partsOf(
        answer([
          { type: 'file', mediaType: 'image/png', data: 'AAAA' },
          { type: 'file', mediaType: 'image/png', data: { url: 'https://example.com/a.png' } },
        ]),
      ),
    );
    expect(page.parts).toMatchObject([
      { type: 'file', url: 'data:image/png;base64,AAAA' },
      { type: 'file', url: 'https://example.com/a.png' },
    ]);
  });
});
