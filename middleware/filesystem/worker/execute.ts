import { z } from 'zod';
import type { StreamableTool, Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import type { Shell, StreamingShell } from './shell';
import { textOfPieces, textOfResult } from './shell';

const input = z.object({ command: z.string().min(1).describe('The command, as one writes it in a shell.') });

export type ExecuteInput = z.input<typeof input>;

export const executeDescription = 'Runs a command in a shell and gives what it writes. It does not wait for input.';

// Nobody knows how far a command came that was lost: it is not run again unasked.
const once = { effect: 'once', timeout: '10m' } as const;

export function executeTool(shell: Shell, description: string): Tool<z.output<typeof input>, string> {
  return defineTool({
    description,
    inputSchema: input,
    ...once,
    execute: async ({ command }, { signal }) => textOfResult(await shell.execute(command, signal)),
  });
}

export function streamingExecuteTool(shell: StreamingShell, description: string): StreamableTool<z.output<typeof input>> {
  return defineTool({
    description,
    inputSchema: input,
    ...once,
    stream: ({ command }, { signal }) => textOfPieces(shell.stream(command, signal)),
  });
}
