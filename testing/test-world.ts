import { defined } from '../contract/defined';
import type { LanguageModel, ModelProvider } from '../activities/models/language-model';
import type { ResolvedModel } from '../activities/models/models';
import { ModelRegistry } from '../activities/models/models';
import { Observers } from '../activities/worker-middleware/observers';
import { OutputRegistry } from '../activities/schemas/outputs';
import { defaultModelFacts } from '../activities/parts';
import type { Policies } from '../activities/policies';
import { policiesOf } from '../activities/policies';
import { ToolRegistry, defaultToolFacts } from '../activities/tools/tools';
import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry } from '../activities/worker-middleware/worker-middleware';
import { isRecord } from '../contract/check';
import type { Delta } from '../contract/deltas';
import { HoldfastError } from '../contract/errors';
import type { Language } from '../contract/manifest';
import type { Json } from '../contract/messages/messages';
import type { Observer } from '../contract/observed';
import type { StartInput } from '../contract/record/wire';
import type { Agent } from '../kernel/define/agent-ref';
import { isAgent } from '../kernel/define/agent-ref';
import { definitionOf } from '../kernel/define/definition';
import { checkTree } from '../kernel/define/agents-of-module';
import type { Agents } from './memory/run';
import { MemoryRun } from './memory/run';
import { builtInWorkerMiddleware } from '../worker/built-in-worker-middleware';
import type { LoseCall } from './memory-work';
import { memoryWork } from './memory-work';

export interface TestWorld {
  /** Answers for all models, such as `scriptedModel(…)`. */
  readonly model: ModelProvider | LanguageModel;
  readonly tools?: Readonly<Record<string, unknown>>;
  /** Schemas for the `output` of agents. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly policies?: Readonly<Record<string, unknown>>;
  readonly middleware?: readonly WorkerMiddleware[];
  readonly observers?: readonly Observer[];
  /** Receives problems of observers, and requests of tools after their call. */
  readonly onProblem?: (problem: HoldfastError) => void;
  readonly language?: Language;
  readonly tenant?: string;
  /** Roles of the starter `by`, and how the name was proven. */
  readonly roles?: readonly string[];
  readonly proof?: string;
  /** The first time of the clock, which only `advance` moves. Default: 2026-01-01. */
  readonly now?: Date;
  /** Loses calls, as a dying worker does. */
  readonly lose?: LoseCall;
  /** Receives tokens, tool output and progress of open calls. */
  readonly onDelta?: (delta: Delta) => void;
}

const firstOfJanuary = Date.UTC(2026, 0, 1);

export function worldOf<Options extends TestWorld>(
  options: Options,
): { readonly world: TestWorld; readonly start: Omit<Options, keyof TestWorld> } {
  const {
    model,
    tools,
    outputs,
    policies,
    middleware,
    observers,
    onProblem,
    language,
    tenant,
    roles,
    proof,
    now,
    lose,
    onDelta,
    ...start
  } = options;
  return {
    world: {
      model,
      ...defined({ tools, outputs, policies, middleware, observers, onProblem, language, tenant, roles, proof, now, lose, onDelta }),
    },
    start,
  };
}

export function checkWorld(who: string, agent: unknown, { model }: TestWorld): void {
  if (!isAgent(agent)) throw new HoldfastError('agent-unknown', `${who} was given no agent. Give it what defineAgent returns.`);
  if (!isModel(model)) throw new HoldfastError('model-unknown', `${who} was given no model. Give it one: model: scriptedModel([…]).`);
}

function isModel(value: unknown): boolean {
  return isRecord(value) && ['model', 'generate', 'stream'].some((act) => typeof value[act] === 'function');
}

export async function memoryRun<Input extends Json>(
  agent: Agent<string, Input, unknown>,
  start: StartInput,
  {
    model,
    tools = {},
    outputs = {},
    policies = {},
    middleware = [],
    observers = [],
    onProblem,
    language = 'en',
    roles,
    proof,
    now,
    lose = () => undefined,
    onDelta,
  }: TestWorld,
  known: Policies = policiesOf(policies),
): Promise<MemoryRun> {
  const parts = {
    tools: new ToolRegistry(tools),
    models: new TestModels(model),
    middleware: new WorkerMiddlewareRegistry(middleware, builtInWorkerMiddleware()),
    outputs: new OutputRegistry(outputs),
    policies: known,
    observers: new Observers(observers, onProblem),
    ...defined({ onProblem }),
    language,
    toolDefaults: defaultToolFacts,
    modelFacts: defaultModelFacts,
  };
  await parts.tools.ready();
  await parts.outputs.ready();
  return new MemoryRun(
    agentsOf(agent),
    { start: { ...start, ...defined({ roles, proof }) } },
    memoryWork(parts, lose, onDelta),
    now?.getTime() ?? firstOfJanuary,
  );
}

/** One model answers for all names. */
class TestModels extends ModelRegistry {
  constructor(private readonly model: ModelProvider | LanguageModel) {
    super({}, {});
  }

  override idOf(name: string): string {
    return name.includes('/') ? name : `test/${name}`;
  }

  override async resolve(name: string): Promise<ResolvedModel> {
    const { model } = this;
    return { id: this.idOf(name), hasKey: false, model: 'model' in model ? await model.model(name) : model };
  }
}

export function agentsOf<Input extends Json>(agent: Agent<string, Input, unknown>): Agents {
  const definition = definitionOf(agent as Agent);
  checkTree(definition);
  return new Map([[agent.name, definition]]);
}
