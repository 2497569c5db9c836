import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const privateFile = 0o600;
export const privateDirectory = 0o700;

/** Replaces a file as a whole, and ignores a failed write. */
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
    // Without rights the draft does not exist.
  }
}

/** A directory with files of other programs keeps its rights. */
export function makePrivate(directory: string, isOurs: (name: string) => boolean): void {
  mkdirSync(directory, { recursive: true, mode: privateDirectory });
  const names = readdirSync(directory);
  for (const name of names.filter(isOurs)) closeToOthers(join(directory, name));
  if (names.every(isOurs)) closeToOthers(directory);
}

export function isOurs(name: string): boolean {
  return /^(runs-.+\.db.*|server[.-].*|service-\d+\.json|bundles|snapshots|access)$/.test(name);
}

export function isHashed(name: string): boolean {
  return /^[0-9a-f]{16,64}(\..*)?$/.test(name);
}

function closeToOthers(path: string): void {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
  } catch {
    // Gone, or another user's.
  }
}
