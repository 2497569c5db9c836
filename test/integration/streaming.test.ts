import type { ModelChunk } from '../../activities/models/chunks';
import type { GenerateRequest, LanguageModel } from '../../activities/models/models';
import type { Run } from '../../client/run';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { addLine } from '../support/shown-lines';

/** What the model says in an attempt: chunks, gates to wait at, and errors. */
type Script = (request: GenerateRequest, attempt: number) => AsyncIterable<ModelChunk>;

async function* say(...texts: readonly (string | Gate | Error)[]): AsyncGenerator<ModelChunk> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    if (typeof text === 'string') yield { type: 'text', text };
    else await text.pass();
  }
  yield { type: 'finish', usage: { inputTokens: 3, outputTokens: 3 } };
}

const lost = (): Error => Object.assign(new Error('the line is dead'), { isRetryable: true });

/** Follows a run to its end. */
async function linesOf(
  run: Run,
  options: Parameters<Run['events']>[0] = {},
  onLine: (line: string) => void = () => undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const event of run.events(options)) {
    addLine(lines, event);
    onLine(lines.at(-1) ?? '');
  }
  return lines;
}

/** Where a call waits until its reader has seen something of it. What ends before is read from the history, which has no deltas. */
function seen(): Gate & { readonly onLine: (line: string) => void } {
  const door = gate();
  return { ...door, onLine: (line) => (/-delta /.test(line) ? door.open() : undefined) };
}

describe('a run that streams', () => {
  const bed = sharedBed();
  const start = (agent: string, script: Script, options: { stream?: boolean } = {}): Promise<Run> => {
    let attempts = 0;
    const model: LanguageModel = {
      generate: async () => ({ parts: [{ type: 'text', text: 'One two three.' }], usage: { inputTokens: 3, outputTokens: 3 } }),
      stream: (request) => script(request, ++attempts),
    };
    return bed.scripted(model).start(agent, 'Hi', options);
  };

  it('shows what a model says as it says it, between the start of its call and the message', async () => {
    const second = gate();
    const run = await start('talks', () => say('One ', second, 'two ', 'three.'));
    const lines = await linesOf(run, {}, (text) => {
      // Were it seen only at the end, it would never be.
      if (text === 'text-delta One ') second.open();
    });
    expect(lines).toEqual([
      'run-start',
      'model-start',
      'attempt-start 1',
      'text-delta One two three.',
      'model-end One two three.',
      'run-end completed',
    ]);
  });

  it('shows an attempt from its beginning to a reader that comes late, or comes back', async () => {
    const more = gate();
    const run = await start('talks', () => say('One ', 'two ', more, 'three.'));
    await more.reached;
    for await (const event of run.events()) if (event.type === 'text-delta') break;
    const lines = await linesOf(run, { from: 2 }, (text) => {
      if (text === 'text-delta One two ') more.open();
    });
    expect(lines).toEqual(['attempt-start 1', 'text-delta One two three.', 'model-end One two three.', 'run-end completed']);
  });

  it('says that an attempt is void, and shows the next one whole', async () => {
    const door = seen();
    const run = await start('talks', (_request, attempt) => (attempt === 1 ? say('Wrong ', door, lost()) : say('Right.')));
    expect(await linesOf(run, {}, door.onLine)).toEqual([
      'run-start',
      'model-start',
      'attempt-start 1',
      'text-delta Wrong ',
      'attempt-void 1',
      'attempt-start 2',
      'text-delta Right.',
      'model-end Right.',
      'run-end completed',
    ]);
    expect(JSON.stringify(await run.transcript())).not.toContain('Wrong');
  });

  it('shows reasoning and the arguments of tool calls, and then what the tool says', async () => {
    const door = seen();
    const run = await start('talks', ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? say('Done.')
        : (async function* () {
            yield { type: 'reasoning', text: 'Hm. ' };
            await door.pass();
            yield { type: 'tool-input-start', callId: 'c1', tool: 'echo' };
            yield { type: 'tool-input', callId: 'c1', text: '{"text":' };
            yield { type: 'tool-input', callId: 'c1', text: '"hi"}' };
            yield { type: 'part', part: { type: 'tool-call', id: 'c1', name: 'echo', input: { text: 'hi' } } };
            yield { type: 'finish' };
          })(),
    );
    expect(await linesOf(run, {}, door.onLine)).toEqual([
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
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end My card is ****.', 'run-end completed']);
  });

  it('keeps what was said when it is cancelled in the middle, and ends as cancelled', async () => {
    const never = gate();
    const run = await start('talks', () => say('As far ', 'as this', never));
    await never.reached;
    await run.cancel();
    const lines = await linesOf(run);
    expect(lines.slice(-2)).toEqual(['model-end As far as this', 'run-end cancelled']);
    expect((await run.transcript()).at(-1)?.parts).toEqual([{ type: 'text', text: 'As far as this' }]);
    never.open();
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
    // The word for the way of answering stands in it, and numbers have as many digits as they have.
    expect(Math.abs(streamed.bytes - whole.bytes)).toBeLessThan(64);
  });
});
