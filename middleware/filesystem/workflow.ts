import type { AgentMiddleware } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { Forms } from '../../contract/check';
import { checkOptions, flag, text, worded } from '../../contract/check';
import type { FileToolSettings } from './file-tool-names';
import { fileToolSettings, namesOfFileTools } from './file-tool-names';

export interface FilesystemOptions {
  /** `name` and `disable` as for the worker's `fileTools`. */
  readonly tools?: FileToolSettings;
  /** The worker has a shell: adds `execute`. Default: false. */
  readonly shell?: boolean;
  readonly systemPrompt?: string;
  /** Uses the worker's `largeResults`. Default: false. */
  readonly largeResults?: boolean;
}

/**
 * Offers the tools of the worker's `fileTools`.
 * @example
 * export const keeper = defineAgent({
 *   name: 'keeper',
 *   description: 'Keeps the files of a project.',
 *   instructions: 'You keep the files of this project in order.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [filesystem()],
 * });
 */
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
