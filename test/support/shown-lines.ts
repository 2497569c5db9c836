import type { Run } from '../../client/runs/run';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';

type Shown = RunEvent | Delta;

function line(event: Shown): string {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      return `${event.type} ${event.text}`;
    case 'tool-output-delta':
      return `${event.type} ${event.text ?? JSON.stringify(event.part)}`;
    case 'attempt-start':
    case 'attempt-void':
      return `${event.type} ${event.attempt}`;
    case 'model-end':
      return `model-end ${event.message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ')}`;
    case 'tool-end':
      return `${event.type} ${textOf(event.message)}`.trimEnd();
    case 'model-retry':
      return `model-retry ${event.attempt} ${event.error.code}`;
    case 'run-end':
      return `run-end ${event.status}`;
    default:
      return event.type;
  }
}

/** Joins adjacent texts, because the number of deltas is arbitrary. */
export function addLine(lines: string[], event: Shown): void {
  const [type = '', ...words] = line(event).split(' ');
  const last = lines.at(-1);
  if (type.endsWith('-delta') && last?.startsWith(`${type} `) === true) lines[lines.length - 1] = `${last}${words.join(' ')}`;
  else lines.push(line(event));
}

/** Reads a run to the end. `onLine` gets the last line after each event. */
export async function shownLines(run: Pick<Run, 'events'>, onLine: (line: string) => void = () => undefined): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const event of run.events()) {
    addLine(lines, event);
    onLine(lines.at(-1) ?? '');
  }
  return lines;
}
