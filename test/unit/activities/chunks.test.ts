import type { ModelChunk } from '../../../activities/models/language-model';
import { AnswerAssembly, chunksOf } from '../../../activities/models/chunks';
import { errorSaying } from '../../support/failures';

function assembled(...chunks: readonly ModelChunk[]): AnswerAssembly {
  const assembly = new AnswerAssembly();
  for (const chunk of chunks) assembly.add(chunk);
  return assembly;
}

describe('an answer that comes in pieces', () => {
  it('ends at a size that nothing takes, before it has come to its end', () => {
    const assembly = new AnswerAssembly();
    const endless = (): void => {
      for (;;) assembly.add({ type: 'text', text: 'x'.repeat(10_000) });
    };
    expect(endless).toThrow(errorSaying('model-response-too-large'));
  });

  it('makes one part of the pieces of a block, where its first piece came', () => {
    const { parts } = assembled(
      { type: 'reasoning', text: 'Hm', block: 'r' },
      { type: 'text', text: 'One ', block: 'a' },
      { type: 'text', text: 'Other ', block: 'b' },
      { type: 'text', text: 'two.', block: 'a' },
      { type: 'reasoning', text: '.', block: 'r' },
      { type: 'finish' },
    ).answer();
    expect(parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'One two.' },
      { type: 'text', text: 'Other ' },
    ]);
  });

  it('makes one part of pieces without a block until something else comes', () => {
    const call = { type: 'tool-call', id: 'c', name: 't', input: {} } as const;
    const { parts } = assembled(
      { type: 'text', text: 'One ' },
      { type: 'text', text: 'two.' },
      { type: 'part', part: call },
      { type: 'text', text: 'Three.' },
    ).answer();
    expect(parts).toEqual([{ type: 'text', text: 'One two.' }, call, { type: 'text', text: 'Three.' }]);
  });

  it('keeps the extras of a provider, which come in pieces too', () => {
    const { parts } = assembled(
      { type: 'reasoning', text: 'Hm.', block: 'r', extra: { anthropic: { a: 1 } } },
      { type: 'reasoning', text: '', block: 'r', extra: { anthropic: { signature: 's' } } },
    ).answer();
    expect(parts).toEqual([{ type: 'reasoning', text: 'Hm.', extra: { anthropic: { a: 1, signature: 's' } } }]);
  });

  it('leaves out texts that stayed empty, unless the provider wants them back', () => {
    const { parts } = assembled(
      { type: 'text', text: '', block: 'a' },
      { type: 'reasoning', text: '', block: 'r', extra: { google: { thoughtSignature: 's' } } },
    ).answer();
    expect(parts).toEqual([{ type: 'reasoning', text: '', extra: { google: { thoughtSignature: 's' } } }]);
  });

  it('is complete when its last piece has come, which says what it cost and why it ended', () => {
    expect(assembled({ type: 'text', text: 'a' }).complete).toBe(false);
    const whole = assembled({ type: 'text', text: 'a' }, { type: 'finish', usage: { inputTokens: 1, outputTokens: 2 }, finish: 'length' });
    expect(whole.complete).toBe(true);
    expect(whole.answer()).toMatchObject({ usage: { inputTokens: 1, outputTokens: 2 }, finish: 'length' });
  });

  it('is the same after it was taken apart', () => {
    const answer = {
      parts: [
        { type: 'reasoning', text: 'Hm.', extra: { x: { y: 1 } } },
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
        { type: 'tool-call', id: 'c', name: 't', input: { a: 1 } },
        { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      ],
      usage: { inputTokens: 1, outputTokens: 2 },
      finish: 'length',
    } as const;
    expect(assembled(...chunksOf(answer)).answer()).toEqual(answer);
  });
});
