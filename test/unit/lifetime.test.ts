import { Lifetime } from '../../cli/processes/lifetime';
import { createLogger } from '../../host/logger';
import { recordedTerminal } from '../support/recorded-terminal';

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

/** A process that ends when the gate of what it has opened is open. */
function startedProcess() {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const logger = createLogger({ write: () => undefined });
  const code = Lifetime.of(recordedTerminal({ live: false }), logger, (lifetime) => lifetime.onEnd('service', () => gate));
  return { code, open };
}

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
});
