import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { WorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import type { Observed, ObservedEnd, Observer } from '../../contract/observed';
import { defineTool } from '../../activities/tools/tools';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';

export function shownOrder(): readonly string[] {
  const markdown = readFileSync(join(__dirname, '..', '..', 'docs', 'reference', 'hooks.md'), 'utf8');
  const [, picture] = /```text\n([^`]*)```/.exec(markdown) ?? [];
  const open: string[] = [];
  return (picture ?? '')
    .trim()
    .split('\n')
    .map((line) => {
      const text = line.trim();
      if (text === ')') return `${open.pop()} out`;
      if (!text.endsWith(' (')) return text;
      open.push(text.slice(0, -2));
      return `${open.at(-1)} in`;
    });
}

export function orderedParts(): {
  readonly seen: string[];
  readonly middleware: WorkerMiddleware[];
  readonly observers: Observer[];
  readonly tools: Record<string, object>;
} {
  const seen: string[] = [];
  const around = async <T>(text: string, inner: () => Promise<T>): Promise<T> => {
    seen.push(`${text} in`);
    const result = await inner();
    seen.push(`${text} out`);
    return result;
  };
  const half = (name: string): WorkerMiddleware =>
    defineWorkerMiddleware(name, () => ({
      wrapModel: { generate: (request, next) => around(`worker wrapModel ${name}`, () => next(request)) },
      // Notes are tool calls too.
      wrapInvokableToolCall: (input, next, call) =>
        call.tool === 'note' ? next(input) : around(`worker wrapInvokableToolCall ${name}`, () => next(input)),
    }));
  const note = defineTool({
    description: 'Notes.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => void seen.push(text),
  });
  const observer = (name: string): Observer => {
    const tell = (observed: Observed | ObservedEnd, side: string): void => {
      if (observed.kind !== 'tool' || observed.tool !== 'note') seen.push(`worker observe ${observed.kind} ${name} ${side}`);
    };
    return { name, onStart: (observed) => tell(observed, 'in'), onEnd: (observed) => tell(observed, 'out') };
  };
  const act = defineTool({ description: 'Acts.', inputSchema: z.object({}), execute: () => (seen.push('tool'), 'acted') });
  return { seen, middleware: [half('A'), half('B')], observers: [observer('A'), observer('B')], tools: { note, act } };
}
