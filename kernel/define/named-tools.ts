import type { Fields, Refuse } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Manifest } from '../../contract/manifest';
import { cut } from '../../contract/shown';
import type { AgentDefinition } from './definition';
import { exitTool, transferTool } from './transfer-names';
import type { AgentMiddleware } from './middleware';
import { traitsOf, withTraits } from './traits';
import { similarNames } from '../../contract/similar-names';

const offering: readonly string[] = [
  'beforeAgent',
  'beforeModelRewriteState',
  'afterModelRewriteState',
  'afterToolCalls',
  'beforeChatModel',
  'afterChatModel',
];

function offeredBy(middleware: readonly Fields[]): readonly string[] | undefined {
  const offered: string[] = [];
  for (const layer of middleware) {
    const { offersTools } = traitsOf(layer);
    if (offersTools === undefined && offering.some((hook) => layer[hook] !== undefined)) return undefined;
    offered.push(...(offersTools ?? []));
  }
  return offered;
}

export function checkNamedTools(own: readonly string[], middleware: readonly Fields[], hasExit: boolean, refuse: Refuse): void {
  for (const layer of middleware)
    if (hasExit && onlyToolsOf(layer).includes(exitTool))
      refuse(
        `the middleware "${cut(String(layer['name']))}" names the tool "${exitTool}", which no layer is around: the agent ends with it.`,
      );
  const offered = offeredBy(middleware);
  if (offered === undefined) return;
  const has = [...new Set([...own, ...offered])];
  for (const layer of middleware) {
    // The agents to hand over to are known only inside of a team.
    const missing =
      onlyToolsOf(layer).find((tool) => !has.includes(tool) && tool !== transferTool) ??
      traitsOf(layer).namesTools?.find((tool) => !has.includes(tool) && tool !== transferTool && tool !== exitTool);
    if (missing === undefined) continue;
    refuse(
      `the middleware "${cut(String(layer['name']))}" names the tool "${cut(missing)}", which this agent does not have.${question(missing, has)} It has: ${has.join(', ') || 'none'}.`,
    );
  }
}

function question(missing: string, known: readonly string[]): string {
  const [meant] = similarNames(missing, known);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

function onlyToolsOf(layer: Fields): readonly string[] {
  return (layer['onlyTools'] ?? []) as readonly string[];
}

/** Undefined: all. */
export function heldTools(layer: AgentMiddleware, { policies = {} }: Manifest): readonly string[] | undefined {
  const { asksPolicy } = traitsOf(layer);
  return layer.onlyTools ?? (asksPolicy === undefined ? undefined : (policies[asksPolicy] ?? []));
}

export function toolsNamedBy({ onlyTools = [], callsTools = [] }: AgentMiddleware): readonly string[] {
  return [...onlyTools.filter((tool) => tool !== transferTool), ...callsTools];
}

export function refuseUnknownNames({ name, middleware }: AgentDefinition, manifest: Manifest, isOwn: (tool: string) => boolean): void {
  const isUnknown = (tool: string): boolean =>
    !Object.hasOwn(manifest.tools, tool) && !isOwn(tool) && tool !== transferTool && tool !== exitTool;
  for (const layer of middleware) {
    const { namesTools = [], remembersTools = [], asksPolicy } = traitsOf(layer);
    // A policy may serve several agents, so at least one known tool is enough.
    const held = asksPolicy === undefined ? [] : (manifest.policies?.[asksPolicy] ?? []);
    const missing = [...namesTools, ...remembersTools].find(isUnknown) ?? (held.every(isUnknown) ? held[0] : undefined);
    if (missing === undefined) continue;
    const known = Object.keys(manifest.tools);
    throw new HoldfastError(
      'tool-unknown',
      `Agent "${name}": the middleware "${layer.name}" names the tool "${cut(missing)}", which nobody has.${question(missing, known)} The worker has: ${known.join(', ') || 'none'}.`,
    );
  }
}

export function withoutTool(layer: AgentMiddleware, tool: string): AgentMiddleware {
  if (typeof layer !== 'object' || (layer as unknown) === null) return layer;
  const { onlyTools } = layer;
  const { namesTools } = traitsOf(layer);
  const isNamed = onlyTools?.includes(tool) === true || namesTools?.includes(tool) === true;
  // An object with class methods cannot be copied.
  if (!isNamed || Object.getPrototypeOf(layer) !== Object.prototype) return layer;
  const isOther = (name: string): boolean => name !== tool;
  const copy = { ...layer, ...defined({ onlyTools: onlyTools?.filter(isOther) }) };
  return namesTools === undefined ? copy : withTraits(copy, { namesTools: namesTools.filter(isOther) });
}
