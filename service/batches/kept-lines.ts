import type { BatchHead, BatchLine, KeptLines } from '../../contract/batches';
import { HoldfastError } from '../../contract/errors';
import { limits, utf8Length } from '../../contract/limits';
import type { Failure } from '../../contract/messages/messages';
import type { ServiceStore } from '../store/store';

const linesOfChunk = 500;
const bytesOfChunk = 256 * 1024;
const ttlMs = limits.batchKeptMs;

export class LineWriter {
  chunks = 0;
  private kept: string[] = [];
  private bytes = 0;

  constructor(
    private readonly store: ServiceStore,
    private readonly prefix: string,
  ) {}

  async add(text: string): Promise<void> {
    const bytes = utf8Length(text);
    if (this.kept.length === linesOfChunk || this.bytes + bytes > bytesOfChunk) await this.flush();
    this.kept.push(text);
    this.bytes += bytes;
  }

  async flush(): Promise<void> {
    if (this.kept.length === 0) return;
    await this.store.set(chunkKey(this.prefix, this.chunks), this.kept.join('\n'), { ttlMs });
    this.chunks += 1;
    this.kept = [];
    this.bytes = 0;
  }
}

export async function discardLines(store: ServiceStore, { store: prefix, chunks }: Pick<KeptLines, 'store' | 'chunks'>): Promise<void> {
  for (let chunk = 0; chunk < chunks; chunk++) await store.delete(chunkKey(prefix, chunk)).catch(() => undefined);
}

type Stored = Pick<BatchHead, 'id' | 'store' | 'chunks'>;

export interface KeptLine extends BatchLine {
  readonly chunk: number;
}

export async function* keptLines(store: ServiceStore, { id, store: prefix, chunks }: Stored, first = 0): AsyncGenerator<KeptLine> {
  for (let chunk = first; chunk < chunks; chunk++) {
    const text = await store.get(chunkKey(prefix, chunk));
    if (text === undefined)
      throw new HoldfastError('batch-lines-missing', `The store of this service has not all lines of the batch "${id}".`);
    for (const line of text.split('\n')) yield { ...(JSON.parse(line) as BatchLine), chunk };
  }
}

/** Why the run of a line could not be started. The first reason counts. */
export async function refusalOf(store: ServiceStore, batch: Stored, { line }: BatchLine): Promise<Failure | undefined> {
  const text = await store.get(refusalKey(batch, line));
  return text === undefined ? undefined : (JSON.parse(text) as Failure);
}

export async function keepRefusal(store: ServiceStore, batch: Stored, { line }: BatchLine, error: Failure): Promise<void> {
  await store.set(refusalKey(batch, line), JSON.stringify(error), { ttlMs });
}

function chunkKey(prefix: string, chunk: number): string {
  return `${prefix}/${String(chunk).padStart(6, '0')}`;
}

function refusalKey({ store }: Stored, line: number): string {
  return `${store}/refused/${line}`;
}
