import type { AgentMiddleware } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { Forms } from '../../contract/check';
import { checkOptions, flag, text, worded } from '../../contract/check';
import type { FileToolSettings } from './file-tool-names';
import { fileToolSettings, namesOfFileTools } from './file-tool-names';

export interface FilesystemOptions {
  /** What the worker's `fileTools` has other names for, or leaves out. The same object may serve both, unless it has tools. */
  readonly tools?: FileToolSettings;
  /** Whether the worker has a shell: then there is `execute` too. Default: no. */
  readonly shell?: boolean;
  /** Added to the instructions. Default: nothing. */
  readonly systemPrompt?: string;
  /** Puts results that are too large into files, by the worker middleware `largeResults` of the worker. Default: no. */
  readonly largeResults?: boolean;
}

/** Offers the tools for files that the worker has by `fileTools`. */
export function filesystem(options: FilesystemOptions = {}): AgentMiddleware {
  checkOptions('filesystem', options, forms);
  const { tools: settings = {}, shell = false, systemPrompt = '', largeResults = false } = options;
  const names = [...namesOfFileTools(settings, shell).values()];
  const middleware: AgentMiddleware = {
    name: 'filesystem',
    ...(largeResults ? { onWorker: { name: 'largeResults' } } : {}),
    beforeAgent: ({ tools, instructions }) => ({
      tools: [...new Set([...tools, ...names])],
      ...(systemPrompt === '' ? {} : { instructions: [instructions, systemPrompt].filter((text) => text !== '').join('\n\n') }),
    }),
  };
  return withTraits(middleware, { offersTools: names });
}

const forms: Forms<FilesystemOptions> = {
  tools: fileToolSettings,
  shell: worded(flag, 'true or false; the shell itself belongs to the worker'),
  systemPrompt: text,
  largeResults: flag,
};
