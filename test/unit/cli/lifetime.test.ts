import { Lifetime } from '../../../cli/processes/lifetime';
import { HoldfastError, errorTable } from '../../../contract/errors';
import { createLogger } from '../../../host/logger';
import { recordedTerminal } from '../../support/recorded-terminal';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const signal of signals) process.removeAllListeners(signal);
});

function startedProcess(name = 'service') {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const logger = createLogger({ write: () => undefined });
  const terminal = recordedTerminal({ live: false });
  const code = Lifetime.of(terminal, logger, (lifetime) => lifetime.onEnd(name, () => gate));
  return { code, open, said: () => terminal.written().trim() };
}

describe('a process that cannot go on', () => {
  const failing = async (format: 'text' | 'json', withinMs?: number) => {
    const terminal = recordedTerminal({ live: false });
    const logger = createLogger({ format, write: () => undefined });
    const code = await Lifetime.of(terminal, logger, async (lifetime) => {
      await lifetime.onEnd('worker', () => new Promise((resolve) => (withinMs === undefined ? resolve() : undefined)));
      lifetime.fail(new HoldfastError('server-failed', 'It is gone.'), withinMs);
    });
    return { code, said: terminal.written().replace(/^error: /gm, '') };
  };

  it('does not wait for what it has open when there is nobody to report to', async () => {
    expect((await failing('text', 10)).code).toBe(1);
  });

  it('says why, with the fix, as its log is written', async () => {
    const { fix } = errorTable['server-failed'];
    expect((await failing('text')).said).toBe(`error server-failed: It is gone.\nfix: ${fix}\n`);
    expect(JSON.parse((await failing('json')).said)).toMatchObject({ level: 'error', message: 'It is gone.', code: 'server-failed', fix });
  });
});

describe('Ctrl-C', () => {
  it('lets a process end by itself, also where npm hands the same key on', async () => {
    const { code, open } = startedProcess();
    process.emit('SIGINT');
    now = 20;
    process.emit('SIGINT');
    open();
    expect(await code).toBe(0);
  });

  it('ends a process at once when it is pressed again', async () => {
    const { code, open } = startedProcess();
    process.emit('SIGINT');
    now = 500;
    expect(() => process.emit('SIGINT')).toThrow('exit 130');
    open();
    expect(await code).toBe(0);
  });

  it.each([
    ['worker', 'SIGINT', 'Stopping. Calls of models and tools that are at work are waited for. Ctrl-C again stops at once.'],
    ['worker', 'SIGTERM', 'Stopping. Calls of models and tools that are at work are waited for.'],
    ['Temporal server', 'SIGINT', 'Stopping. Ctrl-C again stops at once.'],
    ['Temporal server', 'SIGTERM', 'Stopping.'],
  ] as const)('says what a process with a %s waits for at %s', async (name, signal, words) => {
    const { code, open, said } = startedProcess(name);
    await Promise.resolve();
    process.emit(signal, signal);
    open();
    expect(await code).toBe(0);
    expect(said()).toBe(words);
  });
});
