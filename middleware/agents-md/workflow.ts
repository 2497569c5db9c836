import type { Message } from '../../contract/messages/messages';
import type { Forms } from '../../contract/check';
import { checkOptions, count, func, identifier, required, someNames, worded } from '../../contract/check';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

export interface AgentsMdOptions {
  /** In the order for the model, such as ['/AGENTS.md']. */
  readonly files: readonly string[];
  /** Bytes of all files together. The first file is always whole. Default: no limit. */
  readonly maxBytes?: number;
  /** Called for each omitted file. Default: sends the event `agents-md-warning`. */
  readonly onWarning?: (warning: string, ctx: HookContext) => void;
  /** The worker tool that reads the files. Default: `agents_md`. */
  readonly tool?: string;
}

export interface LoadedAgentsMd {
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly warnings: readonly string[];
}

const mark = 'agentsMd';

/**
 * Puts instruction files before the user's first message. Place it after middleware that shortens the conversation.
 * @example
 * export const builder = defineAgent({
 *   name: 'builder',
 *   description: 'Changes the code of this project.',
 *   instructions: 'You change code with care.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [agentsMd({ files: ['/AGENTS.md'] })],
 * });
 */
export function agentsMd(options: AgentsMdOptions): AgentMiddleware {
  const { files, maxBytes = 0, onWarning = warned, tool = 'agents_md' } = checkOptions('agentsMd', options, forms);
  const middleware: AgentMiddleware = {
    name: 'agentsMd',
    async beforeModelRewriteState({ messages }, ctx) {
      if (messages.some(isInstructions)) return undefined;
      const key = `agentsMd:${ctx.placeInRun.join('/')}`;
      let text = ctx.session.get(key);
      if (typeof text !== 'string') {
        const loaded = (await ctx.call(tool, { files, maxBytes })) as LoadedAgentsMd;
        for (const warning of loaded.warnings) onWarning(warning, ctx);
        text = textOfFiles(loaded);
        ctx.session.set(key, text);
      }
      return text === '' ? undefined : { messages: withInstructions(messages, text) };
    },
  };
  return withTraits(middleware, { offersTools: [] });
}

function isInstructions({ extra }: Message): boolean {
  return extra?.[mark] === true;
}

function withInstructions(messages: readonly Message[], text: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  const at = first < 0 ? messages.length : first;
  const instructions: Message = { role: 'user', parts: [{ type: 'text', text }], extra: { [mark]: true } };
  return [...messages.slice(0, at), instructions, ...messages.slice(at)];
}

function textOfFiles({ files }: LoadedAgentsMd): string {
  if (files.length === 0) return '';
  const sections = files.map(({ path, content }) => `Contents of ${path} (instructions):\n\n${content.trimEnd()}`);
  return [
    '<system-reminder>',
    'The files below hold instructions for your work here. Follow them as they are written, also where you would do otherwise by yourself.',
    '',
    sections.join('\n\n'),
    '</system-reminder>',
  ].join('\n');
}

function warned(warning: string, ctx: HookContext): void {
  ctx.sendEvent('agents-md-warning', { warning });
}

const forms: Forms<AgentsMdOptions> = {
  files: required(worded(someNames, "an array of at least one path, each once, such as ['/AGENTS.md']")),
  maxBytes: worded(count, 'a whole number; 0, or nothing, is no limit'),
  onWarning: worded(func, 'a function of the warning'),
  tool: identifier,
};
