import type { RunEvent, RunView } from '../../contract/events';
import type { StoredMessage } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { isTeam } from './agent-names';
import type { Played } from './play';
import type { Script } from './script';
import type { Act } from './table';

/**
 * Lines that must be equal on both engines, without times, and with ids numbered in order of appearance. Parallel calls may end in any
 * order, so events are grouped by call, and teams by agent.
 */
export function comparable({ script, moves, end, view, parts, play }: Played): readonly string[] {
  const { messages, interrupts, ...state } = view;
  // After a give-up, parallel parts may still be writing.
  const shown = end.log.at(-1)?.type === 'run-end' ? parts : [];
  const lines: (readonly [place: string, line: readonly unknown[]])[] = [
    ...inRun('', [['end', standOf(state)]]),
    ...inRun('', messagesOf(script, messages, end.log)),
    ...inRun('', eventsOf(script, end.log)),
    ...inRun('', interrupts.map((interrupt) => ['waits', interrupt]).sort(byText)),
    ...shown.flatMap(({ place, view: { messages: said, ...stand }, log }) =>
      inRun(place, [['part', place, standOf(stand)], ...messagesOf(script, said, log), ...eventsOf(script, log)]),
    ),
    ...inRun(
      '',
      moves.map(({ standing, acts }) => [
        'move',
        { after: standing.log.length, open: standing.open.map(({ id }) => id), acts: actsOf(acts) },
      ]),
    ),
    ...askedIn(play),
    ...inRun('', askedBeside(script, play)),
    // Once per request, because a lost task repeats calls missing from the history.
    ...inRun(
      '',
      [...new Set(usedIn(script, play).map((call) => JSON.stringify(call, script.killsAt === undefined ? undefined : withoutAttempt)))]
        .sort()
        .map((call) => ['used', JSON.parse(call) as unknown]),
    ),
  ];
  const known = new Map<string, string>();
  return lines.map(([place, line]) =>
    canonicalJson(JSON.parse(JSON.stringify(line, withoutTime))).replace(randomId, (id) => {
      const name = known.get(place + id) ?? `id-${known.size}`;
      known.set(place + id, name);
      return name;
    }),
  );
}

/** Virtual time passes a retry's wait before the driver cancels, and real time does not. After a kill, attempts do not count. */
function usedIn({ gaveUp, killsAt }: Script, { used }: Played['play']): Played['play']['used'] {
  if (gaveUp?.cancels !== true || killsAt !== undefined) return used;
  return used.filter((call) => (call as { readonly attempt?: number }).attempt === 1);
}

/** A lost worker repeats model calls, so only scripts without kills count each call. */
function askedBeside({ killsAt }: Script, { askedBeside: asked }: Played['play']): (readonly unknown[])[] {
  const texts = asked.map((request) => canonicalJson(request));
  return (killsAt === undefined ? texts : [...new Set(texts)]).sort().map((text) => ['asked beside', JSON.parse(text) as unknown]);
}

function inRun(place: string, lines: readonly (readonly unknown[])[]): (readonly [string, readonly unknown[]])[] {
  return lines.map((line) => [place, line]);
}

/** The server decides whether a repeated answer comes before or after the run's end. */
function actsOf(acts: readonly Act[]): readonly unknown[] {
  return acts.map((act, position) => {
    if (act.do !== 'answer' || act.refused === undefined) return act;
    const before = acts.slice(0, position).filter((one) => one.do === 'answer');
    if (before.some(({ id }) => id === act.id)) return { ...act, refused: true };
    if (before.length > 0 && toNobody.has(act.refused.code)) return { ...act, refused: 'to nobody' };
    return { ...act, refused: { ...act.refused, message: act.refused.message.replace(isoTime, 'a time') } };
  });
}

const toNobody: ReadonlySet<string> = new Set(['interrupt-withdrawn', 'run-ended']);

const isoTime = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function standOf({ status, output, text, error, usage, nextOffset }: Omit<RunView, 'messages' | 'interrupts'>): object {
  return { status, output, text, error, usage, nextOffset };
}

function askedIn({ asked, script }: Played['play']): (readonly [string, readonly unknown[]])[] {
  const lanes = [...new Set(asked.map(({ lane }) => lane))].sort();
  return lanes.flatMap((lane) => {
    const calls = asked.filter((one) => one.lane === lane).map(({ address, request }) => ['asked', lane, address, request]);
    const place = lane.slice(0, lane.indexOf(' '));
    if (script.killsAt === undefined) return inRun(place, calls);
    const texts = calls.map((call) => JSON.stringify(call));
    return inRun(
      place,
      calls.filter((_, position) => texts.indexOf(texts[position] ?? '') === position),
    );
  });
}

function withoutAttempt(key: string, value: unknown): unknown {
  return key === 'attempt' ? undefined : value;
}

const randomId = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function withoutTime(key: string, value: unknown): unknown {
  return ['time', 'deadline', 'firstAt', 'lastAt'].includes(key) && typeof value === 'number' ? 'a time' : value;
}

function byText(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function eventsOf({ agent }: Script, log: readonly RunEvent[]): (readonly unknown[])[] {
  if (!isTeam(agent)) return callByCall(log).map((event) => ['event', event]);
  const lanes = new Map<string, RunEvent[]>();
  for (const event of log) {
    const lane = laneOf(event);
    lanes.set(lane, [...(lanes.get(lane) ?? []), { ...event, offset: 0 }]);
  }
  return [...lanes.keys()].sort().flatMap((lane) => callByCall(lanes.get(lane) ?? []).map((event) => ['event', lane, event]));
}

function messagesOf({ agent }: Script, messages: readonly StoredMessage[], log: readonly RunEvent[]): (readonly unknown[])[] {
  if (!isTeam(agent)) return messages.map((message) => ['message', message]);
  const lanes = new Map<string, string>();
  for (const event of log) if ('message' in event) lanes.set(event.message.id, laneOf(event));
  const byLane = new Map<string, StoredMessage[]>();
  for (const message of messages) {
    const lane = lanes.get(message.id) ?? '';
    byLane.set(lane, [...(byLane.get(lane) ?? []), message]);
  }
  return [...byLane.keys()].sort().flatMap((lane) => resultsInOrder(byLane.get(lane) ?? []).map((message) => ['message', lane, message]));
}

function resultsInOrder(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const ordered: StoredMessage[] = [];
  let results: StoredMessage[] = [];
  const flush = (): void => {
    ordered.push(...results.sort(byCall));
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') results.push(message);
    else {
      flush();
      ordered.push(message);
    }
  }
  flush();
  return ordered;
}

function byCall({ parts: [one] }: StoredMessage, { parts: [other] }: StoredMessage): number {
  const id = (part: typeof one): string => (part?.type === 'tool-result' ? part.callId : '');
  return id(one) < id(other) ? -1 : id(one) > id(other) ? 1 : 0;
}

function laneOf(event: RunEvent): string {
  if (event.type === 'interrupt-start') return `interrupt ${event.interrupt.id}`;
  if (event.type === 'interrupt-end' || event.type === 'resume-ignored') return `interrupt ${event.interruptId}`;
  return 'runPath' in event ? event.runPath.join('/') : '';
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
