import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Failure } from '../../contract/messages/messages';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';

export function noteOf(event: RunEvent): string {
  const { notes, changes } = runTexts;
  switch (event.type) {
    case 'run-end':
      return notes['run-end'](event.status);
    case 'turn-end':
      return notes['turn-end'](event.status);
    case 'tool-reconcile':
      return notes['tool-reconcile'](visibleText(event.tool), event.said);
    case 'custom':
      return notes.custom(visibleText(event.name));
    case 'conversation-change':
      return `${changes[event.change]}${event.title === undefined ? '' : ` ${visibleText(event.title)}`}`;
    default: {
      const known = (notes as Readonly<Record<string, unknown>>)[event.type];
      return typeof known === 'string' ? known : event.type;
    }
  }
}

export function causeOf(event: RunEvent): { readonly error?: Failure; readonly by?: string } {
  return defined({
    error: 'error' in event && typeof event.error === 'object' ? event.error : undefined,
    by: 'by' in event && typeof event.by === 'string' ? event.by : undefined,
  });
}
