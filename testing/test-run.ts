import { defined } from '../contract/defined';
import type { LanguageModel, ModelProvider, ResolvedModel } from '../activities/models/models';
import { ModelRegistry } from '../activities/models/models';
import { Observers } from '../activities/worker-middleware/observers';
import { OutputRegistry } from '../activities/schemas/outputs';
import { defaultModelFacts } from '../activities/parts';
import { ToolRegistry, defaultToolFacts } from '../activities/tools/tools';
import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry } from '../activities/worker-middleware/worker-middleware';
import type { AnswerOptions, ApproveOptions } from '../client/answers';
import { approvalOf, checkFit, checkSize, rejectionOf } from '../client/answers';
import type { Outcome } from '../client/reading/outcome';
import { callsPending, outcomeOf } from '../client/reading/outcome';
import type { StartOptions } from '../client/start-input';
import { startInputOf } from '../client/start-input';
import type { TranscriptMessage, TranscriptShape } from '../client/reading/transcript';
import { beyondEnd } from '../client/reading/follower';
import { shapeOf, transcriptIn } from '../client/reading/transcript';
import type { Delta } from '../contract/deltas';
import { isRecord } from '../contract/check';
import { millisecondsOf } from '../contract/duration';
import { HoldfastError, isErrorCode } from '../contract/errors';
import type { RunEvent, RunView } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';
import type { Language } from '../contract/manifest';
import type { Failure, Json, Usage } from '../contract/messages/messages';
import type { Observer } from '../contract/observed';
import { defaultTenant } from '../contract/names';
import type { Agent } from '../kernel/define/agent-ref';
import { checkTrees } from '../kernel/define/check-trees';
import { definitionOf, isAgent } from '../kernel/define/agent-ref';
import type { Agents } from '../memory/run';
import { MemoryRun } from '../memory/run';
import { builtInWorkerMiddleware } from '../worker/built-in-worker-middleware';
import type { LoseCall } from './memory-work';
import { memoryWork } from './memory-work';

export interface TestRunOptions<Input> extends Omit<StartOptions, 'model' | 'deadline' | 'startDelay'> {
  readonly input: Input;
  /** Answers for every model that the agent names. `scriptedModel(…)` is one. */
  readonly model: ModelProvider | LanguageModel;
  readonly tools?: Readonly<Record<string, unknown>>;
  /** The schemas that agents name as their `output`. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Worker middleware. */
  readonly middleware?: readonly WorkerMiddleware[];
  /** Observers of the worker. */
  readonly observers?: readonly Observer[];
  /** Told of what an observer does wrong, and of what a tool asks for when its call has ended. */
  readonly onProblem?: (problem: HoldfastError) => void;
  readonly language?: Language;
  readonly tenant?: string;
  /** Where the clock stands at the start; it moves by `advance` only. Default: 2026-01-01. */
  readonly now?: Date;
  /** Loses calls, as a worker that dies does. */
  readonly lose?: LoseCall;
  /** Sees what comes in while calls run: tokens, output of tools, progress. */
  readonly onDelta?: (delta: Delta) => void;
}

const firstOfJanuary = Date.UTC(2026, 0, 1);

function isModel(value: unknown): boolean {
  return isRecord(value) && ['model', 'generate', 'stream'].some((act) => typeof value[act] === 'function');
}

/** Runs an agent in memory, with the tools, worker middleware and checks of production and with time that you move. */
export async function testRun<Input extends Json, Output>(
  agent: Agent<string, Input, Output>,
  options: TestRunOptions<NoInfer<Input>>,
): Promise<TestRun<Output>> {
  const {
    input,
    model,
    tools = {},
    outputs = {},
    middleware = [],
    observers = [],
    onProblem,
    language = 'en',
    tenant = defaultTenant,
    now,
    lose = () => undefined,
    onDelta,
    ...rest
  } = options;
  if (!isAgent(agent)) throw new HoldfastError('agent-unknown', 'testRun was given no agent. Give it what defineAgent returns.');
  if (!isModel(model)) throw new HoldfastError('model-unknown', 'testRun was given no model. Give it one: model: scriptedModel([…]).');
  const start = startInputOf(tenant, agent.name, input, { id: 'test', ...rest }, false);
  const parts = {
    tools: new ToolRegistry(tools),
    models: new TestModels(model),
    middleware: new WorkerMiddlewareRegistry(middleware, builtInWorkerMiddleware()),
    outputs: new OutputRegistry(outputs),
    observers: new Observers(observers, onProblem),
    ...defined({ onProblem }),
    language,
    toolDefaults: defaultToolFacts,
    modelFacts: defaultModelFacts,
  };
  await parts.tools.ready();
  await parts.outputs.ready();
  return new TestRun<Output>(
    new MemoryRun(agentsOf(agent), { start }, memoryWork(parts, lose, onDelta), now?.getTime() ?? firstOfJanuary),
    start.id,
  );
}

/** A run as the client shows it, in memory. Reads wait until it stands still; `view` and `events` tell what there is now. */
export class TestRun<Output = unknown> {
  readonly isNew = true;

  constructor(
    private readonly run: MemoryRun,
    readonly id: string,
  ) {}

  /** The durable log. Until `waiting`: as far as the run comes by itself. */
  async *events(options: { from?: number; until?: 'end' | 'waiting'; signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    const { from = 0, until = 'end', signal } = options;
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    for (let offset = from; ;) {
      const event = this.run.events[offset];
      if (event !== undefined) {
        offset += 1;
        yield event;
      } else if (offset > this.run.events.length && (this.run.ended || this.run.standsStill)) {
        throw beyondEnd(from, this.run.events.length);
      } else if (this.run.ended || signal?.aborted === true || (until === 'waiting' && this.run.standsStill)) return;
      else await Promise.race([this.run.more, aborted, ...(until === 'waiting' ? [this.run.idle()] : [])]);
    }
  }

  async view(): Promise<RunView> {
    return this.run.view();
  }

  async transcript<Shape extends TranscriptShape = 'parts'>(
    options: { readonly shape?: Shape } = {},
  ): Promise<readonly TranscriptMessage<Shape>[]> {
    const shape = shapeOf(options);
    await this.run.idle();
    return transcriptIn(shape, this.run.view().messages);
  }

  async usage(): Promise<Usage> {
    await this.run.idle();
    return this.run.view().usage;
  }

  async interrupts(): Promise<readonly Interrupt[]> {
    await this.run.idle();
    return this.run.view().interrupts;
  }

  /** How the run stands once it cannot go on by itself. One that only sleeps is `running`: let time pass with `advance`. */
  async outcome(options: { timeout?: string } = {}): Promise<Outcome<Output>> {
    const events = this.events({
      until: 'waiting',
      ...(options.timeout === undefined ? {} : { signal: AbortSignal.timeout(millisecondsOf(options.timeout, 'request-invalid')) }),
    });
    while ((await events.next()).done !== true);
    return outcomeOf(this.run.view()) as Outcome<Output>;
  }

  /** The output of a run that completes by itself. Rejects with its code when it failed, and when it waits. */
  async result(): Promise<Output> {
    const outcome = await this.outcome();
    if (outcome.status === 'completed') return outcome.output;
    if (outcome.status === 'tool-calls-pending') throw callsPending(this.id, outcome.toolCalls);
    if (outcome.status === 'cancelled') throw new HoldfastError('cancelled', `The run "${this.id}" was cancelled.`);
    if ('error' in outcome)
      throw new HoldfastError(isErrorCode(outcome.error.code) ? outcome.error.code : 'run-failed', outcome.error.message);
    throw new HoldfastError('request-invalid', `The run "${this.id}" has no result: ${whyOpen(outcome)}.`);
  }

  async resume(interruptId: string, answer: Json, options: AnswerOptions = {}): Promise<void> {
    await this.until(() => this.run.view().interrupts.some(({ id }) => id === interruptId));
    checkSize(answer);
    const { interrupts, status } = this.run.view();
    if (this.run.ended) throw new HoldfastError('run-ended', `The run "${this.id}" has ended (${status}).`);
    const whole = { interruptId, answer, ...options };
    const refuse = (refused: Failure | undefined): void => {
      if (refused !== undefined) throw new HoldfastError(isErrorCode(refused.code) ? refused.code : 'answer-invalid', refused.message);
    };
    refuse(this.run.refusalOf(whole));
    checkFit(interrupts, interruptId, answer);
    refuse(await this.run.take(whole));
  }

  approve(interruptId: string, options: ApproveOptions = {}): Promise<void> {
    const { decision, who } = approvalOf(options);
    return this.resume(interruptId, decision, who);
  }

  reject(interruptId: string, feedback?: string, options: AnswerOptions = {}): Promise<void> {
    return this.resume(interruptId, rejectionOf(feedback), options);
  }

  /** Asks the run to stop now, as a person does. */
  async cancel(): Promise<void> {
    if (this.run.ended) throw new HoldfastError('run-ended', `The run "${this.id}" has ended (${this.run.view().status}).`);
    this.run.cancel();
  }

  /** Lets time pass, such as '3 days': sleeps end, deadlines expire, in their order. */
  async advance(duration: string): Promise<void> {
    await this.run.advance(millisecondsOf(duration, 'request-invalid'));
  }

  /** Takes the run over a continue-as-new, as long runs go and as a move to new code does: state as JSON, open code entered again. */
  async goOnAsNew(agent?: Agent<string, Json, unknown>): Promise<void> {
    await this.run.goOnAsNew(agent === undefined ? undefined : agentsOf(agent));
  }

  /** The isolated agents of the run, by the ids of their runs, also those that have ended. They share its clock. */
  get children(): ReadonlyMap<string, TestRun> {
    return new Map([...this.run.children].map(([id, child]) => [id, new TestRun(child, id)]));
  }

  /** Moves the run to new code, as `upgrade` of the client does: rejects when the code of what is open is another, and the run stays as it is. */
  async upgrade(agent: Agent<string, Json, unknown>): Promise<void> {
    const failure = await this.run.upgrade(agentsOf(agent));
    if (failure !== undefined) throw new HoldfastError(isErrorCode(failure.code) ? failure.code : 'upgrade-failed', failure.message);
  }

  /** Tries a run again that has failed, as `retry` of the client does, if need be with other code of the agent. */
  async retry(options: { readonly agent?: Agent<string, Json, unknown>; readonly by?: string } = {}): Promise<void> {
    const { agent, by } = options;
    await this.run.retry(agent === undefined ? undefined : agentsOf(agent), by);
  }

  private async until(found: () => boolean): Promise<void> {
    while (!found() && !this.run.standsStill) await Promise.race([this.run.more, this.run.idle()]);
  }
}

function whyOpen(outcome: Outcome<unknown>): string {
  if (outcome.status !== 'waiting') return 'it sleeps. Let time pass with advance()';
  const waits = outcome.interrupts.map((interrupt) =>
    interrupt.kind === 'approval' ? `${interrupt.id} (approval of ${interrupt.tool})` : interrupt.id,
  );
  return `it waits for answers to ${waits.join(', ')}. Answer with approve(), reject() or resume()`;
}

/** Every name is a model here; the one model answers for all and is told by which name. */
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

function agentsOf(agent: Agent<string, Json, unknown>): Agents {
  const definition = definitionOf(agent as Agent);
  checkTrees([definition]);
  return new Map([[agent.name, definition]]);
}
