import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import { isHashed, isOurs, makePrivate, privateDirectory, privateFile } from '../../host/private-files';
import { namedSystemError } from '../../host/system-errors';

/** Throws 'config-invalid' without write permission, else 'disk-full' or 'files-exhausted'. */
export function makeUsable(directory: string): void {
  try {
    makeDirectory(directory, privateDirectory);
    accessSync(directory, constants.W_OK | constants.X_OK);
    makePrivate(directory, isOurs);
    for (const name of ['bundles', 'snapshots']) if (existsSync(join(directory, name))) makePrivate(join(directory, name), isHashed);
    tryToWrite(join(directory, 'server.probe'));
  } catch (error) {
    const named = namedSystemError(error, `writing to HOLDFAST_DIR, which is ${directory}`);
    if (named !== undefined && named.code !== 'config-invalid') throw named;
    throw new HoldfastError(
      'config-invalid',
      `HOLDFAST_DIR, which is ${directory}, has to be a directory that one can write to: ${messageOf(error)}.`,
    );
  }
}

function tryToWrite(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(probeBytes), { mode: privateFile });
  } finally {
    rmSync(path, { force: true });
  }
}

const probeBytes = 64 * 1024;

/** Node's recursive `mkdirSync` never ends in a file system without directories, such as /proc. */
export function makeDirectory(directory: string, mode?: number): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw new Error(`${directory} is a file`);
  makeDirectory(dirname(directory), mode);
  try {
    mkdirSync(directory, mode);
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
