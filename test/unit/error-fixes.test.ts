import { askDecision } from '../../cli/ask-decision';
import { jsonOrText } from '../../cli/json-flags';
import { errorTable } from '../../contract/errors';
import { coded } from '../support/coded';

describe('what an error says to change', () => {
  it.each([
    ['request-invalid', 'field'],
    ['port-in-use', '--port'],
    ['port-in-use', 'HOLDFAST_PORT'],
    ['config-invalid', 'schema'],
    ['cancelled', 'new id'],
    ['tool-failed', 'toolErrors'],
  ] as const)('of %s names %s', (code, word) => {
    expect(errorTable[code].fix).toContain(word);
  });

  it.each([
    'run-failed',
    'model-failed',
    'tool-failed',
    'agent-failed',
    'request-invalid',
    'interrupt-expired',
    'run-ended',
    'cancelled',
  ] as const)('of %s is something to do, and not only where to look', (code) => {
    expect(errorTable[code].fix).toMatch(/^(Correct|Start|Read) /);
  });
});

it.each([
  ['run-id-in-use', /^Use a new id/],
  ['run-not-failed', /holdfast resume/],
] as const)('of %s does not repeat its message, and leads on', (code, fix) => {
  expect(errorTable[code].fix).toMatch(fix);
});

it('a run that has ended says how one that was cancelled or failed goes on', () => {
  expect(errorTable['run-ended'].fix).toMatch(/holdfast resume.*holdfast retry/);
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
    expect(() => jsonOrText(text)).toThrow(coded('request-invalid', /^The answer is not JSON: /));
  });
});

it('an answer at the prompt that is broken JSON is asked for again', async () => {
  const typed = ['{bad', '{"to":"Rome"}'];
  const written: string[] = [];
  const terminal = { ask: () => Promise.resolve(typed.shift()), write: (line: string) => void written.push(line) };
  expect(await askDecision({ kind: 'question' } as never, terminal as never)).toEqual({ body: { answer: { to: 'Rome' } } });
  expect(written).toEqual([expect.stringMatching(/^ {2}The answer is not JSON: /)]);
});
