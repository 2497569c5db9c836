import { interruptId } from '../../contract/interrupts';
import { Journal } from '../effects/journal';
import type { Ports } from '../run/ports';
import type { RunState } from '../run/state';

/** The journal of a run, from its start or from a snapshot. A question ends with its frame, also where no code has asked it again by then. */
export function journalOf(state: RunState, ports: Ports, dropQuestion: (id: string) => void): Journal {
  const journal = new Journal(
    state.journal,
    () => ports.cancelled,
    state.notes,
    (address, n, kind) => {
      if (kind === 'interrupt') dropQuestion(interruptId(address.split('/'), n));
    },
    (run) => ports.atRest(run),
  );
  for (const address of state.remains ?? []) journal.remains.lose(address, 'it continued as new after a part of it had failed');
  return journal;
}
