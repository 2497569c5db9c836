import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/plain/errors';

/** Makes the directory, or throws 'config-invalid' when there can be none that one can write to. */
export function makeUsable(directory: string): void {
  try {
    make(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new HoldfastError(
      'config-invalid',
      `HOLDFAST_DIR, which is ${directory}, has to be a directory that one can write to: ${messageOf(error)}.`,
    );
  }
}

/** One after another: a recursive `mkdirSync` of Node tries for ever where a file system takes no directories, such as /proc. */
function make(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw new Error(`${directory} is a file`);
  make(dirname(directory));
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
