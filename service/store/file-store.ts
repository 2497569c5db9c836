import { randomUUID } from 'node:crypto';
import { appendFile, chmod, link, mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateDirectory, privateFile } from '../../host/private-files';
import { withSystemCodes } from '../../host/system-errors';
import type { ServiceStore } from './store';

type SetOptions = Parameters<ServiceStore['set']>[2];

const ending = '.json';
const auditFile = 'audit.jsonl';
/** The holder of a lock needs a few milliseconds. */
const staleLockMs = 10_000;
const sweepMs = 3_600_000;

/** Keeps a file for each key in a folder, for all processes of the machine. */
export class FileStore implements ServiceStore {
  private sweptAt = Date.now();

  constructor(private readonly folder: string) {}

  get(key: string): Promise<string | undefined> {
    return this.coded(() => valueAt(this.pathOf(key)));
  }

  set(key: string, value: string, { ttlMs, ifAbsent }: SetOptions = {}): Promise<boolean> {
    return this.coded(async () => {
      await this.make();
      const [path, draft] = [this.pathOf(key), join(this.folder, `${randomUUID()}.draft`)];
      const expires = ttlMs === undefined ? undefined : Date.now() + ttlMs;
      if (expires !== undefined) this.sweepSometimes();
      await writeFile(draft, JSON.stringify({ value, expires }), { mode: privateFile, flush: true });
      try {
        if (ifAbsent !== true) return await rename(draft, path).then(() => true);
        while (!(await unless('EEXIST', () => link(draft, path).then(() => true)))) {
          if ((await valueAt(path)) !== undefined) return false;
          await removeExpired(path);
        }
        return true;
      } finally {
        await rm(draft, { force: true });
      }
    });
  }

  delete(key: string): Promise<boolean> {
    return this.coded(async () => {
      const path = this.pathOf(key);
      return (await valueAt(path)) !== undefined && (await unless('ENOENT', () => unlink(path).then(() => true))) === true;
    });
  }

  list(prefix: string): Promise<readonly string[]> {
    return this.coded(async () => {
      const found: string[] = [];
      const start = nameOf(prefix);
      for (const name of (await unless('ENOENT', () => readdir(this.folder))) ?? []) {
        if (!name.startsWith(start) || !name.endsWith(ending)) continue;
        const path = join(this.folder, name);
        if ((await valueAt(path)) === undefined) await removeExpired(path);
        else found.push(decodeURIComponent(name.slice(0, -ending.length)));
      }
      return found.sort();
    });
  }

  append(line: string): Promise<void> {
    return this.coded(async () => {
      await this.make();
      // Opened for appending and written at once, so that lines of several processes do not mix.
      await appendFile(join(this.folder, auditFile), `${line}\n`, { mode: privateFile });
    });
  }

  async *lines(): AsyncGenerator<string> {
    const file = await unless('ENOENT', () => open(join(this.folder, auditFile)));
    if (file !== undefined) yield* file.readLines();
  }

  /** Nobody lists sessions, which would stay for ever. */
  private sweepSometimes(): void {
    if (Date.now() - this.sweptAt < sweepMs) return;
    this.sweptAt = Date.now();
    void this.list('').catch(() => undefined);
  }

  /** A wider folder of an earlier user is closed to others. */
  private async make(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: privateDirectory });
    await chmod(this.folder, privateDirectory);
  }

  private coded<T>(work: () => Promise<T>): Promise<T> {
    return withSystemCodes('using keys, sessions and the audit log', work);
  }

  private pathOf(key: string): string {
    return join(this.folder, nameOf(key) + ending);
  }
}

/** Some file systems take capitals for small letters, so capitals are escaped, too. */
function nameOf(key: string): string {
  const bytes = Buffer.from(key).toString('latin1');
  return bytes.replace(/[^a-z0-9_-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

async function valueAt(path: string): Promise<string | undefined> {
  const text = await unless('ENOENT', () => readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  const { value, expires = Infinity } = JSON.parse(text) as { readonly value: string; readonly expires?: number };
  return expires > Date.now() ? value : undefined;
}

/** Between the look at an expired file and its removal, another process may put a new file in its place. The lock excludes that. */
async function removeExpired(path: string): Promise<void> {
  const lock = `${path}.lock`;
  while (!(await unless('EEXIST', () => writeFile(lock, '', { flag: 'wx', mode: privateFile }).then(() => true)))) {
    const since = (await unless('ENOENT', () => stat(lock)))?.mtimeMs ?? Date.now();
    if (Date.now() - since > staleLockMs) await rm(lock, { force: true });
    else await delay(5);
  }
  try {
    if ((await valueAt(path)) === undefined) await rm(path, { force: true });
  } finally {
    await rm(lock, { force: true });
  }
}

async function unless<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}
