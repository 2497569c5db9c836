import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import type { HistoryFile } from '../../host/history/history-files';

export function packedHistories(folder: string): readonly HistoryFile[] {
  const names = readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name));
  if (names.length === 0) throw new Error(`${folder} has no history.`);
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const packed = readFileSync(path);
    const saved = JSON.parse((name.endsWith('.gz') ? gunzipSync(packed) : packed).toString()) as unknown;
    const id = name.replace(/\.json(\.gz)?$/, '');
    return [saved].flat().map((one, n, all) => ({
      id: all.length === 1 ? id : `${id}.${n + 1}`,
      place: name,
      path,
      history: historyFromJSON(one),
    }));
  });
}
