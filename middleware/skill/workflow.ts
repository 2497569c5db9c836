import { defined } from '../../contract/defined';
import type { Json, Message } from '../../contract/messages/messages';
import type { AgentMiddleware, OwnToolRef } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { ownToolRef, parsedBy } from '../../kernel/define/workflow-tools';
import type { Forms } from '../../contract/check';
import { checkOptions, form, func, identifier, isFunction, isRecord, isString, refusing, text, worded } from '../../contract/check';
import { objectSchema } from '../object-schema';
import type { ForkedSkill, SkillAgents } from './forked-skill';
import { definitionsOf, forkedSkill, isForked } from './forked-skill';
import type { Skill, SkillHead } from './skills';
import { listedSkills, prompts } from './skills';

export interface SkillOptions {
  /** Default: `skill`. */
  readonly toolName?: string;
  readonly toolDescription?: string;
  /** JSON Schema in place of `{ skill: string }`. The schema needs `skill`. */
  readonly toolParameters?: { readonly [keyword: string]: Json };
  /** Text before the list of skills in the instructions. An empty text adds nothing. */
  readonly systemPrompt?: string;
  /** Models by the names in skill files. Without `models`, the field `model` of a skill has no effect. */
  readonly models?: Readonly<Record<string, string>> | ((name: string) => string);
  readonly buildContent?: (skill: Skill, input: Json) => string;
  /** Agents for skills with a `context`. The agent `default` does the skills without `agent`. */
  readonly agents?: SkillAgents;
  /** The agent's first messages. Default: the skill, after the conversation with `fork_with_context`. */
  readonly buildForkMessages?: (fork: ForkedSkill) => readonly Message[];
  readonly formatForkResult?: (fork: ForkedSkill, answer: string) => string;
  /** The worker tool that reads skills. Default: `skill_files`. */
  readonly tool?: string;
}

const activeModel = '__skill_active_model__';

/**
 * Skills: instructions that the model loads when a task needs them.
 * @example
 * export const clerk = defineAgent({
 *   name: 'clerk',
 *   description: 'Does office work by the book.',
 *   instructions: 'You do office work.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [skill({ models: { strong: 'anthropic/claude-opus-4-5' } })],
 * });
 */
export function skill(options: SkillOptions = {}): AgentMiddleware {
  checkOptions('skill', options, forms);
  for (const field of ['buildForkMessages', 'formatForkResult'] as const)
    if (options[field] !== undefined && options.agents === undefined)
      refusing('skill')(
        `${field} is for skills that an agent of their own does, and there are no agents; give it agents, or leave it out.`,
      );
  const { models, systemPrompt, tool = 'skill_files', toolName = 'skill' } = options;
  const middleware: AgentMiddleware = {
    name: 'skill',
    async beforeAgent({ instructions }, ctx) {
      const heads = (await ctx.call(tool, { action: 'list' })) as readonly SkillHead[];
      const texts = [instructions, systemPrompt ?? prompts[ctx.language](toolName), listedSkills(heads)];
      return { instructions: texts.filter((text) => text !== '').join('\n\n') };
    },
    tools: [skillTool(options, toolName, tool)],
    ...(models === undefined
      ? {}
      : {
          wrapModel: (request, next, ctx) => {
            const model = ctx.runLocal.get(activeModel);
            return next(typeof model === 'string' && model !== '' ? { ...request, model: modelOf(models, model) } : request);
          },
        }),
  };
  return withTraits(middleware, { offersTools: [] });
}

function skillTool(options: SkillOptions, name: string, tool: string): OwnToolRef {
  const { models, buildContent = inlineContent, agents = {}, buildForkMessages, formatForkResult } = options;
  const description = options.toolDescription ?? 'Takes up a skill. Its instructions are the result; follow them.';
  const spec = { name, description, inputSchema: options.toolParameters ?? defaultParameters };
  const fork = {
    agents: definitionsOf(agents),
    ...(models === undefined ? {} : { model: (wanted: string) => modelOf(models, wanted) }),
    ...defined({ buildMessages: buildForkMessages, formatResult: formatForkResult }),
  };
  return ownToolRef({
    spec,
    agents: [...fork.agents.values()],
    parse: (input) => parsedBy(spec, input),
    async run({ call, ctx }) {
      const wanted = isRecord(call.input) ? call.input['skill'] : undefined;
      if (typeof wanted !== 'string' || wanted === '') throw new Error('There is no "skill" among the arguments; give the name of one.');
      const found = (await ctx.call(tool, { action: 'get', skill: wanted })) as Skill;
      const isFork = isForked(found);
      const content = isFork && options.buildContent === undefined ? found.content : buildContent(found, call.input);
      if (typeof content !== 'string') throw new Error(`buildContent gave no text for the skill "${wanted}".`);
      if (isFork) return forkedSkill(ctx, found, content, fork);
      if (models !== undefined && found.model !== undefined && found.model !== '') ctx.runLocal.set(activeModel, found.model);
      return content;
    },
  });
}

const defaultParameters = objectSchema({ skill: { type: 'string', description: 'The name of the skill.' } }, ['skill']);

function inlineContent({ name, baseDirectory, content }: Skill): string {
  return `Launching skill: ${name}\nBase directory for this skill: ${baseDirectory}\n\n${content}`;
}

function modelOf(models: NonNullable<SkillOptions['models']>, name: string): string {
  const model = typeof models === 'function' ? models(name) : Object.hasOwn(models, name) ? models[name] : undefined;
  if (typeof model === 'string' && model !== '') return model;
  throw new Error(`a skill names the model "${name}", which \`models\` does not have.`);
}

const isModel = (value: unknown): boolean => isString(value) && value !== '';
const hasSkill = (value: unknown): boolean => isRecord(value) && isRecord(value['properties']) && isRecord(value['properties']['skill']);
const areModels = (value: unknown): boolean => isFunction(value) || (isRecord(value) && Object.values(value).every(isModel));
const hasAgents = (value: unknown): boolean => isRecord(value) && Object.keys(value).length > 0;
const textMaker = worded(func, 'a function that gives a string');

const forms: Forms<SkillOptions> = {
  toolName: identifier,
  toolDescription: text,
  toolParameters: form(hasSkill, 'a JSON Schema of an object with the property "skill", a string'),
  systemPrompt: text,
  models: form(areModels, "a function, or names of models such as { strong: 'openai/gpt-5' }"),
  buildContent: textMaker,
  agents: form(hasAgents, 'at least one agent by its name, such as { default: helper }'),
  buildForkMessages: worded(func, 'a function that gives messages'),
  formatForkResult: textMaker,
  tool: identifier,
};
