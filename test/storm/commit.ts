import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The commit and a hash of uncommitted changes. */
export function commitOf(root: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 });
  const commit = git('rev-parse', '--short=12', 'HEAD').trim();
  const added = git('ls-files', '--others', '--exclude-standard').split('\n').filter(Boolean);
  const changes = git('diff', 'HEAD') + added.map((file) => `${file}\n${readFileSync(join(root, file), 'utf8')}`).join('\n');
  return changes === '' ? commit : `${commit}+${createHash('sha256').update(changes).digest('hex').slice(0, 12)}`;
}
