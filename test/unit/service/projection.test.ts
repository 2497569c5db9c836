import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { RunEvent } from '../../../contract/events';
import type { Json, Part, StoredMessage } from '../../../contract/messages/messages';
import { Projection } from '../../../service/projection/projection';
import type { ShownStep } from '../../../service/projection/steps';
import { Random } from '../../parity/random';

const of = { agent: 'desk', runPath: ['desk'] };
const address = 'desk/t0/model';

const delta = (body: DeltaBody, attempt = 1, at = address): Delta => ({ ...of, address: at, attempt, ...body });
const says = (text: string, attempt = 1): Delta => delta({ type: 'text-delta', text }, attempt);
const thinks = (text: string): Delta => delta({ type: 'reasoning-delta', text });
const begin = (attempt = 1): Delta => delta({ type: 'attempt-start' }, attempt);
const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string, input: Json): Part => ({ type: 'tool-call', id, name: 'refund', input });
const answer = (parts: readonly Part[], offset = 0): RunEvent => {
  const message: StoredMessage = { id: 'm', role: 'assistant', parts };
  return { ...of, type: 'model-end', turn: 0, address, message, model: 'test/model', offset, time: 0 };
};
const retry: RunEvent = {
  ...of,
  type: 'model-retry',
  turn: 0,
  attempt: 0,
  error: { code: 'model-failed', message: 'No.' },
  offset: 0,
  time: 0,
};

function steps(...given: readonly (RunEvent | Delta)[]): readonly ShownStep[] {
  const projection = new Projection();
  return [...given.flatMap((one) => [...projection.take(one)]), ...projection.end()];
}

function short(step: ShownStep): string {
  if (step.step === 'event') return step.event.type;
  const { step: kind } = step;
  if (kind === 'text' || kind === 'reasoning') return `${kind} ${step.text}`;
  if (kind === 'call-start') return `${kind} ${step.callId}`;
  if (kind === 'call-input') return `${kind} ${step.text}`;
  if (kind === 'void' || kind === 'message') return `${kind} ${step.id}`;
  return kind;
}
const block = (kind: 'text' | 'reasoning', ...pieces: readonly string[]): readonly string[] => [
  `${kind}-start`,
  ...pieces.map((piece) => `${kind} ${piece}`),
  `${kind}-end`,
];
const shown = (...given: readonly (RunEvent | Delta)[]): readonly string[] => steps(...given).map(short);

describe('a message', () => {
  it('is shown whole where no call told of it before', () => {
    expect(shown(answer([{ type: 'reasoning', text: 'Hm.' }, text('Done.'), call('c1', { amount: 4 })]))).toEqual([
      ...block('reasoning', 'Hm.'),
      ...block('text', 'Done.'),
      'call-start c1',
      'call-input {"amount":4}',
      'call-end',
      `message ${address}`,
    ]);
  });

  it('goes on where it was for a reader that comes back in the middle of an attempt', () => {
    const asks = delta({ type: 'tool-input-start', callId: 'c1', tool: 'refund' });
    const writes = (piece: string): Delta => delta({ type: 'tool-input-delta', callId: 'c1', text: piece });
    const heard = [begin(), thinks('Hm.'), says('Do'), says('n'), asks, writes('{"amo')];
    const again = [begin(), thinks('H'), thinks('m.'), says('Don'), asks, writes('{"amount'), writes('":4}')];
    expect(shown(...heard, ...again)).toEqual([...shown(...heard).slice(0, -1), 'call-input unt', 'call-input ":4}', 'call-end']);
    expect(shown(begin(), says('Do'), begin(), says('Done.'))).toEqual([...block('text', 'Do', 'ne.')]);
  });

  it('begins anew where the same attempt was void', () => {
    const lines = shown(begin(), says('Do'), delta({ type: 'attempt-void' }), begin(), says('Do'));
    expect(lines).toEqual([...block('text', 'Do'), `void ${address}`, ...block('text', 'Do')]);
  });

  it('has only what is missing behind what was heard of it', () => {
    expect(shown(begin(), says('Do'), says('n'), answer([text('Done.')]))).toEqual([
      ...block('text', 'Do', 'n', 'e.'),
      `message ${address}`,
    ]);
  });

  it('closes one kind of piece before the next begins', () => {
    expect(shown(thinks('Hm.'), says('Done.'), answer([{ type: 'reasoning', text: 'Hm.' }, text('Done.')]))).toEqual([
      ...block('reasoning', 'Hm.'),
      ...block('text', 'Done.'),
      `message ${address}`,
    ]);
  });

  it('does not repeat arguments that came in pieces, also with other spaces', () => {
    const pieces = ['{ "amount"', ': 4 }'].map((piece) => delta({ type: 'tool-input-delta', callId: 'c1', text: piece }));
    expect(
      shown(delta({ type: 'tool-input-start', callId: 'c1', tool: 'refund' }), ...pieces, answer([call('c1', { amount: 4 })])),
    ).toEqual(['call-start c1', 'call-input { "amount"', 'call-input : 4 }', 'call-end', `message ${address}`]);
  });

  it('leaves out arguments of a call that nobody began', () => {
    expect(shown(delta({ type: 'tool-input-delta', callId: 'c1', text: '{' }))).toEqual([]);
  });

  it('that has no text shows none', () => {
    expect(shown(begin(), says(''), answer([text('')]))).toEqual([`message ${address}`]);
  });

  it.each([
    [
      'an attempt that failed',
      [begin(), says('Hal'), delta({ type: 'attempt-void' }), begin(2), says('Whole.', 2), answer([text('Whole.')])],
    ],
    ['a message that a layer changed', [begin(), says('Hal'), delta({ type: 'message-replaced' }), answer([text('Whole.')])]],
    ['an answer that was rejected', [begin(), says('Hal'), retry, answer([text('Whole.')])]],
    ['a message that is another, though nobody said so', [begin(), says('Hal'), answer([text('Whole.')])]],
  ])('closes and takes back what was shown of %s, and its next try has an id of its own', (_what, given) => {
    expect(shown(...given).filter((line) => line !== 'model-retry')).toEqual([
      ...block('text', 'Hal'),
      `void ${address}`,
      ...block('text', 'Whole.'),
      `message ${address}~2`,
    ]);
  });

  it('takes back calls that are in no message', () => {
    const began = delta({ type: 'tool-input-start', callId: 'c1', tool: 'refund' });
    expect(shown(began, answer([text('No.')]))).toEqual([
      'call-start c1',
      'call-end',
      `void ${address}`,
      ...block('text', 'No.'),
      `message ${address}~2`,
    ]);
  });

  it('stays where another agent asks its model again', () => {
    const other = { ...retry, agent: 'other', runPath: ['desk', 'other'] };
    expect(shown(begin(), says('Do'), other, answer([text('Done.')]))).toEqual([
      'text-start',
      'text Do',
      'model-retry',
      'text ne.',
      'text-end',
      `message ${address}`,
    ]);
  });
});

describe('a stream that ends', () => {
  it('closes what is open, once', () => {
    expect(shown(says('Do'), delta({ type: 'tool-input-start', callId: 'c1', tool: 'refund' }, 1, 'other'))).toEqual([
      'text-start',
      'text Do',
      'call-start c1',
      'text-end',
      'call-end',
    ]);
  });

  it('closes it before the end of the run', () => {
    const end: RunEvent = { type: 'run-end', status: 'cancelled', offset: 1, time: 0 };
    expect(shown(says('Do'), end)).toEqual([...block('text', 'Do'), 'run-end']);
  });
});

it('what tools return in pieces is told with all that came before in this attempt', () => {
  const said = (piece: string): Delta => delta({ type: 'tool-output-delta', callId: 'c1', tool: 'refund', text: piece });
  const all = steps(said('a'), said('b'), begin(2), said('c')).flatMap((step) => (step.step === 'output' ? [step.all] : []));
  expect(all).toEqual(['a', 'ab', 'c']);
});

describe.each(Array.from({ length: 50 }, (_, seed) => seed))('seed %d: what is shown', (seed) => {
  const random = new Random(`${seed}`);
  const words = Array.from({ length: 1 + random.below(6) }, (_, n) => `word${n} `);
  const parts: Part[] = [text(words.join('')), ...(random.chance(0.5) ? [call('c1', { n: random.below(100), s: 'x y' })] : [])];
  const pieces = (attempt: number): Delta[] => {
    const heard = words.slice(0, random.below(words.length + 1)).map((word) => says(word, attempt));
    return [begin(attempt), ...heard];
  };
  const given = [...(random.chance(0.5) ? [...pieces(1), delta({ type: 'attempt-void' })] : []), ...pieces(2), answer(parts)];

  it('of the message that counts is the message, with deltas or without', () => {
    for (const stream of [given, [answer(parts)]]) {
      const all = steps(...stream);
      const last = all.filter(({ step }) => step === 'message').at(-1) as ShownStep & { id: string };
      const said = all.flatMap((step) => (step.step === 'text' && step.id === last.id ? [step.text] : [])).join('');
      expect(said).toBe(words.join(''));
      const input = all.flatMap((step) => (step.step === 'call-input' ? [step.text] : [])).join('');
      expect(input).toBe(parts[1]?.type === 'tool-call' ? JSON.stringify(parts[1].input) : '');
    }
  });

  it('opens and closes in turn', () => {
    const open = new Set<string>();
    for (const step of steps(...given)) {
      if (step.step === 'text-start') expect(open.size === 0 && open.add(step.id)).toBeTruthy();
      if (step.step === 'text') expect(open).toContain(step.id);
      if (step.step === 'text-end') expect(open.delete(step.id)).toBe(true);
      if (step.step === 'void' || step.step === 'message') expect(open.size).toBe(0);
    }
    expect(open.size).toBe(0);
  });
});
