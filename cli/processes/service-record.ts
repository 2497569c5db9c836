import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface ServiceRecord {
  readonly pid: number;
  readonly url: string;
}

/** Lets commands in the same directory find a service on a port that is not the usual one. Returns what forgets it again. */
export function recordService(directory: string, url: string): () => void {
  const path = pathIn(directory);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, JSON.stringify({ pid: process.pid, url } satisfies ServiceRecord));
  return () => {
    if (read(path)?.pid === process.pid) rmSync(path, { force: true });
  };
}

/** Address of the service that was recorded last, when its process still lives. */
export function recordedService(directory: string): string | undefined {
  const record = read(pathIn(directory));
  return record !== undefined && isAlive(record.pid) ? record.url : undefined;
}

function pathIn(directory: string): string {
  return join(directory, 'service.json');
}

function read(path: string): ServiceRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as Partial<ServiceRecord>;
    return typeof record.pid === 'number' && typeof record.url === 'string' ? { pid: record.pid, url: record.url } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
