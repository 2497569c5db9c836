import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDirectory, privateFile } from '../../host/private-files';
import { processMark } from '../../host/process-mark';
import { checkPortFree } from '../../host/server/free-port';
import { isAlive } from '../../host/server/process-probe';

interface ServiceRecord {
  readonly pid: number;
  readonly mark: string;
  readonly url?: string;
  readonly startedAt: number;
  readonly worker?: ServedAgents;
}

interface ServedAgents {
  readonly agentsFile: string;
  readonly taskQueue: string;
}

/** Every process has a record, because processes may share a directory. Returns the removal. */
export function recordService(directory: string, url: string, worker?: ServedAgents): () => void {
  return write(directory, { url, ...defined({ worker }) });
}

/** Lets commands wait for a service that starts. Returns the removal. */
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

export function isServiceAlone(directory: string): boolean {
  return living(directory).some(({ url, worker }) => url !== undefined && worker === undefined);
}

export function isServiceStarting(directory: string): boolean {
  return living(directory).some(({ url }) => url === undefined);
}

/** Fails before a server is started for a service that cannot listen. */
export async function checkPort(directory: string, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  try {
    await checkPortFree(port, host);
  } catch (error) {
    const own = codeOf(error) === 'port-in-use' ? processAt(directory, port) : undefined;
    if (own === undefined) throw error;
    throw new HoldfastError('port-in-use', `The port ${port} is taken by the process ${own}: the service of ${directory} already runs.`);
  }
}

/** Two workers with different agents on a task queue take each other's runs. */
export function checkQueue(directory: string, { agentsFile, taskQueue }: ServedAgents): void {
  for (const { pid, worker } of living(directory)) {
    if (worker?.taskQueue !== taskQueue || worker.agentsFile === agentsFile) continue;
    throw new HoldfastError(
      'queue-in-use',
      `The process ${pid} serves ${worker.agentsFile} on the task queue "${taskQueue}" of ${directory}, and this one would take its runs.`,
    );
  }
}

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

function read(path: string): ServiceRecord | undefined {
  try {
    const { pid, mark, url, startedAt, worker } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ServiceRecord>;
    if (typeof pid !== 'number' || typeof mark !== 'string') return undefined;
    return { pid, mark, startedAt: startedAt ?? 0, ...defined({ url, worker }) };
  } catch {
    return undefined;
  }
}
