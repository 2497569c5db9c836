/**
 * Agents from the root on. A mark tells repeated work: `critic#2` is the second time, `writer@3` the third agent as a tool in the run, and
 * `writer!3` an agent without visible events.
 */
export type AgentPath = readonly string[];

/** The last path segment of a hook's model call, not an agent. */
export const hiddenModelCall = 'ctx.model';

export function nameOfSegment(segment: string): string {
  const end = segment.search(/[#@!~]/);
  return end === -1 ? segment : segment.slice(0, end);
}

/** A conversation's only agent keeps its name as path in every turn, but its interrupts have the turn: `support#2`. */
export function pathFormsOf(address: readonly string[]): readonly (readonly string[])[] {
  const [first = '', ...others] = address;
  return [address, [nameOfSegment(first), ...others]];
}

export function isInside(address: readonly string[], place: string): boolean {
  return pathFormsOf(address).some((form) => `${form.join('/')}/`.startsWith(`${place}/`));
}

export function nthSegment(name: string, n: number): string {
  return n === 1 ? name : `${name}#${n}`;
}

export function toolSegment(name: string, n: number, forwarded: boolean): string {
  return `${name}${forwarded ? '@' : '!'}${n}`;
}

export function agentOfPath(path: AgentPath): string {
  return nameOfSegment(path.at(path.at(-1) === hiddenModelCall ? -2 : -1) ?? '');
}

export function isShown(path: AgentPath): boolean {
  return !path.some((segment) => segment.includes('!'));
}

export function isConversation(path: AgentPath): boolean {
  return !path.some((segment) => segment.includes('!') || segment.includes('@'));
}

const mostSegments = 12;
const keptSegments = 6;

/** A long path keeps the beginning, the end, and the number of agents between. */
export function longerPath(path: AgentPath, segment: string): AgentPath {
  if (path.length < mostSegments) return [...path, segment];
  const gap = path.findIndex((one) => one.startsWith('~'));
  const left = gap === -1 ? 0 : Number((path[gap] as string).slice(1));
  const begin = gap === -1 ? path.slice(0, mostSegments - keptSegments) : path.slice(0, gap);
  const end = gap === -1 ? path.slice(begin.length) : path.slice(gap + 1);
  const dropped = begin.length + end.length + 2 - mostSegments;
  return [...begin, `~${left + dropped}`, ...end.slice(dropped), segment];
}
