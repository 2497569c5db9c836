import { codeOf } from '../../contract/errors';
import { canonicalJson, textOf } from '../../contract/messages/messages';
import { sha256 } from '../../contract/sha256';
import type { AgentMiddleware, HookContext, Tools } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { exitTool, transferTool } from '../../kernel/define/transfer-names';
import { bound, checkOptions, filled, names, required } from '../../contract/check';

export interface ToolSelectorOptions<T extends Tools = Tools> {
  readonly name?: string;
  /** A small model is enough. */
  readonly model: string;
  /** Without `alwaysInclude`. */
  readonly maxTools: number;
  readonly alwaysInclude?: readonly (keyof T & string)[];
  readonly instructions?: string;
}

const ours = (most: number): string =>
  `Choose the tools that an assistant will need for what the user says last. Choose at most ${most}, the most useful ones first. Answer with a JSON list of their names and nothing else, such as ["first", "second"]. These are the tools:`;

/**
 * Another model chooses tools once for each message and list of tools. All tools can be called.
 * @example
 * export const choosy = toolSelector<typeof tools>({
 *   model: 'openai/gpt-5-nano',
 *   maxTools: 1,
 *   alwaysInclude: ['findOrder'],
 * });
 */
export function toolSelector<T extends Tools = Tools>(options: ToolSelectorOptions<T>): AgentMiddleware<T> {
  checkOptions('toolSelector', options, {
    name: filled,
    model: required(filled),
    maxTools: required(bound),
    alwaysInclude: names,
    instructions: filled,
  });
  const { name = 'toolSelector', model, maxTools, alwaysInclude = [], instructions = ours(maxTools) } = options;
  const always: readonly string[] = [...alwaysInclude, exitTool, transferTool];
  const middleware: AgentMiddleware<T> = {
    name,
    async wrapModel(request, next, ctx) {
      const candidates = request.tools.filter((tool) => !always.includes(tool));
      if (candidates.length <= maxTools) return next(request);
      const asked = request.messages.filter(({ role }) => role === 'user').at(-1);
      if (asked === undefined) return next(request);
      const key = `${name}:${ctx.placeInRun.join('/')}`;
      const about = sha256(canonicalJson([asked.parts, candidates]));
      const before = ctx.session.get(key) as { readonly about?: string; readonly chosen?: readonly string[] } | undefined;
      let chosen = before?.about === about ? before.chosen : undefined;
      if (chosen === undefined) {
        const answer = await choice(ctx, model, { messages: [asked], instructions, catalog: candidates });
        const named = answer === undefined ? [] : namesIn(answer, candidates).slice(0, maxTools);
        chosen = named.length === 0 ? candidates : named;
        ctx.session.set(key, { about, chosen });
      }
      const offered = chosen;
      return next({ ...request, tools: request.tools.filter((tool) => always.includes(tool) || offered.includes(tool)) });
    },
  };
  return withTraits(middleware, { namesTools: alwaysInclude });
}

const passing = /^model-(?!unknown|key-missing)/;

async function choice(ctx: HookContext, model: string, request: Parameters<HookContext['model']>[1]): Promise<string | undefined> {
  try {
    return textOf((await ctx.model(model, request)).message);
  } catch (error) {
    if (!passing.test(codeOf(error) ?? '')) throw error;
    return undefined;
  }
}

function namesIn(answer: string, candidates: readonly string[]): readonly string[] {
  const known = new Set(candidates);
  const words = answer.split(/[^A-Za-z0-9_.-]+/).map((word) => word.replace(/^\.+|\.+$/g, ''));
  return [...new Set(words.filter((word) => known.has(word)))];
}
