import { readFile, readdir } from 'node:fs/promises';

/** In the environment of a command and its children. */
export const commandVariable = 'HOLDFAST_COMMAND';

export function endGroup(pid: number | undefined): void {
  if (pid !== undefined) end(-pid);
}

const mostRounds = 10;

/** Kills all processes with the mark, also in other sessions. Only on Linux, and without processes that changed environment or user. */
export async function endMarked(mark: string): Promise<void> {
  const wanted = `${commandVariable}=${mark}`;
  // A process may fork meanwhile: repeat until no process is found.
  for (let round = 0; round < mostRounds; round++) {
    const found = await marked(wanted);
    if (found.length === 0) return;
    found.forEach(end);
  }
}

async function marked(wanted: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const have = await Promise.all(pids.map(async (pid) => (await environmentOf(pid)).includes(wanted)));
  return pids.filter((_, position) => have[position]);
}

async function environmentOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return text.split('\0');
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
