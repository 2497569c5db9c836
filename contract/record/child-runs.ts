import type { AgentPath } from './agent-paths';
import { agentOfPath } from './agent-paths';
import { isRunId } from '../names';
import { sha256 } from '../sha256';
import type { ParentRun } from './wire';

const longestPlace = 100;
const longestId = 360;

const marks: Readonly<Record<string, string>> = { '#': ':', '!': '::', '~': ':::' };

/**
 * The id of the run that an isolated agent is: that of the run that it is part of, and where in it the agent stands. No run can be started
 * under such an id, and it is the same whenever the agent is.
 */
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

/** Where a place in a run stands in the run that somebody started. */
export function placeInRoot(parent: ParentRun | undefined, path: AgentPath): AgentPath {
  return parent === undefined ? path : [...parent.path, ...path.slice(1)];
}

/** Whose run it is. */
export function agentOfChildRun(id: string): string {
  return /([A-Za-z0-9_-]+)(?:[:@]+[0-9]+)?$/.exec(id)?.[1] ?? '';
}

/** The run that somebody started, of which this one is a part. */
export function rootRunId(id: string): string {
  const end = id.indexOf('~');
  return end === -1 ? id : id.slice(0, end);
}

/** Whether an id is that of a run: one that somebody started, or an isolated agent in it. */
export function isAnyRunId(id: unknown): id is string {
  if (typeof id !== 'string' || id.length > longestId) return false;
  const root = rootRunId(id);
  return isRunId(root) && /^(~[A-Za-z0-9._:@-]+)*$/.test(id.slice(root.length));
}
