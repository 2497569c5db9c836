import { modelSettings } from '../../contract/model-settings';
import { isConversation } from '../../contract/record/agent-paths';
import { HoldfastError } from '../../contract/errors';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { cut } from '../../contract/shown';
import type { Agent } from '../../kernel/define/agent-ref';
import { defineAgent } from '../../kernel/define/agent';
import { breakLoopAction } from '../../kernel/define/actions';
import type { AgentPart } from '../../kernel/define/define';
import { customAgent } from '../../kernel/define/define';
import type { CustomContext } from '../../kernel/define/definition';
import type { AgentMiddleware, WorkflowTool } from '../../kernel/define/middleware';
import { insideOf } from '../../kernel/define/inside';
import { bound, checkOptions, filled, form, func, isString, list, record, required, text, worded } from '../../contract/check';
import { objectSchema } from '../object-schema';

export interface PlanningOptions {
  readonly model: string;
  readonly instructions?: string;
  readonly settings?: ModelSettings;
  readonly middleware?: readonly AgentMiddleware[];
}

export interface PlanState {
  readonly userInput: string;
  readonly steps: readonly string[];
  readonly executed: readonly ExecutedStep[];
}

export interface ExecutedStep {
  readonly step: string;
  readonly result: string;
}

export interface PlanExecuteOptions<Name extends string> {
  readonly name: Name;
  readonly description?: string;
  readonly planner: PlanningOptions;
  /** Does each step in a separate conversation. */
  readonly executor: AgentPart;
  readonly replanner: PlanningOptions;
  /** Default: 10. */
  readonly maxIterations?: number;
  readonly stepPrompt?: (state: PlanState) => string;
}

function keysAt(path: readonly string[]): Readonly<Record<'userInput' | 'plan' | 'step' | 'steps', string>> {
  const place = path.length === 1 ? '' : `:${path.join('/')}`;
  return { userInput: `UserInput${place}`, plan: `Plan${place}`, step: `ExecutedStep${place}`, steps: `ExecutedSteps${place}` };
}

const steps = {
  type: 'array',
  minItems: 1,
  maxItems: 50,
  items: { type: 'string', minLength: 1 },
  description: 'What is to be done, step by step, in order. Each step stands for itself.',
};

const planningFields = {
  model: required(form((value) => isString(value) && value !== '', 'the name of a model')),
  instructions: text,
  settings: modelSettings,
  middleware: list,
};

/**
 * Plans, does the first step, and plans again, until there is an answer.
 * @example
 * export const project = planExecute({
 *   name: 'project',
 *   planner: { model: 'openai/gpt-5' },
 *   executor: writer,
 *   replanner: { model: 'openai/gpt-5-mini' },
 *   maxIterations: 5,
 * });
 */
export function planExecute<const Name extends string>(options: PlanExecuteOptions<Name>): Agent<Name> {
  const checked = checkOptions<PlanExecuteOptions<Name>>('planExecute', options, {
    name: required(filled),
    description: text,
    planner: required(worded(record, 'an object with the model that plans: { model }')),
    executor: required(worded(record, 'the agent that does the steps')),
    replanner: required(worded(record, 'an object with the model that looks at the plan again: { model }')),
    maxIterations: bound,
    stepPrompt: func,
  });
  for (const role of ['planner', 'replanner'] as const) {
    const owner = `${role} of planExecute "${cut(checked.name)}"`;
    checkOptions<PlanningOptions>(owner, checked[role], planningFields);
  }
  const { name, description = '', planner, executor, replanner, maxIterations = 10, stepPrompt = ours.step } = checked;
  const plans = planningAgent(`${name}-planner`, ours.planner, planner, [planTool]);
  const replans = planningAgent(`${name}-replanner`, ours.replanner, replanner, [planTool, respondTool]);
  return customAgent({
    name,
    description,
    agents: [plans, executor, replans],
    async *run(input, ctx) {
      const place = ctx.placeInRun;
      const keys = keysAt(place);
      const userInput = askedIn(input.messages, ctx) ?? ctx.userMessage;
      ctx.session.set(keys.userInput, userInput);
      ctx.session.set(keys.steps, []);
      try {
        yield { message: { role: 'assistant', parts: [{ type: 'text', text: await answerOf(ctx, input.messages) }] } };
      } finally {
        if (!isConversation(place)) insideOf(ctx).dropSession(Object.values(keys));
      }
    },
  });

  async function answerOf(ctx: CustomContext, messages: readonly Message[]): Promise<string> {
    const keys = keysAt(ctx.placeInRun);
    await ctx.runAgent(plans.name, messages);
    let last = '';
    for (let round = 0; round < maxIterations; round++) {
      const state = stateOf(ctx);
      const [step] = state.steps;
      if (step === undefined)
        throw new HoldfastError('agent-failed', `The plan of agent "${name}" has no step left, and there is no answer.`);
      const { text: result } = await ctx.runAgent(executor.name, promptOf(state));
      ctx.session.set(keys.step, result);
      ctx.session.set(keys.steps, [...state.executed, { step, result }] as unknown as Json);
      last = result;
      const { text: answer, action } = await ctx.runAgent(replans.name, ours.review(stateOf(ctx)));
      if (action !== undefined && 'breakLoop' in action) return answerIn(answer);
    }
    return last;
  }

  function promptOf(state: PlanState): string {
    const prompt: unknown = stepPrompt(state);
    if (typeof prompt === 'string') return prompt;
    throw new HoldfastError('hook-failed', `stepPrompt of planExecute "${name}" returned no text for the executor.`);
  }
}

function askedIn(messages: readonly Message[], ctx: CustomContext): string | undefined {
  const said = messages.filter((message) => message.role === 'user' && !ctx.isFromOthers(message));
  const last = said.at(-1);
  return last === undefined ? undefined : textOf(last);
}

function stateOf(ctx: CustomContext): PlanState {
  const { session } = ctx;
  const keys = keysAt(ctx.placeInRun);
  const { steps = [] } = (session.get(keys.plan) ?? {}) as { readonly steps?: readonly string[] };
  return {
    userInput: (session.get(keys.userInput) ?? '') as string,
    steps,
    executed: (session.get(keys.steps) ?? []) as unknown as readonly ExecutedStep[],
  };
}

function answerIn(result: string): string {
  try {
    const { response } = JSON.parse(result) as { readonly response?: unknown };
    return typeof response === 'string' ? response : result;
  } catch {
    return result;
  }
}

const planTool: WorkflowTool = {
  name: 'plan',
  description: 'Sets the plan: the steps that are still to be done.',
  inputSchema: objectSchema({ steps }, ['steps']),
  execute(input, ctx) {
    ctx.session.set(keysAt(ctx.placeInRun.slice(0, -1)).plan, input);
    return JSON.stringify(input);
  },
};

const respondTool: WorkflowTool = {
  name: 'respond',
  description: 'Answers the user. Nothing more is done after that.',
  inputSchema: objectSchema({ response: { type: 'string', description: 'The whole answer.' } }, ['response']),
  execute(input, ctx) {
    ctx.sendToolAction({ ...breakLoopAction() });
    return JSON.stringify(input);
  },
};

function planningAgent(
  name: string,
  instructions: string,
  options: PlanningOptions,
  tools: readonly WorkflowTool[],
): AgentPart & { readonly name: string } {
  return defineAgent({
    name,
    description: 'Plans.',
    instructions: options.instructions ?? instructions,
    model: options.model,
    tools,
    returnDirectly: tools.map((tool) => tool.name),
    middleware: [...(options.middleware ?? []), mustPlan(name, tools)],
    settings: { toolChoice: tools.length === 1 ? { type: 'tool', toolName: 'plan' } : 'required', ...options.settings },
  });
}

/** If a message answers the user, its other calls go. */
function mustPlan(agent: string, tools: readonly WorkflowTool[]): AgentMiddleware {
  const names = tools.map(({ name }) => `'${name}'`).join(' or ');
  return {
    name: 'must-plan',
    afterModelRewriteState({ messages }, ctx) {
      const last = messages.at(-1);
      const calls = last === undefined ? [] : ctx.namedCalls(last);
      if (last === undefined || calls.length === 0)
        throw new HoldfastError('model-response-invalid', `The model of agent "${agent}" did not call ${names}.`);
      const answer = calls.find(({ name }) => name === respondTool.name);
      if (answer === undefined || calls.length === 1) return;
      const parts = last.parts.filter((part) => part.type !== 'tool-call' || part.id === answer.id);
      return { messages: [...messages.slice(0, -1), { ...last, parts }] };
    },
  };
}

const numberedList = (items: readonly string[]): string => items.map((item, position) => `${position + 1}. ${item}`).join('\n');
const done = ({ executed }: PlanState): string =>
  executed.length === 0
    ? 'Nothing has been done yet.'
    : `Done so far:\n${numberedList(executed.map(({ step, result }) => `${step}\n   Result: ${result}`))}`;

const ours = {
  planner: 'Make a plan for what the user asks: few steps, in order, each of which can be done by itself. Call the tool plan with it.',
  replanner:
    'You look at what has been done of a plan. When that is enough to answer the user, call respond with the whole answer. ' +
    'Otherwise call plan with the steps that are still to be done, without those that are done.',
  step: (state: PlanState): string =>
    `The user asks:\n${state.userInput}\n\nThe plan:\n${numberedList(state.steps)}\n\n${done(state)}\n\nDo this step now, and say what came of it:\n${state.steps[0] ?? ''}`,
  review: (state: PlanState): string =>
    `The user asks:\n${state.userInput}\n\nThe plan was:\n${numberedList(state.steps)}\n\n${done(state)}`,
};
