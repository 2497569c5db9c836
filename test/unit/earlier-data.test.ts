import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../../host/server/embedded-server';

it('a directory with the runs of an earlier version is refused before anything is started or written, with a word how to clear it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-earlier-'));
  const database = join(directory, 'temporal-1.29.1.db');
  writeFileSync(database, 'runs of before');
  await expect(startEmbeddedServer({ directory, environment: { PATH: '' } })).rejects.toMatchObject({
    code: 'data-outdated',
    message: expect.stringMatching(/of an earlier version of Holdfast \(temporal-1\.29\.1\.db\).* rm -r "\/.*holdfast-earlier-/) as string,
  });
  expect(readdirSync(directory)).toEqual(['temporal-1.29.1.db']);
  expect(readFileSync(database, 'utf8')).toBe('runs of before');
});
