import { connect } from '../../client/connect';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { eventually } from '../support/temporal';
import { temporaryDirectory } from './temporary-directory';

/** Ends when the clock of this machine has passed the time. */
const past = (time: string): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(time) - Date.now()) + 100));

it('a schedule makes up for a time at which the server was down, and counts a time that is too long ago', async () => {
  const directory = temporaryDirectory();
  const first = await startEmbeddedServer({ directory });
  const before = await connect({ address: first.address });
  const start = { agent: 'desk', input: 'Hi' };
  await before.schedules.set('kept', { every: '10s', overlap: 'allow-all', start });
  await before.schedules.set('lost', { every: '10s', overlap: 'allow-all', catchUp: '10s', start });
  // The first of the next times may come before the server is down.
  const [, missed = '', then = ''] = (await before.schedules.get('kept')).next;
  await before.close();
  await first.stop();
  await past(then);
  await past(new Date(Date.parse(missed) + 10_000).toISOString());
  const second = await startEmbeddedServer({ directory });
  const after = await connect({ address: second.address });
  try {
    await eventually(async () => {
      const { runs } = await after.schedules.get('kept');
      expect(runs.map(({ id }) => id)).toContain(`kept-${missed.replace('.000', '')}`);
      expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
      expect((await after.schedules.get('lost')).missed).toBeGreaterThan(0);
    });
    expect((await after.schedules.get('lost')).runs.map(({ at }) => at)).not.toContain(missed);
    expect((await after.schedules.get('kept')).missed).toBe(0);
  } finally {
    await after.close();
    await second.stop();
  }
});
