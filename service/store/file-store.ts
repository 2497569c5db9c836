import { randomUUID } from 'node:crypto';
import { appendFile, chmod, link, mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../contract/defined';
import { privateDirectory, privateFile } from '../../host/private-files';
import { withSystemCodes } from '../../host/system-errors';
import type { ServiceStore } from './store';

interface Stored {
  readonly value: string;
  /** In milliseconds since 1970. */
  readonly expires?: number;
}

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

  async get(key: string): Promise<string | undefined> {
    const stored = await this.coded(() => this.read(this.pathOf(key)));
    return stored === undefined || isExpired(stored) ? undefined : stored.value;
  }

  set(key: string, value: string, options: SetOptions = {}): Promise<boolean> {
    return this.coded(() => this.write(this.pathOf(key), value, options));
  }

  delete(key: string): Promise<boolean> {
    return this.coded(async () => {
      const path = this.pathOf(key);
      const stored = await this.read(path);
      if (stored === undefined || isExpired(stored)) return false;
      return (await ifPresent(() => unlink(path).then(() => true))) === true;
    });
  }

  list(prefix: string): Promise<readonly string[]> {
    return this.coded(async () => {
      const found: string[] = [];
      for (const name of (await ifPresent(() => readdir(this.folder))) ?? []) {
        if (!name.endsWith(ending)) continue;
        const key = decodeURIComponent(name.slice(0, -ending.length));
        if (!key.startsWith(prefix)) continue;
        const path = join(this.folder, name);
        const stored = await this.read(path);
        if (stored === undefined) continue;
        if (isExpired(stored)) await this.removeExpired(path);
        else found.push(key);
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
    const file = await ifPresent(() => open(join(this.folder, auditFile)));
    if (file !== undefined) yield* file.readLines();
  }

  private async write(path: string, value: string, { ttlMs, ifAbsent }: NonNullable<SetOptions>): Promise<boolean> {
    await this.make();
    if (ttlMs !== undefined) this.sweepSometimes();
    const draft = join(this.folder, `${randomUUID()}.draft`);
    const stored: Stored = { value, ...defined({ expires: ttlMs === undefined ? undefined : Date.now() + ttlMs }) };
    await writeFile(draft, JSON.stringify(stored), { mode: privateFile, flush: true });
    try {
      if (ifAbsent !== true) {
        await rename(draft, path);
        return true;
      }
      while (!(await ifNew(() => link(draft, path)))) {
        const present = await this.read(path);
        if (present !== undefined && !isExpired(present)) return false;
        await this.removeExpired(path);
      }
      return true;
    } finally {
      await rm(draft, { force: true });
    }
  }

  private async read(path: string): Promise<Stored | undefined> {
    const text = await ifPresent(() => readFile(path, 'utf8'));
    return text === undefined ? undefined : (JSON.parse(text) as Stored);
  }

  /** Between the look at an expired file and its removal, another process may put a new file in its place. The lock excludes that. */
  private async removeExpired(path: string): Promise<void> {
    const lock = `${path}.lock`;
    while (!(await ifNew(async () => (await open(lock, 'wx', privateFile)).close()))) {
      const since = (await ifPresent(() => stat(lock)))?.mtimeMs ?? Date.now();
      if (Date.now() - since > staleLockMs) await rm(lock, { force: true });
      else await delay(5);
    }
    try {
      const stored = await this.read(path);
      if (stored !== undefined && isExpired(stored)) await rm(path, { force: true });
    } finally {
      await rm(lock, { force: true });
    }
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

  /** Some file systems take capitals for small letters, so capitals are escaped, too. */
  private pathOf(key: string): string {
    const escaped = (byte: string): string => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
    return join(
      this.folder,
      `${Buffer.from(key)
        .toString('latin1')
        .replace(/[^a-z0-9_-]/g, escaped)}${ending}`,
    );
  }
}

function isExpired({ expires }: Stored): boolean {
  return expires !== undefined && expires <= Date.now();
}

function ifPresent<T>(work: () => Promise<T>): Promise<T | undefined> {
  return unlessCode('ENOENT', work);
}

async function ifNew(work: () => Promise<unknown>): Promise<boolean> {
  return (await unlessCode('EEXIST', () => work().then(() => true))) === true;
}

async function unlessCode<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}
