import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExternalStorage, StorageDriverClaim, type DataConverter, type Payload, type StorageDriver } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { limits } from '../contract/limits';
import { beginningOf } from './payloads/compression';
import { privateDirectory, privateFile } from './private-files';

const proto = temporal.api.common.v1.Payload;
const runInputMark = Buffer.from('{"start":{"version":');

/**
 * Keeps payloads as files named by hash, for one host only.
 * @example
 * const driver = new DirectoryDriver('.holdfast/snapshots');
 * export default defineConfig({ agents: 'agents.ts', storage: driver });
 * const client = await connect({ dataConverter: snapshotStorage(driver) });
 */
export class DirectoryDriver implements StorageDriver {
  readonly name = 'holdfast-directory';
  readonly type = 'directory';

  constructor(private readonly directory: string) {}

  async store(_context: unknown, payloads: Payload[]): Promise<StorageDriverClaim[]> {
    await mkdir(this.directory, { recursive: true, mode: privateDirectory });
    return Promise.all(
      payloads.map(async (payload) => {
        const bytes = proto.encode(payload).finish();
        const hash = createHash('sha256').update(bytes).digest('hex');
        const path = join(this.directory, hash);
        const temporary = `${path}.${process.pid}.${Date.now()}`;
        await writeFile(temporary, bytes, { mode: privateFile });
        await rename(temporary, path);
        return new StorageDriverClaim({ hash });
      }),
    );
  }

  async retrieve(_context: unknown, claims: StorageDriverClaim[]): Promise<Payload[]> {
    return Promise.all(claims.map(async ({ claimData }) => proto.decode(await readFile(join(this.directory, claimData['hash'] ?? '')))));
  }
}

/**
 * A data converter for clients that stores only the snapshot of a continue-as-new outside.
 * @example
 * const driver = new DirectoryDriver('.holdfast/snapshots');
 * const client = await connect({ dataConverter: snapshotStorage(driver) });
 * console.log(await client.run('ticket-981').result());
 */
export function snapshotStorage(driver: StorageDriver): Pick<DataConverter, 'externalStorage'> {
  return {
    externalStorage: new ExternalStorage({
      drivers: [driver],
      driverSelector: (_context, payload) => (isSnapshot(payload) ? driver : null),
      payloadSizeThreshold: limits.externalSnapshot,
    }),
  };
}

/** The input of a first run never reaches the threshold. */
function isSnapshot(payload: Payload): boolean {
  return runInputMark.equals(beginningOf(payload, runInputMark.length));
}
