import { defined } from '../../contract/defined';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDirectory, privateFile } from '../../host/private-files';
import { processMark } from '../../host/process-mark';
import { isAlive } from '../../host/server/process-probe';

interface ServiceRecord {
  readonly pid: number;
  readonly mark: string;
  /** Absent during the start. */
  readonly url?: string;
  readonly startedAt: number;
  readonly worker?: ServedAgents;
}

export interface ServedAgents {
  readonly agentsFile: string;
  readonly taskQueue: string;
}

/**
 * Lets commands in the directory find the service. Every process has a record, because processes may share a directory. Returns the removal of the
 * record.
 */
export function recordService(directory: string, url: string, worker?: ServedAgents): () => void {
  return write(directory, { url, ...defined({ worker }) });
}

/** Lets commands in the directory wait for a service that starts. Returns the removal of the record. */
export function recordStart(directory: string): () => void {
  return write(directory, {});
}

function write(directory: string, told: Pick<ServiceRecord, 'url' | 'worker'>): () => void {
  const record: ServiceRecord = { pid: process.pid, mark: processMark, startedAt: Date.now(), ...told };
  const path = join(directory, `service-${process.pid}.json`);
  mkdirSync(directory, { recursive: true, mode: privateDirectory });
  writeFileSync(path, JSON.stringify(record), { mode: privateFile });
  return () => rmSync(path, { force: true });
}

export function recordedService(directory: string): string | undefined {
  const serving = living(directory).filter(({ url }) => url !== undefined);
  return serving.sort((one, other) => other.startedAt - one.startedAt)[0]?.url;
}

export function processAt(directory: string, port: number): number | undefined {
  return living(directory).find(({ url }) => url !== undefined && Number(new URL(url).port || 80) === port)?.pid;
}

export function isServiceStarting(directory: string): boolean {
  return living(directory).some(({ url }) => url === undefined);
}

/** A process with other agents on the task queue: new runs would go to the worker that started last. */
export function otherAgentsOn(
  directory: string,
  { agentsFile, taskQueue }: ServedAgents,
): (ServedAgents & { readonly pid: number }) | undefined {
  const others = living(directory).flatMap(({ pid, worker }) => (worker === undefined ? [] : [{ pid, ...worker }]));
  return others.find((other) => other.taskQueue === taskQueue && other.agentsFile !== agentsFile);
}

/** Marks of processes that died with a worker. A mark is returned once. */
export function takeDeadWorkers(directory: string): readonly string[] {
  return recordsIn(directory).flatMap((path) => {
    const record = read(path);
    if (record?.worker === undefined || isAlive(record.pid)) return [];
    rmSync(path, { force: true });
    return [record.mark];
  });
}

function living(directory: string): readonly ServiceRecord[] {
  const records: ServiceRecord[] = [];
  for (const path of recordsIn(directory)) {
    const record = read(path);
    if (record === undefined) continue;
    if (isAlive(record.pid)) records.push(record);
    // `takeDeadWorkers` needs the record.
    else if (record.worker === undefined) rmSync(path, { force: true });
  }
  return records;
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

/** Undefined also for a half-written record. */
function read(path: string): ServiceRecord | undefined {
  try {
    const { pid, mark, url, startedAt, worker } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ServiceRecord>;
    if (typeof pid !== 'number' || typeof mark !== 'string') return undefined;
    return { pid, mark, startedAt: startedAt ?? 0, ...defined({ url, worker }) };
  } catch {
    return undefined;
  }
}
