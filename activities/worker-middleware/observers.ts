import { cut, shown } from '../../contract/shown';
import { func, isString, problemOfKnown, refusing, sentence, texts, worded } from '../../contract/check';
import type { Fields, Forms } from '../../contract/check';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Failure } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import type { Observed, ObservedEnd, Observer } from '../../contract/observed';
import { currentCall } from '../calls/call-context';
import type { WorkerCall } from './worker-middleware';

type Begun<Kind extends 'model' | 'tool'> = Omit<
  Extract<Observed, { kind: Kind }>,
  'kind' | 'agent' | 'runId' | 'id' | 'attempt' | 'startedAt'
>;

export interface Watched<Result> {
  end(result: Result): void;
  fail(error: Failure): void;
}

type ModelResult = Pick<Extract<ObservedEnd, { kind: 'model' }>, 'response'>;
type ToolResult = Pick<Extract<ObservedEnd, { kind: 'tool' }>, 'output' | 'interrupted'>;

/** Reports an observer's first mistake; the call continues. */
export class Observers {
  private readonly reported = new Set<string>();

  constructor(
    private readonly observers: readonly Observer[] = [],
    private readonly onProblem: (problem: HoldfastError) => void = () => undefined,
  ) {
    for (const observer of observers) checkObserver(observer);
  }

  model(call: WorkerCall, begun: Begun<'model'>): Watched<ModelResult> | undefined {
    return this.watch(call, { kind: 'model', ...begun }, ({ request: _, ...rest }) => rest);
  }

  tool(call: Omit<WorkerCall, 'runLocal'>, begun: Begun<'tool'>): Watched<ToolResult> | undefined {
    return this.watch(call, { kind: 'tool', ...begun }, ({ input: _, options: __, ...rest }) => rest);
  }

  private watch<Kind extends object, Result>(
    { agent, id, attempt }: Pick<WorkerCall, 'agent' | 'id' | 'attempt'>,
    begun: Kind,
    kept: (begun: Kind) => object,
  ): Watched<Result> | undefined {
    const looking = this.observers.filter(({ agents }) => agents === undefined || agents.includes(agent));
    if (looking.length === 0) return undefined;
    const place = { agent, runId: runIdOf(currentCall()?.workflowId ?? ''), id, attempt, startedAt: Date.now() };
    for (const observer of looking) this.tell(observer, 'onStart', { ...begun, ...place });
    let over = false;
    const ended = (hook: 'onEnd' | 'onError', outcome: object): void => {
      if (over) return;
      over = true;
      const observed = { ...kept(begun), ...place, endedAt: Date.now(), ...outcome };
      for (const observer of [...looking].reverse()) this.tell(observer, hook, observed);
    };
    return { end: (result) => ended('onEnd', result as object), fail: (error) => ended('onError', { error }) };
  }

  /** The call does not wait for observers. */
  private tell(observer: Observer, hook: (typeof hooks)[number], observed: object): void {
    try {
      Promise.resolve(observer[hook]?.(observed as never)).catch((error: unknown) => this.report(observer, hook, error));
    } catch (error) {
      this.report(observer, hook, error);
    }
  }

  private report({ name }: Observer, hook: string, error: unknown): void {
    const who = `${hook} of observer "${name}"`;
    if (this.reported.has(who)) return;
    this.reported.add(who);
    this.onProblem(new HoldfastError('observer-failed', `${who} failed: ${messageOf(error)}. This is told once.`, { cause: error }));
  }
}

const hooks = ['onStart', 'onEnd', 'onError'] as const;
const forms: Forms = { agents: worded(texts, 'an array of names of agents'), onStart: func, onEnd: func, onError: func };

function checkObserver(observer: unknown): void {
  const refuse = refusing('observers', 'config-invalid');
  if (typeof observer !== 'object' || observer === null) return refuse(`an observer must be an object, not ${shown(observer)}.`);
  const { name } = observer as Fields;
  if (!isString(name) || name === '') return refuse('an observer has no name; every observer needs one.');
  const problem = problemOfKnown(observer, forms, (field) => `${field} of observer "${cut(name)}"`);
  if (problem !== undefined) refuse(sentence(problem));
  if (hooks.every((hook) => (observer as Fields)[hook] === undefined))
    refuse(`the observer "${cut(name)}" has no function; it needs ${hooks.join(', ')}, or one of them.`);
}
