import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

export interface ListeningSocket {
  readonly pid: number;
  readonly port: number;
  readonly onLoopback: boolean;
}

export function listeningSockets(root: number): readonly ListeningSocket[] {
  const listening = new Map(['tcp', 'tcp6'].flatMap(rowsOf));
  const pids = familyOf(root);
  return pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((file) => {
      const socket = listening.get(targetOf(`/proc/${pid}/fd/${file}`));
      return socket === undefined ? [] : [{ pid, ...socket }];
    }),
  );
}

function rowsOf(table: string): readonly (readonly [string, Omit<ListeningSocket, 'pid'>])[] {
  const rows = readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    const onLoopback = address === '0100007F' || address === '00000000000000000000000001000000';
    return state === '0A' ? [[`socket:[${inode}]`, { port: parseInt(port, 16), onLoopback }] as const] : [];
  });
}

function familyOf(root: number): readonly number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const belongs = (pid: number | undefined): boolean => pid !== undefined && (pid === root || belongs(parents.get(pid)));
  return pids.filter((pid) => belongs(pid));
}

function parentOf(pid: number): number | undefined {
  try {
    const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
