import type { AnswerOptions } from '../client/runs/answers';
import { answerOf, checkFit, checkSize, refuse } from '../client/runs/answers';
import { AnyRun } from '../client/runs/any-run';
import type { CancelOptions, CancelReceipt } from '../client/runs/cancel';
import { cancelOutcomeOf, cancelRequestOf } from '../client/runs/cancel';
import type { Outcome } from '../client/reading/outcome';
import { endErrorOf, outcomeOf } from '../client/reading/outcome';
import { checkJob } from '../client/runs/whole-misfit';
import type { StartOptions } from '../client/runs/start-input';
import { startInputOf } from '../client/runs/start-input';
import { beyondEnd } from '../client/reading/follower';
import { ended, errorOf } from '../client/connection/refusals';
import { policiesOf } from '../activities/policies';
import { defined } from '../contract/defined';
import { millisecondsOf } from '../contract/duration';
import { HoldfastError } from '../contract/errors';
import type { RunEvent, RunView } from '../contract/events';
import type { InputFor } from '../contract/messages/message-shapes';
import type { Json } from '../contract/messages/messages';
import { defaultTenant } from '../contract/names';
import type { PolicySource } from '../contract/policies';
import { addedBy, policySourceOf } from '../contract/policies';
import type { StartInput } from '../contract/record/wire';
import type { Agent } from '../kernel/define/agent-ref';
import { jobTaker, definitionOf } from '../kernel/define/definition';
import type { MemoryRun } from './memory/run';
import type { TestWorld } from './test-world';
import { agentsOf, checkWorld, memoryRun, worldOf } from './test-world';

export interface TestRunOptions<Input> extends TestWorld, Omit<StartOptions, 'model' | 'deadline' | 'startDelay'> {
  readonly input: InputFor<Input>;
}

/**
 * Runs an agent in memory, with production tools, worker middleware and checks, and with virtual time.
 * @example
 * const model = scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }] }, { text: 'A teapot.' }]);
 * const run = await testRun(support, { input: 'What is order 42?', model, tools });
 * expect(await run.result()).toBe('A teapot.');
 * model.assertComplete();
 */
export async function testRun<Input extends Json, Output>(
  agent: Agent<string, Input, Output>,
  options: TestRunOptions<NoInfer<Input>>,
): Promise<TestRun<Output>> {
  const { world, start: given } = worldOf(options);
  checkWorld('testRun', agent, world);
  const { input, ...rest } = given;
  const start = startInputOf({ tenant: world.tenant ?? defaultTenant, agent: agent.name }, input, { id: 'test', ...rest });
  const schema = jobTaker(definitionOf(agent as Agent))?.inputSchema;
  if (schema !== undefined) checkJob(agent.name, schema, start.input);
  const policies = new Map(policiesOf(world.policies));
  return new TestRun<Output>(await memoryRun(agent, start, world, policies), start.id, { start, policies });
}

/**
 * A run in memory. Reads wait until the run stands still; `view` and `events` read the present state.
 * @example
 * const run: TestRun = await testRun(support, { input: 'Refund order 42', model, tools });
 * const [interrupt] = await run.interrupts();
 * await run.advance('1d');
 * await run.approve(interrupt!.id, { by: 'ada' });
 * expect(await run.result()).toBe('Paid.');
 */
export class TestRun<Output = unknown> extends AnyRun {
  readonly isNew = true;

  constructor(
    private readonly run: MemoryRun,
    readonly id: string,
    private readonly begun?: { readonly start: StartInput; readonly policies: Map<string, PolicySource> },
  ) {
    super();
  }

  /** Yields the durable log. `waiting`: as far as the run gets alone. */
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

  protected async stillView(): Promise<RunView> {
    await this.run.idle();
    return this.run.view();
  }

  /** Returns the outcome once the run needs a person or time. A sleeping run is `running`. */
  async outcome(options: { timeout?: string } = {}): Promise<Outcome<Output>> {
    const events = this.events({
      until: 'waiting',
      ...(options.timeout === undefined ? {} : { signal: AbortSignal.timeout(millisecondsOf(options.timeout, 'request-invalid')) }),
    });
    while ((await events.next()).done !== true);
    return outcomeOf(this.run.view()) as Outcome<Output>;
  }

  /** Returns the output. Throws the code of a failed or waiting run. */
  async result(): Promise<Output> {
    const outcome = await this.outcome();
    if (outcome.status === 'completed') return outcome.output;
    const endError = endErrorOf(this.id, outcome);
    throw endError ?? new HoldfastError('request-invalid', `The run "${this.id}" has no result: ${whyOpen(outcome)}.`);
  }

  /** Continues a cancelled run where it stopped, optionally with changed code. */
  resume(options?: { readonly agent?: Agent<string, Json, unknown>; readonly by?: string }): Promise<void>;
  /** Answers an interrupt. */
  resume(interruptId: string, answer: Json, options?: AnswerOptions): Promise<void>;
  async resume(
    what: string | { readonly agent?: Agent<string, Json, unknown>; readonly by?: string } = {},
    answer: Json = null,
    options: AnswerOptions = {},
  ): Promise<void> {
    if (typeof what === 'string') return this.answer(what, answer, options);
    const { agent, by } = what;
    await this.run.goOnBehindEnd('run-resume', agent === undefined ? undefined : agentsOf(agent), defined({ by }));
  }

  /** Replaces a policy by another version. With `to: 'waiting'`, waiting calls are asked again where the version asks more. */
  async applyPolicy(policy: object, options: { readonly to?: 'waiting' } = {}): Promise<void> {
    const source = policySourceOf(policy);
    if (source === undefined || this.begun === undefined)
      throw new HoldfastError('request-invalid', 'applyPolicy of a run that testRun returned takes what policy({ … }) returns.');
    await this.run.idle();
    this.begun.policies.set(source.name, source);
    if (options.to === undefined) return;
    const { values = {}, tags = [], by } = this.begun.start;
    for (const interrupt of await this.interrupts()) {
      if (interrupt.kind !== 'approval' || interrupt.policy?.name !== source.name) continue;
      const asked = { ...interrupt, policy: interrupt.policy };
      const added = addedBy(source, asked, { id: this.id, values, tags, ...defined({ startedBy: by }) });
      if (added.length > 0) await this.resume(interrupt.id, { type: 'apply-policy', version: source.version });
    }
  }

  private async answer(interruptId: string, answer: Json, options: AnswerOptions): Promise<void> {
    await this.until(() => this.run.view().interrupts.some(({ id }) => id === interruptId));
    checkSize(answer);
    const { interrupts, status } = this.run.view();
    if (this.run.ended) throw ended(this.id, status);
    // The run's own clock counts.
    const { at: _, ...whole } = answerOf(interruptId, answer, options);
    refuse(this.run.refusalOf(whole));
    checkFit(interrupts, interruptId, answer);
    refuse(await this.run.take(whole));
  }

  /** Asks the run to stop, now or at a safe point. */
  async cancel(options: CancelOptions = {}): Promise<CancelReceipt> {
    const request = cancelRequestOf(options);
    if (this.run.ended) throw ended(this.id, this.run.view().status);
    const from = this.run.events.length;
    await this.run.cancel(request);
    return {
      settled: async () => {
        await this.outcome();
        const end = this.run.events.slice(from).find((event) => event.type === 'run-end');
        if (end !== undefined) return cancelOutcomeOf(end);
        throw new HoldfastError('request-invalid', `The run "${this.id}" has not ended: it is ${this.run.view().status}.`);
      },
    };
  }

  /** Advances time, such as by '3 days': sleeps and deadlines end in order. */
  async advance(duration: string): Promise<void> {
    await this.run.advance(millisecondsOf(duration, 'request-invalid'));
  }

  /** Continues the run as new, optionally with changed code. Open code runs again. */
  async goOnAsNew(agent?: Agent<string, Json, unknown>): Promise<void> {
    await this.run.goOnAsNew(agent === undefined ? undefined : agentsOf(agent));
  }

  /** Isolated agents by run id, also ended agents. All share one clock. */
  get children(): ReadonlyMap<string, TestRun> {
    return new Map([...this.run.children].map(([id, child]) => [id, new TestRun(child, id)]));
  }

  /** Moves the run to changed code. Throws, and leaves the run unchanged, if the code differs where the run stands. */
  async upgrade(agent: Agent<string, Json, unknown>): Promise<void> {
    const failure = await this.run.upgrade(agentsOf(agent));
    if (failure !== undefined) throw errorOf(failure, 'upgrade-failed');
  }

  /** Retries a failed run, optionally with changed code. */
  async retry(options: { readonly agent?: Agent<string, Json, unknown>; readonly by?: string } = {}): Promise<void> {
    const { agent, by } = options;
    await this.run.goOnBehindEnd('run-retry', agent === undefined ? undefined : agentsOf(agent), defined({ by }));
  }

  private async until(found: () => boolean): Promise<void> {
    while (!found() && !this.run.standsStill) await Promise.race([this.run.more, this.run.idle()]);
  }
}

function whyOpen(outcome: Outcome<unknown>): string {
  if (outcome.status === 'idle') return 'it is a conversation, and nobody says anything';
  if (outcome.status !== 'waiting') return 'it sleeps. Let time pass with advance()';
  const waits = outcome.interrupts.map((interrupt) =>
    interrupt.kind === 'approval' ? `${interrupt.id} (approval of ${interrupt.tool})` : interrupt.id,
  );
  return `it waits for answers to ${waits.join(', ')}. Answer with approve(), reject() or resume()`;
}
