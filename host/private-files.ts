import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What Holdfast keeps, such as transcripts and code, is for its owner alone. */
export const privateFile = 0o600;
export const privateDirectory = 0o700;

/** Keeps what can be found out again, as a whole. Where it cannot be written, nothing is kept. */
export function keepIfPossible(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    try {
      writeFileSync(draft, content, { mode: privateFile });
      renameSync(draft, path);
    } catch {
      rmSync(draft, { force: true });
    }
  } catch {
    // Nobody may look there, so that no draft is there.
  }
}

/** Makes a directory that nobody else can look into. One that is there becomes so, unless it holds what is not Holdfast's. */
export function makePrivate(directory: string, isOurs: (name: string) => boolean): void {
  mkdirSync(directory, { recursive: true, mode: privateDirectory });
  const names = readdirSync(directory);
  for (const name of names.filter(isOurs)) closeToOthers(join(directory, name));
  if (names.every(isOurs)) closeToOthers(directory);
}

/** What the embedded server, the commands and the worker keep in HOLDFAST_DIR. */
export function isOurs(name: string): boolean {
  return /^(runs-.+\.db.*|server[.-].*|service-\d+\.json|bundles|snapshots)$/.test(name);
}

/** Of bundles and snapshots: files named by a hash, and drafts of them. */
export function isHashed(name: string): boolean {
  return /^[0-9a-f]{16,64}(\..*)?$/.test(name);
}

/** Keeps the owner's rights. What belongs to somebody else stays as it is: that is theirs to say. */
function closeToOthers(path: string): void {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
  } catch {
    // It is gone, or another user's.
  }
}
