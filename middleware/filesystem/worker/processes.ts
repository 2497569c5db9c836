import { readFile, readdir } from 'node:fs/promises';

export const commandVariable = 'HOLDFAST_COMMAND';

export function endGroup(pid: number | undefined): void {
  if (pid !== undefined) end(-pid);
}

const mostRounds = 10;

/** Kills marked processes in all sessions (Linux), except after a change of environment or user. */
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
    // Already ended.
  }
}
