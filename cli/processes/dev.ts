import { prepareThread } from '../../worker/threads/spare-thread';
import type { Terminal } from '../terminal';
import { beginServerEarly } from './begin-server';
import { loadWorkerInTurns } from './load-in-turns';
import type { ProcessFlags } from './process-settings';

export async function startDev(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const begun = await beginServerEarly(terminal);
  prepareThread();
  try {
    await loadWorkerInTurns();
    const { dev } = await import('./processes.js');
    return await dev(flags, terminal, begun);
  } finally {
    await begun?.stop();
  }
}
