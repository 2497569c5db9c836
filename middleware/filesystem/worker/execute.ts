import { z } from 'zod';
import type { StreamableTool, Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import type { Shell, StreamingShell } from './shell';
import { textOfPieces, textOfResult } from './shell';

const input = z.object({ command: z.string().min(1).describe('The command, as one writes it in a shell.') });

const ours = {
  description: 'Runs a command in a shell and gives what it writes. It does not wait for input.',
  inputSchema: input,
  // A lost command may have done its work: only a person lets the command run again.
  effect: 'once',
  timeout: '10m',
} as const;

export function executeTool(shell: Shell): Tool<z.input<typeof input>, string> {
  return defineTool({ ...ours, execute: async ({ command }, { signal }) => textOfResult(await shell.execute(command, signal)) });
}

export function streamingExecuteTool(shell: StreamingShell): StreamableTool<z.input<typeof input>> {
  return defineTool({ ...ours, stream: ({ command }, { signal }) => textOfPieces(shell.stream(command, signal)) });
}
