import type { ModelChunk, GenerateRequest, LanguageModel } from '../../activities/models/language-model';
import type { Run } from '../../client/runs/run';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { shownLines } from '../support/shown-lines';

async function* say(...texts: readonly string[]): AsyncGenerator<ModelChunk> {
  for (const text of texts) yield { type: 'text', text };
  yield { type: 'finish', usage: { inputTokens: 3, outputTokens: 3 } };
}

describe('a run that streams', () => {
  const bed = sharedBed();
  const start = (agent: string, stream: NonNullable<LanguageModel['stream']>, options: { stream?: boolean } = {}): Promise<Run> => {
    const generate: LanguageModel['generate'] = async () => ({
      parts: [{ type: 'text', text: 'One two three.' }],
      usage: { inputTokens: 3, outputTokens: 3 },
    });
    return bed.scripted({ generate, stream }).start(agent, 'Hi', options);
  };

  it('shows reasoning and the arguments of tool calls, and then what the tool says', async () => {
    // Waits for a reader, because ended calls come from the history, without deltas.
    const seen = gate();
    const run = await start('talks', ({ messages }: GenerateRequest) =>
      messages.some(({ role }) => role === 'tool')
        ? say('Done.')
        : (async function* () {
            yield { type: 'reasoning', text: 'Hm. ' };
            await seen.pass();
            yield { type: 'tool-input-start', callId: 'c1', tool: 'echo' };
            yield { type: 'tool-input', callId: 'c1', text: '{"text":' };
            yield { type: 'tool-input', callId: 'c1', text: '"hi"}' };
            yield { type: 'part', part: { type: 'tool-call', id: 'c1', name: 'echo', input: { text: 'hi' } } };
            yield { type: 'finish' };
          })(),
    );
    const lines = await shownLines(run, (line) => (line.includes('-delta ') ? seen.open() : undefined));
    expect(lines).toEqual([
      'run-start',
      'model-start',
      'attempt-start 1',
      'reasoning-delta Hm. ',
      'tool-input-start',
      'tool-input-delta {"text":"hi"}',
      'model-end reasoning tool-call',
      'tool-start',
      'tool-end',
      'model-start',
      'attempt-start 1',
      'text-delta Done.',
      'model-end Done.',
      'run-end completed',
    ]);
  });

  it('holds back what a layer says it changes', async () => {
    const run = await start('redacts', () => say('My card is ', '4111.'));
    expect(await shownLines(run)).toEqual(['run-start', 'model-start', 'model-end My card is ****.', 'run-end completed']);
  });

  it('has a history of the same size as without streaming', async () => {
    const sizeOf = async (stream: boolean): Promise<{ events: number; bytes: number }> => {
      const run = await start('talks', () => say(...'One two three.'.split(/(?<= )/)), { stream });
      await run.outcome();
      const { historyLength, historySize } = await bed.temporal.handle(run.id).describe();
      return { events: historyLength, bytes: historySize ?? 0 };
    };
    const whole = await sizeOf(false);
    const streamed = await sizeOf(true);
    expect(streamed.events).toBe(whole.events);
    // The sizes differ by the mode's name and by digits of numbers.
    expect(Math.abs(streamed.bytes - whole.bytes)).toBeLessThan(64);
  });
});
