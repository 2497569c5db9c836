import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of the database of an embedded server, as they will be when all of its `-wal` has been written into it. */
export function databaseBytes(directory: string): number {
  const file = readdirSync(directory).find((name) => name.endsWith('.db'));
  if (file === undefined) return 0;
  const head = readFileSync(join(directory, file)).subarray(0, 100);
  // 1 stands for 65,536.
  const pageSize = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
  const wal = join(directory, `${file}-wal`);
  const pages = (existsSync(wal) ? pagesIn(readFileSync(wal), pageSize) : undefined) ?? head.readUInt32BE(28);
  return pages * pageSize;
}

/** What the last commit says, among the frames that are of this round of the log. */
function pagesIn(wal: Buffer, pageSize: number): number | undefined {
  let pages: number | undefined;
  for (let at = 32; at + 24 + pageSize <= wal.length; at += 24 + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24))) break;
    pages = wal.readUInt32BE(at + 4) || pages;
  }
  return pages;
}
