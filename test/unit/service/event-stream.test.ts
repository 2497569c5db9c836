import { createLogger } from '../../../host/logger';
import { frameStream } from '../../../service/http/event-stream';

const options = {
  heartbeatMs: 60_000,
  isKnown: () => Promise.resolve(true),
  closing: new AbortController().signal,
  logger: createLogger({ level: 'silent' }),
  frameOf: (item: string) => `${item}\n`,
};

async function pieces(items: AsyncGenerator<string>, more = {}): Promise<readonly string[]> {
  const reader = frameStream(() => items, { ...options, ...more }).body?.getReader();
  const read: string[] = [];
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) read.push(Buffer.from(next.value).toString());
  return read;
}

async function* given(items: readonly string[], gate: Promise<void> = Promise.resolve()): AsyncGenerator<string> {
  yield* items;
  await gate;
}

describe('a stream of frames', () => {
  it('writes at once what is there at one moment, in its order', async () => {
    expect(await pieces(given(['a', 'b', 'c']), { first: 'first\n', last: 'last\n' })).toEqual(['first\n', 'a\nb\nc\n', 'last\n']);
  });

  it('keeps nothing back while it waits for more', async () => {
    let open = (): void => undefined;
    const reader = frameStream(() => given(['a', 'b'], new Promise((resolve) => (open = resolve))), options).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('a\nb\n');
    open();
    expect((await reader?.read())?.done).toBe(true);
  });

  it('writes no more at once than a reader takes well', async () => {
    const long = 'x'.repeat(40_000);
    const lengths = (await pieces(given([long, long, long, long, long]))).map(({ length }) => length);
    expect(lengths).toEqual([80_002, 80_002, 40_001]);
  });

  it('writes what came before an error', async () => {
    async function* failing(): AsyncGenerator<string> {
      yield* ['a', 'b'];
      await Promise.reject(new Error('No more.'));
    }
    const reader = frameStream(failing, options).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('a\nb\n');
    await expect(reader?.read()).rejects.toThrow('No more.');
  });

  it('ends what it reads when its reader goes, also before the end', async () => {
    const ended: string[] = [];
    async function* read(signal: AbortSignal): AsyncGenerator<string> {
      try {
        yield 'a';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      } finally {
        ended.push('ended');
      }
    }
    const reader = frameStream(read, options).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(ended).toEqual(['ended']);
  });
});
