import type { RunEvent } from '../../contract/plain/events';
import { canonicalJson } from '../../contract/plain/messages';
import type { Played } from './play';

/**
 * What has to be the same on both engines, line by line. Left out are times. Ids that are made at random are numbered in the order in
 * which they come here, so that what has the same id in one run has to have the same id in the other.
 *
 * Events are compared in their order, except that events of parallel calls stand call by call: which of the calls ends first is up to
 * the tools and to the server. All calls of a message lie between two events that belong to no call, so nothing else moves.
 */
export function comparable({ moves, end, view, play }: Played): readonly string[] {
  const { messages, status, output, text, error, usage, nextOffset } = view;
  const lines = [
    // Of a run that waits only the events say whether what else it did has been written yet.
    ['end', { status, output, text, error, usage, nextOffset }],
    ...messages.map((message) => ['message', message]),
    ...callByCall(end.log).map((event) => ['event', event]),
    ...view.interrupts.map((interrupt) => ['waits', interrupt]).sort(byText),
    ...moves.map(({ standing, acts }) => ['move', { after: standing.log.length, open: standing.open.map(({ id }) => id), acts }]),
    ...play.asked.map((request) => ['asked', request]),
    // Calls of parallel hooks and tools, in no order.
    ...play.askedBeside.map((request) => ['asked beside', request]).sort(byText),
    // And each once: what stands in no history yet is done again when its task is lost, such as a quick call.
    ...[...new Set(play.used.map((call) => JSON.stringify(call)))].sort().map((call) => ['used', JSON.parse(call) as unknown]),
  ];
  const known = new Map<string, string>();
  return lines.map((line) =>
    canonicalJson(JSON.parse(JSON.stringify(line, withoutTime))).replace(randomId, (id) => {
      const name = known.get(id) ?? `id-${known.size}`;
      known.set(id, name);
      return name;
    }),
  );
}

const randomId = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function withoutTime(key: string, value: unknown): unknown {
  return (key === 'time' || key === 'deadline') && typeof value === 'number' ? 'a time' : value;
}

function byText(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function callByCall(log: readonly RunEvent[]): readonly unknown[] {
  const lanes = new Map<string, unknown[]>();
  const ordered: unknown[] = [];
  const callOfInterrupt = new Map<string, string>();
  const flush = (): void => {
    for (const name of [...lanes.keys()].sort()) ordered.push(...(lanes.get(name) ?? []));
    lanes.clear();
  };
  log.forEach((event, position) => {
    const { offset, ...rest } = event;
    const shown = offset === position ? rest : event;
    const call = callOf(event, callOfInterrupt);
    if (call === undefined) {
      flush();
      ordered.push(shown);
    } else lanes.set(call, [...(lanes.get(call) ?? []), shown]);
  });
  flush();
  return ordered;
}

/** The tool call that an event is about. Tools and hooks of the scripts say it in what they send and ask. */
function callOf(event: RunEvent, callOfInterrupt: Map<string, string>): string | undefined {
  switch (event.type) {
    case 'tool-start':
    case 'tool-end':
      return event.callId;
    case 'custom':
      return namedIn(event.data);
    case 'interrupt-start': {
      const { interrupt } = event;
      const call = interrupt.kind === 'approval' ? interrupt.callId : namedIn(interrupt.info);
      if (call !== undefined) callOfInterrupt.set(interrupt.id, call);
      return call;
    }
    case 'interrupt-end':
      return callOfInterrupt.get(event.interruptId);
    default:
      return undefined;
  }
}

function namedIn(data: unknown): string | undefined {
  const { callId } = (typeof data === 'object' && data !== null ? data : {}) as { callId?: unknown };
  return typeof callId === 'string' ? callId : undefined;
}
