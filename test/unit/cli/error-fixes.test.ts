import { askDecision } from '../../../cli/ask-decision';
import { jsonOrText } from '../../../cli/json-flags';
import { errorTable } from '../../../contract/errors';
import { errorSaying } from '../../support/failures';

it.each<[keyof typeof errorTable, RegExp]>([
  ['request-invalid', /^(Correct|Start|Read) .*field/],
  ['port-in-use', /--port.*HOLDFAST_PORT|HOLDFAST_PORT.*--port/],
  ['config-invalid', /schema/],
  ['cancelled', /^(Correct|Start|Read) .*new id/],
  ['tool-failed', /^(Correct|Start|Read) .*toolErrors/],
  ['run-failed', /^(Correct|Start|Read) /],
  ['model-failed', /^(Correct|Start|Read) /],
  ['agent-failed', /^(Correct|Start|Read) /],
  ['interrupt-expired', /^(Correct|Start|Read) /],
  ['run-id-in-use', /^Use a new id/],
  ['run-not-failed', /holdfast resume/],
  ['run-ended', /^(Correct|Start|Read) .*holdfast resume.*holdfast retry/],
])('the fix of %s is something to do, and names what to change: %s', (code, words) => {
  expect(errorTable[code].fix).toMatch(words);
});

describe('an answer on the command line', () => {
  it.each([
    ['yes, please', 'yes, please'],
    ['42', 42],
    ['{"to":"Rome"}', { to: 'Rome' }],
    ['"{bad"', '{bad'],
  ])('is JSON or a text: %s', (text, answer) => {
    expect(jsonOrText(text)).toEqual(answer);
  });

  it.each(['{bad', ' [1,', '"open'])('that begins as JSON and is none is refused: %s', (text) => {
    expect(() => jsonOrText(text)).toThrow(errorSaying('request-invalid', /^The answer is not JSON: /));
  });
});

it('an answer at the prompt that is broken JSON is asked for again', async () => {
  const typed = ['{bad', '{"to":"Rome"}'];
  const written: string[] = [];
  const terminal = { ask: () => Promise.resolve(typed.shift()), write: (line: string) => void written.push(line) };
  expect(await askDecision({ kind: 'question' } as never, terminal as never)).toEqual({ body: { answer: { to: 'Rome' } } });
  expect(written).toEqual([expect.stringMatching(/^ {2}The answer is not JSON: /)]);
});
