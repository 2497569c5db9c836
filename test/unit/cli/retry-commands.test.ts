import type { RetryFlags } from '../../../cli/commands/retry-commands';
import { retryRuns } from '../../../cli/commands/retry-commands';
import type { GoOnRequest, RunQuery } from '../../../client/http/index';
import { FoundService } from '../../../cli/found-service';
import { HoldfastError } from '../../../contract/errors';
import { recordedTerminal } from '../../support/recorded-terminal';

function serviceOf(failed: readonly string[], refused: readonly string[] = []) {
  const asked: Readonly<Record<string, unknown>>[] = [];
  const retried: [string, object][] = [];
  class Fake extends FoundService {
    override async list(query: RunQuery = {}) {
      asked.push({ ...query });
      const from = Number(query.after ?? 0);
      const row = { agent: 'a', status: 'failed' as const, startedAt: '2026-11-22T00:00:00Z', interrupts: [], tags: [] };
      const runs = failed.slice(from, from + 2).map((id) => ({ id, ...row }));
      return from + 2 < failed.length ? { runs, more: true, next: String(from + 2) } : { runs, more: false };
    }
    override async retry(id: string, body: GoOnRequest = {}): Promise<{ id: string }> {
      if (refused.includes(id)) throw new HoldfastError('retry-impossible', `The run "${id}" cannot go on.`);
      retried.push([id, body]);
      return { id };
    }
  }
  return { service: new Fake('http://service', ['--url', 'http://service']), asked, retried };
}

async function played(fake: ReturnType<typeof serviceOf>, ids: readonly string[], flags: RetryFlags) {
  const terminal = recordedTerminal({ live: false });
  const code = await retryRuns(fake.service, terminal, ids, flags);
  return { code, lines: terminal.written().trimEnd().split('\n') };
}

describe('holdfast retry', () => {
  it('takes a run by its id, and says how to follow it', async () => {
    const fake = serviceOf([]);
    expect(await played(fake, ['r1'], { by: 'ada', deadline: '1h' })).toEqual({
      code: 0,
      lines: ['r1 goes on', 'Follow it with: npx holdfast events r1 --follow --url http://service'],
    });
    expect(fake.retried).toEqual([['r1', { by: 'ada', deadline: '1h' }]]);
  });

  it('takes all runs that the filters find, over all pages, and fails when one of them cannot go on', async () => {
    const fake = serviceOf(['r1', 'r2', 'r3', 'r4', 'r5'], ['r2']);
    const { code, lines } = await played(fake, [], { status: 'failed', tag: ['night=2026-11-22'] });
    expect(code).toBe(1);
    expect(fake.asked).toEqual(
      [undefined, '2', '4'].map((after) => ({ status: 'failed', tag: ['night=2026-11-22'], limit: 200, ...(after && { after }) })),
    );
    expect(fake.retried.map(([id]) => id)).toEqual(['r1', 'r3', 'r4', 'r5']);
    expect(lines).toContain('r2 does not: retry-impossible: The run "r2" cannot go on.');
    expect(lines.at(-1)).toBe('4 runs of 5 go on.');
  });

  it('only says which with --dry-run', async () => {
    const fake = serviceOf(['r1', 'r2', 'r3']);
    expect(await played(fake, [], { status: 'failed', dryRun: true })).toEqual({
      code: 0,
      lines: ['r1 would be retried', 'r2 would be retried', 'r3 would be retried', '3 runs would be retried.'],
    });
    expect(fake.retried).toEqual([]);
  });

  it('says that there are none', async () => {
    expect(await played(serviceOf([]), [], { status: 'failed' })).toEqual({ code: 0, lines: ['There are no such runs.'] });
  });

  it.each<[string, readonly string[], RetryFlags]>([
    ['neither ids nor filters', [], {}],
    ['ids and filters', ['r1'], { status: 'failed' }],
    ['filters without a status', [], { agent: 'a' }],
    ['another status', [], { status: 'completed' }],
  ])('refuses %s', async (_, ids, flags) => {
    await expect(played(serviceOf(['r1']), ids, flags)).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('fails with the code of the only run', async () => {
    await expect(played(serviceOf([], ['r1']), ['r1'], {})).rejects.toMatchObject({ code: 'retry-impossible' });
  });
});
