import type { RunEvent } from '../../contract/events';

/** Whether a message was taken back, or its turn has failed or was stopped: whoever sends it again means it. */
export function cameToNothing(message: string, log: readonly RunEvent[]): boolean {
  if (log.some((event) => event.type === 'message-withdrawn' && event.id === message)) return true;
  const said = log.find((event) => event.type === 'message' && event.id === message);
  return (
    said?.type === 'message' && log.some((event) => event.type === 'turn-end' && event.turn === said.turn && event.status !== 'completed')
  );
}
