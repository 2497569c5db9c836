import { hiddenModelCall } from './call-addresses';

/**
 * Where an agent is at work in a run: the agents from the root to it. A segment is a name, and where the same agent works more than once
 * at one place, what tells its turns apart: `critic#2`, the second time; `writer@3`, as a tool, the third one of the run, and
 * `writer!3` when its events are nobody's but its own.
 */
export type AgentPath = readonly string[];

export function nameOfSegment(segment: string): string {
  const end = segment.search(/[#@!~]/);
  return end === -1 ? segment : segment.slice(0, end);
}

/**
 * The address of an interrupt as paths of events may have it. An agent that holds a conversation alone keeps its name as its path in every turn, and its
 * interrupts have the number of the turn: `support#2`.
 */
export function pathFormsOf(address: readonly string[]): readonly (readonly string[])[] {
  const [first = '', ...others] = address;
  return [address, [nameOfSegment(first), ...others]];
}

/** Whether the address of an interrupt is at a place or inside of it. */
export function isInside(address: readonly string[], place: string): boolean {
  return pathFormsOf(address).some((form) => `${form.join('/')}/`.startsWith(`${place}/`));
}

export function nthSegment(name: string, n: number): string {
  return n === 1 ? name : `${name}#${n}`;
}

export function toolSegment(name: string, n: number, forwarded: boolean): string {
  return `${name}${forwarded ? '@' : '!'}${n}`;
}

/** Whose call it is. */
export function agentOfPath(path: AgentPath): string {
  return nameOfSegment(path.at(path.at(-1) === hiddenModelCall ? -2 : -1) ?? '');
}

/** Whether what happens there is shown to readers. */
export function isShown(path: AgentPath): boolean {
  return !path.some((segment) => segment.includes('!'));
}

/** Whether messages there are part of the conversation that the run is, and not of one that an agent had as a tool. */
export function isConversation(path: AgentPath): boolean {
  return !path.some((segment) => segment.includes('!') || segment.includes('@'));
}

const mostSegments = 12;
const keptSegments = 6;

/** One agent further. What is very long is told by its beginning, its end, and how many are left out between them. */
export function longerPath(path: AgentPath, segment: string): AgentPath {
  if (path.length < mostSegments) return [...path, segment];
  const gap = path.findIndex((one) => one.startsWith('~'));
  const left = gap === -1 ? 0 : Number((path[gap] as string).slice(1));
  const begin = gap === -1 ? path.slice(0, mostSegments - keptSegments) : path.slice(0, gap);
  const end = gap === -1 ? path.slice(begin.length) : path.slice(gap + 1);
  const dropped = begin.length + end.length + 2 - mostSegments;
  return [...begin, `~${left + dropped}`, ...end.slice(dropped), segment];
}
