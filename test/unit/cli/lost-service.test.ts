import { attendRun } from '../../../cli/attend-run';
import { printEvents } from '../../../cli/commands/read-commands';
import { FoundService } from '../../../cli/found-service';
import { LostService, patienceMs } from '../../../cli/lost-service';
import { HoldfastError } from '../../../contract/errors';
import { recordedTerminal } from '../../support/recorded-terminal';

const gone = new HoldfastError('service-unreachable', 'gone');
const nothing = new FoundService('http://127.0.0.1:1');

describe('a service that is gone while a run is followed', () => {
  it('is waited for for a minute, and longer than a restart takes', () => {
    let now = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    try {
      const terminal = recordedTerminal({ live: false });
      const lost = new LostService(terminal, 'npx holdfast events r --follow');
      for (now = 0; now <= patienceMs; now += 1000) lost.mayReturn(gone);
      expect(terminal.written()).toBe(
        'error: The service is gone; waiting up to 60 s for it. The run is kept, and goes on as soon as a worker runs.\n',
      );
      lost.isBack();
      lost.mayReturn(gone);
      now += patienceMs + 1;
      expect(() => lost.mayReturn(gone)).toThrow(gone);
      expect(terminal.written()).toContain('When the service is back, follow the run with: npx holdfast events r --follow\n');
    } finally {
      clock.mockRestore();
    }
  });

  it('is waited for anew when a stream has lasted, and not when each breaks at once', () => {
    let now = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    try {
      const lost = new LostService(recordedTerminal({ live: false }), 'x');
      lost.mayReturn(gone);
      lost.isUp();
      now += 2 * patienceMs;
      lost.mayReturn(gone);
      const breakAtOnce = (): void => {
        for (const until = now + 2 * patienceMs; now < until; now += 1000) {
          lost.isUp();
          lost.mayReturn(gone);
        }
      };
      expect(breakAtOnce).toThrow(gone);
      expect(now).toBeLessThanOrEqual(3 * patienceMs + 2000);
    } finally {
      clock.mockRestore();
    }
  });

  it('is not told of one that never answered', async () => {
    const terminal = recordedTerminal({ live: false });
    await expect(printEvents(nothing, terminal, 'r', { follow: true })).rejects.toMatchObject({ code: 'service-unreachable' });
    expect(terminal.written()).toBe('');
  });

  it('is waited for by every command that follows', async () => {
    const answersOnce = new FoundService('http://127.0.0.1:1');
    jest.spyOn(answersOnce, 'view').mockResolvedValueOnce({ id: 'r', status: 'running', nextOffset: 1 } as never);
    for (const follow of [
      (terminal) => attendRun(nothing, terminal, { id: 'r', from: 0, patienceMs: 0 }),
      (terminal) => printEvents(answersOnce, terminal, 'r', { follow: true, patienceMs: 0 }),
    ] satisfies ((terminal: ReturnType<typeof recordedTerminal>) => Promise<number>)[]) {
      const terminal = recordedTerminal({ live: false });
      await expect(follow(terminal)).rejects.toMatchObject({ code: 'service-unreachable' });
      expect(terminal.written()).toContain('The service is gone; waiting up to 0 s');
      expect(terminal.written()).toContain('npx holdfast events r --follow');
    }
  });

  it('is no reason to wait for what is not followed, or fails for another reason', async () => {
    const terminal = recordedTerminal({ live: false });
    await expect(printEvents(nothing, terminal, 'r', {})).rejects.toMatchObject({ code: 'service-unreachable' });
    const other = new HoldfastError('run-unknown', 'no');
    expect(() => new LostService(terminal, 'x').mayReturn(other)).toThrow(other);
    expect(terminal.written()).toBe('');
  });
});
