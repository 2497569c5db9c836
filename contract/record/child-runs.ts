import type { AgentPath } from './agent-paths';
import { agentOfPath } from './agent-paths';
import { isRunId } from '../names';
import { sha256 } from '../sha256';
import type { ParentRun } from './wire';

const longestPlace = 100;
const longestId = 360;

const marks: Readonly<Record<string, string>> = { '#': ':', '!': '::', '~': ':::' };

/** Joins parent id and place to a stable id that nobody can start a run with. */
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

export function placeInRoot(parent: ParentRun | undefined, path: AgentPath): AgentPath {
  return parent === undefined ? path : [...parent.path, ...path.slice(1)];
}

export function agentOfChildRun(id: string): string {
  return /([A-Za-z0-9_-]+)(?:[:@]+[0-9]+)?$/.exec(id)?.[1] ?? '';
}

export function rootRunId(id: string): string {
  const end = id.indexOf('~');
  return end === -1 ? id : id.slice(0, end);
}

export function isAnyRunId(id: unknown): id is string {
  if (typeof id !== 'string' || id.length > longestId) return false;
  const root = rootRunId(id);
  return isRunId(root) && /^(~[A-Za-z0-9._:@-]+)*$/.test(id.slice(root.length));
}
