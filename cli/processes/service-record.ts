import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../host/process-probe';

interface ServiceRecord {
  readonly pid: number;
  readonly url: string;
  readonly startedAt: number;
}

/**
 * Lets commands in the same directory find a service on a port that is not the usual one. Every process has a record of its own, since several may share
 * a directory. Returns what forgets it again.
 */
export function recordService(directory: string, url: string): () => void {
  const path = join(directory, `service-${process.pid}.json`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, JSON.stringify({ pid: process.pid, url, startedAt: Date.now() } satisfies ServiceRecord));
  return () => rmSync(path, { force: true });
}

/** Address of the service that was started last of those whose process lives. Records of dead ones are removed. */
export function recordedService(directory: string): string | undefined {
  let newest: ServiceRecord | undefined;
  for (const path of recordsIn(directory)) {
    const record = read(path);
    if (record === undefined) continue;
    if (!isAlive(record.pid)) rmSync(path, { force: true });
    else if (newest === undefined || record.startedAt > newest.startedAt) newest = record;
  }
  return newest?.url;
}

function recordsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^service-\d+\.json$/.test(name))
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** Undefined also for a record that is being written. */
function read(path: string): ServiceRecord | undefined {
  try {
    const { pid, url, startedAt } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ServiceRecord>;
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url, startedAt: startedAt ?? 0 } : undefined;
  } catch {
    return undefined;
  }
}
