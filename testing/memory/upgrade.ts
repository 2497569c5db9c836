import { defined } from '../../contract/defined';
import type { Failure } from '../../contract/messages/messages';
import type { AnyAgent } from '../../kernel/define/definition';
import type { AgentRun } from '../../kernel/engine/run';
import type { Facts } from '../../kernel/engine/trial';
import { Trial } from '../../kernel/engine/trial';
import { asJson } from './record';
import type { MemoryWork } from './work';

/** Tries other code on the present state. Undefined: no problem. */
export async function failureOfTrial(
  agents: ReadonlyMap<string, AnyAgent>,
  run: AgentRun,
  work: MemoryWork,
  now: number,
): Promise<Failure | undefined> {
  const facts: Facts = {
    prepare: (request) => work.prepare(asJson(request)),
    parseInput: (_, tool, input, schema) => work.parseInput(asJson({ tool, input, ...defined({ schema }) })),
    planPolicy: (_, request) => work.planPolicy(asJson(request)),
    parseOutput: (_, output, text) => work.parseOutput({ output, text }),
  };
  const trial = new Trial(agents, asJson(run.snapshot()), facts, now);
  for (await work.settle(); trial.goesOn || trial.asks; await work.settle()) trial.goOn();
  return trial.failure;
}

export function busyWith(ids: readonly string[]): Failure | undefined {
  if (ids.length === 0) return undefined;
  return {
    code: 'upgrade-failed',
    message: `The run cannot move while an isolated agent of it is at work: ${ids.join(', ')}. Ask again when it has ended.`,
  };
}
