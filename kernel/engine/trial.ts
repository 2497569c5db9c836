import type { Manifest } from '../../contract/manifest';
import type { Failure } from '../../contract/messages/messages';
import type { PolicyPlan } from '../../contract/policies';
import type { ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import type { AnyAgent } from '../define/definition';
import type { Ports, Timer } from '../run/ports';
import { AgentRun } from './run';
import type { SplitState } from './split-state';
import { restoredState } from '../run/state';
import { failureOf } from '../effects/errors';

export type Facts = Pick<Ports, 'prepare' | 'parseInput' | 'parseOutput' | 'planPolicy'>;

/** Enters the open code of a run in changed code, to compare both. Calls, events, timers and interrupts have no effect. */
export class Trial {
  private readonly run: AgentRun;
  private readonly ports: TrialPorts;
  private problem: unknown;

  constructor(agents: ReadonlyMap<string, AnyAgent>, { state, lists }: SplitState, facts: Facts, now: number) {
    this.ports = new TrialPorts(facts, now);
    this.run = new AgentRun(agents, restoredState(state, lists), this.ports);
    this.run.execute().catch((error: unknown) => (this.problem = error));
  }

  get asks(): boolean {
    return this.ports.asking > 0;
  }

  get goesOn(): boolean {
    return this.ports.waiting.length > 0;
  }

  goOn(): void {
    this.ports.waiting.shift()?.();
  }

  get failure(): Failure | undefined {
    const problem = this.run.changed ?? this.problem ?? this.run.forgotten;
    return problem === undefined ? undefined : failureOf(problem);
  }
}

class TrialPorts implements Ports {
  asking = 0;
  readonly waiting: (() => void)[] = [];
  readonly isTrial = true;
  readonly nextOffset = 0;
  readonly cancelled = false;
  readonly heard = 0;
  private uuids = 0;

  constructor(
    private readonly facts: Facts,
    private readonly time: number,
  ) {}

  prepare(...request: Parameters<Ports['prepare']>): Promise<Manifest> {
    return this.asked(() => this.facts.prepare(...request));
  }

  parseInput(...request: Parameters<Ports['parseInput']>): Promise<ParseInputResult> {
    return this.asked(() => this.facts.parseInput(...request));
  }

  planPolicy(...request: Parameters<Ports['planPolicy']>): Promise<PolicyPlan> {
    return this.asked(() => this.facts.planPolicy(...request));
  }

  parseOutput(...request: Parameters<Ports['parseOutput']>): Promise<ParseOutputResult> {
    return this.asked(() => this.facts.parseOutput(...request));
  }

  readonly callModel = never;
  readonly callTool = never;
  readonly runChild = never;
  readonly answerChild = nothing;
  readonly cancelChildren = nothing;
  readonly sleep = neverFires;
  readonly timer = neverFires;
  readonly checkpoint = nothing;
  readonly emit = nothing;
  readonly roomFor = nothing;
  readonly roomToShow = nothing;
  readonly showInterrupt = nothing;
  readonly hideInterrupt = nothing;
  readonly stop = nothing;
  readonly random = (): number => 0.5;

  atRest(run: () => void): void {
    this.waiting.push(run);
  }

  now(): number {
    return this.time;
  }

  uuid(): string {
    return `trial-${++this.uuids}`;
  }

  private async asked<T>(ask: () => Promise<T>): Promise<T> {
    this.asking += 1;
    try {
      return await ask();
    } finally {
      this.asking -= 1;
    }
  }
}

const nothing = (): undefined => undefined;
const never = (): Promise<never> => new Promise<never>(() => undefined);
const neverFires = (): Timer => ({ fired: never(), cancel: nothing });
