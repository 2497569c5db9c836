import { HoldfastError, codeOf, messageOf, type ErrorCode } from '../contract/errors';

const codes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ['disk-full', 'no space is left on the disk'],
  EDQUOT: ['disk-full', 'the quota of the disk is used up'],
  EFBIG: ['disk-full', 'the file would be larger than files may be'],
  EMFILE: ['files-exhausted', 'this process has as many files and sockets open as it may have'],
  ENFILE: ['files-exhausted', 'this machine has as many files and sockets open as it may have'],
  EROFS: ['config-invalid', 'the disk is mounted read-only'],
  EACCES: ['config-invalid', 'this process may not do that'],
  EPERM: ['config-invalid', 'this process may not do that'],
  ENOTDIR: ['config-invalid', 'a file stands where a directory has to be'],
  EISDIR: ['config-invalid', 'a directory stands where a file has to be'],
  ENAMETOOLONG: ['config-invalid', 'the name is too long'],
};

const deepest = 6;

/** Gives an operating system's error a code with a fix, as for a full disk. */
export function namedSystemError(error: unknown, doing: string): HoldfastError | undefined {
  if (codeOf(error) !== undefined && codeOf(error) !== 'internal') return undefined;
  for (let link = error, depth = 0; typeof link === 'object' && link !== null && depth < deepest; depth++) {
    const { code, path, syscall, cause } = link as NodeJS.ErrnoException & { readonly cause?: unknown };
    const known = typeof code === 'string' && typeof syscall === 'string' && Object.hasOwn(codes, code) ? codes[code] : undefined;
    if (known !== undefined) {
      const where = path === undefined ? '' : ` (${path})`;
      return new HoldfastError(known[0], `A failure while ${doing}: ${known[1]}${where}; ${code}.`, { cause: error });
    }
    link = cause;
  }
  return fullDisk(error);
}

/** The server reports a full disk only in words. */
export function fullDisk(error: unknown): HoldfastError | undefined {
  for (let link = error, depth = 0; link !== undefined && link !== null && depth < deepest; depth++) {
    if (/database or disk is full|no space left on device|disk quota exceeded/i.test(messageOf(link)))
      return new HoldfastError('disk-full', 'The Temporal server cannot write: no space is left on the disk of its database.', {
        cause: error,
      });
    link = (link as { readonly cause?: unknown }).cause;
  }
  return undefined;
}

export async function withSystemCodes<T>(doing: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw namedSystemError(error, doing) ?? error;
  }
}
