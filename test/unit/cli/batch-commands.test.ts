import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchFlags } from '../../../cli/commands/batch-commands';
import { runBatch } from '../../../cli/commands/batch-commands';
import { FoundService } from '../../../cli/found-service';
import type { BatchResult, ShownBatch } from '../../../contract/batches';
import { HoldfastError } from '../../../contract/errors';
import { recordedTerminal } from '../../support/recorded-terminal';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-batch-'));
const file = join(directory, 'orders.jsonl');
writeFileSync(file, '"order 1"\n"order 2"\n');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const none = { running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0, refused: 0 };
const ended = (counts: Partial<ShownBatch['counts']>, status: ShownBatch['status'] = 'completed'): ShownBatch => ({
  ...{ id: 'b', agent: 'clerk', status, lines: 2, concurrency: 20, tags: [], started: 2, startedAt: '2026-11-22T00:00:00Z' },
  counts: { ...none, ...counts },
});

async function played(looks: readonly (ShownBatch | Error)[], flags: Partial<BatchFlags> = {}, from = file, live = false) {
  const asked: unknown[] = [];
  let sent = '';
  class Fake extends FoundService {
    override async startBatch(...[request, lines]: Parameters<FoundService['startBatch']>) {
      asked.push(request);
      sent = await new Response(lines).text();
      return { id: 'b', isNew: true, agent: 'clerk', lines: 2 };
    }
    override async batch() {
      const [look = ended({}), ...rest] = looks;
      looks = rest;
      if (look instanceof Error) throw look;
      return look;
    }
    override async *batchResults(): AsyncGenerator<BatchResult> {
      yield { line: 1, id: 'b-000001', status: 'completed', output: 'done' };
      yield { line: 2, id: 'b-000002', status: 'failed', error: { code: 'model-refused', message: 'No.' } };
    }
  }
  const terminal = recordedTerminal({ live });
  const code = await runBatch(new Fake('http://service'), terminal, from, { agent: 'clerk', ...flags });
  return { code, asked, sent, written: terminal.written() };
}

describe('holdfast batch', () => {
  it('sends the file, shows the progress, and ends with 0 when every line completed', async () => {
    const { code, asked, sent, written } = await played([ended({ completed: 2 })], { concurrency: 5, perMinute: 60, tag: ['night'] });
    expect({ code, asked, sent }).toEqual({
      code: 0,
      asked: [{ agent: 'clerk', concurrency: 5, perMinute: 60, tag: ['night'] }],
      sent: '"order 1"\n"order 2"\n',
    });
    expect(written).toBe('batch b (2 lines)\n[========================] 100 %  2/2  0.0/s\n');
  });

  it('writes a line of result per line, says how to retry, and ends with 1 for a failure; one line of a live terminal changes', async () => {
    const out = join(directory, 'results.jsonl');
    const { code, written } = await played([ended({ completed: 1, failed: 1 })], { out }, file, true);
    expect(code).toBe(1);
    expect(
      readFileSync(out, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as BatchResult).line),
    ).toEqual([1, 2]);
    expect(readdirSync(directory)).toEqual(['orders.jsonl', 'results.jsonl']);
    expect(written).toContain('\r[========================] 100 %  2/2  0.0/s, 1 failed\u001b[K\n');
    expect(written).toContain("Retry the failed runs with: npx holdfast retry --status failed --tag 'batch=b'");
  });

  it.each([
    ['a stop', ended({ completed: 1, running: 1 }, 'stopped')],
    ['a refused line', ended({ completed: 1, refused: 1 })],
  ])('ends with 1 after %s', async (_, batch) => {
    expect((await played([batch])).code).toBe(1);
  });

  it('waits for a service that restarts', async () => {
    const gone = new HoldfastError('service-unreachable', 'No service answers.');
    const { code, written } = await played([gone, ended({ completed: 2 })]);
    expect(code).toBe(0);
    expect(written).toContain('The service is gone');
  });

  it('refuses a file that is not there, and with --detach does not wait', async () => {
    await expect(played([], {}, join(directory, 'nothing'))).rejects.toMatchObject({ code: 'command-invalid' });
    expect(await played([], { detach: true })).toMatchObject({
      code: 0,
      written: expect.stringContaining('See it with: npx holdfast batches show b'),
    });
  });
});
