import { nameProblem } from '../../contract/plain/names';
import type { Json } from '../../contract/plain/messages';
import type { AgentMiddleware, WorkflowTool } from '../../kernel/middleware';
import { fieldsOf, isRecord } from '../checked-options';
import { forkedSkill } from './forked-skill';
import type { Skill, SkillHead } from './skills';
import { listedSkills, promptFor } from './texts';

export interface SkillOptions {
  /** What the model calls to use a skill. Default: skill. */
  readonly toolName?: string;
  /** What the model is told of it. */
  readonly toolDescription?: string;
  /** A JSON Schema in place of `{ skill: string }`. It has to have `skill`. */
  readonly toolParameters?: { readonly [keyword: string]: Json };
  /** Put before the list of skills in the instructions. An empty text puts nothing there. */
  readonly systemPrompt?: string;
  /** The model that a skill's `model` stands for. Without it that is ignored. */
  readonly models?: Readonly<Record<string, string>> | ((name: string) => string);
  /** Makes what the model gets of a skill. */
  readonly buildContent?: (skill: Skill, input: Json) => string;
  /** The tool of the worker that reads skills. Default: skill_files. */
  readonly tool?: string;
}

const optionFields = ['toolName', 'toolDescription', 'toolParameters', 'systemPrompt', 'models', 'buildContent', 'tool'];

/** The run-local value that has the name of a skill's model. */
const activeModel = '__skill_active_model__';

/** Gives an agent skills: instructions for a kind of task, which it takes up when it needs them. */
export function skill(options: SkillOptions = {}): AgentMiddleware {
  check(options);
  const { models, systemPrompt, tool = 'skill_files', toolName = 'skill' } = options;
  return {
    name: 'skill',
    async beforeAgent({ instructions }, ctx) {
      const heads = (await ctx.call(tool, { action: 'list' })) as readonly SkillHead[];
      const texts = [instructions, systemPrompt ?? promptFor(ctx.language, toolName), listedSkills(heads)];
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
}

function skillTool(options: SkillOptions, name: string, tool: string): WorkflowTool {
  const { models, buildContent = inlineContent } = options;
  return {
    name,
    description: options.toolDescription ?? 'Takes up a skill. Its instructions are the result; follow them.',
    inputSchema: options.toolParameters ?? {
      type: 'object',
      properties: { skill: { type: 'string', description: 'The name of the skill.' } },
      required: ['skill'],
      additionalProperties: false,
    },
    async execute(input, ctx) {
      const wanted = isRecord(input) ? input['skill'] : undefined;
      if (typeof wanted !== 'string' || wanted === '') throw new Error('There is no "skill" among the arguments; give the name of one.');
      const found = (await ctx.call(tool, { action: 'get', skill: wanted })) as Skill;
      if (isForked(found)) return forkedSkill(found);
      const content = buildContent(found, input);
      if (typeof content !== 'string') throw new Error(`buildContent gave no text for the skill "${wanted}".`);
      if (models !== undefined && found.model !== undefined && found.model !== '') ctx.runLocal.set(activeModel, found.model);
      return content;
    },
  };
}

function isForked({ context = '' }: Skill): boolean {
  return context === 'fork' || context === 'fork_with_context';
}

function inlineContent({ name, baseDirectory, content }: Skill): string {
  return `Launching skill: ${name}\nBase directory for this skill: ${baseDirectory}\n\n${content}`;
}

function modelOf(models: NonNullable<SkillOptions['models']>, name: string): string {
  const model = typeof models === 'function' ? models(name) : Object.hasOwn(models, name) ? models[name] : undefined;
  if (typeof model === 'string' && model !== '') return model;
  throw new Error(`a skill names the model "${name}", which \`models\` does not have.`);
}

function check(options: unknown): void {
  const { fields, refuse } = fieldsOf(options, optionFields, 'skill');
  for (const field of ['toolName', 'tool']) {
    const problem = fields[field] === undefined ? undefined : nameProblem(fields[field]);
    if (problem !== undefined) refuse(`${field}: ${problem}.`);
  }
  for (const field of ['toolDescription', 'systemPrompt'])
    if (fields[field] !== undefined && typeof fields[field] !== 'string') refuse(`${field} is a text.`);
  const { toolParameters, models, buildContent } = fields;
  const properties = isRecord(toolParameters) ? toolParameters['properties'] : undefined;
  if (toolParameters !== undefined && !(isRecord(properties) && isRecord(properties['skill'])))
    refuse('toolParameters is a JSON Schema of an object with the property "skill", a text.');
  const isTable = isRecord(models) && Object.values(models).every((model) => typeof model === 'string' && model !== '');
  if (models !== undefined && typeof models !== 'function' && !isTable)
    refuse("models is a function, or names of models such as { strong: 'openai/gpt-5' }.");
  if (buildContent !== undefined && typeof buildContent !== 'function') refuse('buildContent is a function that gives a text.');
}
