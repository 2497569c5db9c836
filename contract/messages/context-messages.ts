import type { Part, StoredMessage } from './messages';
import { isPartList, textOf, textOfJson } from './messages';

const prefix = 'context:';

/** A message as another agent sees it is derived, so the history has the message once. */
export function contextId(agent: string, id: string): string {
  return `${prefix}${agent}:${id}`;
}

export function contextOf(id: string): { readonly agent: string; readonly id: string } | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const end = id.indexOf(':', prefix.length);
  return end === -1 ? undefined : { agent: id.slice(prefix.length, end), id: id.slice(end + 1) };
}

export function sourceOf(id: string): string {
  const context = contextOf(id);
  return context === undefined ? id : sourceOf(context.id);
}

/** Keeps media and drops reasoning. */
export function contextMessage(agent: string, message: StoredMessage): StoredMessage {
  const said: string[] = [];
  const media: Part[] = [];
  const words = textOf(message);
  if (words !== '') said.push(`[${agent}] said: ${words}.`);
  for (const part of message.parts) {
    if (part.type === 'tool-call') said.push(`[${agent}] called tool: \`${part.name}\` with arguments: ${JSON.stringify(part.input)}.`);
    if (part.type === 'tool-result' && part.output !== '') {
      const parts = part.multipart === true && isPartList(part.output) ? part.output : [];
      media.push(...parts.filter(({ type }) => type === 'file'));
      const text = parts.length === 0 ? textOfJson(part.output) : textOf({ role: 'tool', parts });
      said.push(`[${agent}] \`${part.name}\` tool returned result${text === '' ? '' : `: ${text}`}.`);
    }
    if (part.type === 'file') media.push(part);
  }
  const text = ['For context:', ...said].join(' ');
  return { id: contextId(agent, message.id), role: 'user', parts: [{ type: 'text', text }, ...media] };
}

export function messageById(id: string, lookup: (id: string) => StoredMessage | undefined): StoredMessage | undefined {
  const known = lookup(id);
  if (known !== undefined) return known;
  const context = contextOf(id);
  const source = context === undefined ? undefined : messageById(context.id, lookup);
  return source === undefined || context === undefined ? undefined : contextMessage(context.agent, source);
}
