/**
 * A worker for examples/research. `serve QUEUE FILE` on stdin selects queue and file of notes, and `ready QUEUE` follows. Repeated notes
 * repeat lines.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { Json } from '../../contract/messages/messages';
import { chaosWorker, serveOnRequest } from './serve-on-request';

export interface Note {
  readonly key: string;
  readonly subject: string;
}

export function notesIn(file: string): readonly Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Note);
}

function toolsWith(file: string): Readonly<Record<string, unknown>> {
  return {
    search: defineTool({
      description: 'Searches the library.',
      inputSchema: z.object({ query: z.string() }),
      execute: ({ query }) => ({ found: [`What there is about ${query}.`] }),
    }),
    fileNote: defineTool({
      description: 'Files a note.',
      inputSchema: z.object({ subject: z.string(), text: z.string() }),
      effect: 'once',
      execute: ({ subject }, call) => {
        appendFileSync(file, `${JSON.stringify({ key: call.idempotencyKey, subject } satisfies Note)}\n`);
        return { filed: subject };
      },
      reconcile: (_, call) => {
        const note = notesIn(file).find(({ key }) => key === call.idempotencyKey);
        return note === undefined ? { happened: false } : { happened: true, result: { filed: note.subject } };
      },
    }),
  };
}

function answer({ instructions, messages, tools }: GenerateRequest): GenerateAnswer {
  const subject = /about the (\w+) of/.exec(instructions)?.[1] ?? 'report';
  const turn = tools.length === 0 ? 2 : messages.filter(({ role }) => role === 'assistant').length;
  const usage = { inputTokens: 10, outputTokens: 5 };
  const call = (name: string, input: Json): GenerateAnswer => ({
    parts: [{ type: 'tool-call', id: `call-${turn}`, name, input }],
    usage,
  });
  if (turn === 0) return call('search', { query: subject });
  if (turn === 1) return call('fileNote', { subject, text: 'Found.' });
  return { parts: [{ type: 'text', text: `The ${subject} is done.` }], usage };
}

if (require.main === module)
  serveOnRequest((settings, taskQueue, file) => chaosWorker(settings, taskQueue, toolsWith(file), async (request) => answer(request)));
