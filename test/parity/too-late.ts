import type { Compared } from './play';

/** On a server, a deadline passed before the act that memory played in time, or the reverse. Play in real time cannot always be in time. */
export function cameTooLate({ memory, server }: Pick<Compared, 'memory' | 'server'>): boolean {
  const deadlines = new Map<string, number>();
  const over = new Set<string>();
  for (const event of server.end.log) {
    if (event.type === 'interrupt-start') deadlines.set(event.interrupt.id, event.interrupt.deadline ?? Infinity);
    if (event.type === 'interrupt-end' && event.reason === 'deadline' && event.time >= (deadlines.get(event.interruptId) ?? Infinity))
      over.add(event.interruptId);
  }
  if (memory.script.agent !== 'hurried') return false;
  if (server.moves.some(({ acts }) => acts.some((act) => act.do === 'leave' && act.tooLate === true))) return true;
  const standing = memory.moves[server.moves.length]?.standing;
  const answered = memory.end.log.flatMap((event) =>
    event.type === 'interrupt-end' && event.reason !== 'deadline' ? [event.interruptId] : [],
  );
  return [...(standing?.open ?? []).map(({ id }) => id), ...answered].some((id) => over.has(id));
}
