import { jsonSize } from '../../contract/limits';
import type { LimitUse } from '../../contract/service-facts';
import type { Asker, GateTurn, SharedTurns } from './gate';
import { Gate } from './gate';
import type { ModelLimits } from './limit';
import { covers } from './limit';

export type Caller = Omit<Asker, 'tokens'>;

type Sharing = (name: string, limit: ModelLimits[string]) => SharedTurns;

export class Turns {
  /** Narrow limits first: a call that waits for a narrow limit holds no turn of a wide limit. */
  private readonly models: readonly { readonly pattern: string; readonly what: string; readonly gate: Gate }[];
  private readonly tools: Map<string, { readonly tool: string; readonly gate: Gate }>;

  constructor(
    limits: ModelLimits,
    private readonly sharing?: Sharing,
    private readonly now: () => number = Date.now,
    /** An unchanged limit keeps its working and waiting calls. */
    before?: Turns,
  ) {
    this.tools = before?.tools ?? new Map<string, { readonly tool: string; readonly gate: Gate }>();
    this.models = Object.entries(limits)
      .sort(([one], [other]) => other.length - one.length || (one < other ? -1 : 1))
      .map(([pattern, limit]) => {
        const what = `models.limits["${pattern}"] lets ${saidOf(limit)}`;
        const kept = before?.models.find((one) => one.what === what);
        return kept ?? { pattern, what, gate: new Gate(what, limit, sharing?.(`model ${pattern}`, limit), now) };
      });
  }

  async ofModel(model: string, caller: Caller, request: unknown): Promise<GateTurn | undefined> {
    const gates = this.models.filter(({ pattern }) => covers(pattern, model));
    if (gates.length === 0) return undefined;
    const asker = { ...caller, tokens: Math.ceil(jsonSize(request) / bytesOfToken) };
    return allTurns(
      gates.map(
        ({ gate }) =>
          () =>
            gate.take(asker),
      ),
    );
  }

  useOfModels(pattern: string): LimitUse | undefined {
    return this.models.find((one) => one.pattern === pattern)?.gate.use;
  }

  useOfTool(tool: string): LimitUse {
    return [...this.tools.values()].reverse().find((one) => one.tool === tool)?.gate.use ?? unused;
  }

  ofTool(tool: string, concurrent: number, caller: Caller): Promise<GateTurn> {
    const limit = { concurrent };
    const what = `The tool '${tool}' lets ${saidOf(limit)}`;
    let known = this.tools.get(what);
    if (known === undefined)
      this.tools.set(what, (known = { tool, gate: new Gate(what, limit, this.sharing?.(`tool ${tool}`, limit), this.now) }));
    return known.gate.take({ ...caller, tokens: 0 });
  }
}

/** One after the other. Without one of them, the call keeps none. */
export async function allTurns(takes: readonly (() => Promise<GateTurn | undefined>)[]): Promise<GateTurn> {
  const turns: GateTurn[] = [];
  try {
    for (const take of takes) {
      const turn = await take();
      if (turn !== undefined) turns.push(turn);
    }
  } catch (error) {
    for (const turn of turns) turn.giveBack();
    throw error;
  }
  return { end: (tokens) => turns.forEach((turn) => turn.end(tokens)), giveBack: () => turns.forEach((turn) => turn.giveBack()) };
}

const unused: LimitUse = { atWork: 0, waiting: 0, lastMinute: 0, tokensLastMinute: 0 };

const bytesOfToken = 4;

function saidOf({ concurrent, perMinute, tokensPerMinute }: ModelLimits[string]): string {
  const parts = [
    ...(concurrent === undefined ? [] : [`${concurrent} ${concurrent === 1 ? 'call' : 'calls'} work at a time`]),
    ...(perMinute === undefined ? [] : [`${perMinute} begin in a minute`]),
    ...(tokensPerMinute === undefined ? [] : [`calls take ${tokensPerMinute} tokens in a minute`]),
  ];
  return parts.join(', ');
}
