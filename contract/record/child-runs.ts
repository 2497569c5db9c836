import type { AgentPath } from './agent-paths';
import { agentOfPath } from './agent-paths';
import { isRunId } from '../names';
import { sha256 } from '../sha256';
import type { ParentRun } from './wire';

const longestPlace = 100;
const longestId = 360;

const marks: Readonly<Record<string, string>> = { '#': ':', '!': '::', '~': ':::' };

/** The id of the run of an isolated agent: the id of its parent and its place. Nobody can start a run with such an id, and the id is stable. */
export function childRunId(parent: string, path: AgentPath): string {
  const place = path
    .slice(1)
    .map((segment) => segment.replace(/[#!~]/g, (mark) => marks[mark] ?? mark))
    .join('.');
  const short = place.length <= longestPlace ? place : hashed(place, path);
  const id = `${parent}~${short}`;
  return id.length <= longestId ? id : `${rootRunId(parent)}~${hashed(id, path)}`;
}

function hashed(text: string, path: AgentPath): string {
  return `${sha256(text).slice(0, 32)}.${agentOfPath(path)}`;
}

/** A place of a run in its root run. */
export function placeInRoot(parent: ParentRun | undefined, path: AgentPath): AgentPath {
  return parent === undefined ? path : [...parent.path, ...path.slice(1)];
}

export function agentOfChildRun(id: string): string {
  return /([A-Za-z0-9_-]+)(?:[:@]+[0-9]+)?$/.exec(id)?.[1] ?? '';
}

/** The run that somebody started. */
export function rootRunId(id: string): string {
  const end = id.indexOf('~');
  return end === -1 ? id : id.slice(0, end);
}

/** Whether an id is valid for a run or an isolated agent. */
export function isAnyRunId(id: unknown): id is string {
  if (typeof id !== 'string' || id.length > longestId) return false;
  const root = rootRunId(id);
  return isRunId(root) && /^(~[A-Za-z0-9._:@-]+)*$/.test(id.slice(root.length));
}
