import { agentOfPath } from '../../contract/record/agent-paths';
import { messageOf } from '../../contract/errors';
import type { Failure, ToolCall, Usage } from '../../contract/messages/messages';
import type { Observed, ObservedEnd, ObservedError } from '../../contract/observed';
import type { AgentDefinition } from '../define/definition';
import type { Layer } from './compose';
import { hookContext } from './context';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { runHook } from './hooks';
import { noteLeft } from '../run/place';
import type { FinishedAgent } from '../run/state';
import { takeOut } from '../run/state';
import type { AgentMiddleware, ModelRequest, ModelResponse } from '../define/middleware';
import type { AgentScope } from '../run/scope';
import type { ToolDone } from '../calls/tool-call';
import { errorOf, failureOf, isCancellation, recordedFailure } from '../effects/errors';
import type { AgentResult } from '../run/agent-result';

export function observersOf({ middleware }: AgentDefinition): readonly AgentMiddleware[] {
  return middleware.filter(({ onStart, onEnd, onError }) => (onStart ?? onEnd ?? onError) !== undefined);
}

/** After a continue-as-new observers do not run twice, and an ended agent does not run again. */
export async function observedAgent<Result extends AgentResult>(
  scope: AgentScope,
  root: Frame,
  run: () => Promise<Result>,
): Promise<Result> {
  const { record } = scope;
  const observers = observersOf(scope.agent);
  const tell = teller(scope, root);
  const place = { kind: 'agent', ...placeOf(scope, root, root.address) } as const;
  try {
    for (const observer of observers) await tell('onStart', observer, () => ({ ...place, input: record.messages }));
    let result: Result;
    try {
      result = keptResult<Result>(scope) ?? (await run());
    } catch (error) {
      if (isCancellation(error)) throw error;
      if (observers.some(({ onError }) => onError !== undefined)) keepEnd(scope, root, { error: recordedFailure(error) });
      throw await failed(observers, tell, error, (failure) => ({ ...place, ...now(scope, root), error: failure }));
    }
    if (observers.some(({ onEnd }) => onEnd !== undefined)) keepEnd(scope, root, { result });
    for (const observer of [...observers].reverse())
      await tell('onEnd', observer, () => ({
        ...place,
        ...now(scope, root),
        output: result.output,
        usage: usage(scope, root),
      }));
    return result;
  } finally {
    takeOut(scope.run.state, 'ends', scope.path.join('/'));
    scope.life.end();
  }
}

export function modelObservers(scope: AgentScope): readonly Layer<ModelRequest, ModelResponse>[] {
  return layersOf<ModelRequest, ModelResponse>(scope, {
    which: ({ model }) => ({ kind: 'model', model }),
    begun: (request) => ({ request }),
    ended: (response) => ({ response }),
  });
}

export function toolObservers(scope: AgentScope): readonly Layer<ToolCall, ToolDone>[] {
  return layersOf<ToolCall, ToolDone>(scope, {
    which: ({ name, id }) => ({ kind: 'tool', tool: name, callId: id }),
    begun: ({ input, options = {} }) => ({ input, options }),
    ended: ({ output }) => ({ output }),
  });
}

interface Telling<Request, Response> {
  readonly which: (request: Request) => object;
  readonly begun: (request: Request) => object;
  readonly ended: (response: Response) => object;
}

function layersOf<Request, Response>(scope: AgentScope, telling: Telling<Request, Response>): readonly Layer<Request, Response>[] {
  return observersOf(scope.agent).map((observer) => ({
    name: observer.name,
    hook: 'observer',
    check: (response) => response,
    wrap: async (request, next, frame) => {
      const tell = teller(scope, frame);
      const place = { ...telling.which(request), ...placeOf(scope, frame, frame.address.slice(0, -1)) };
      await tell('onStart', observer, () => ({ ...place, ...telling.begun(request) }) as Observed);
      let response: Response;
      try {
        response = await next(request);
      } catch (error) {
        if (isCancellation(error)) throw error;
        await tell('onError', observer, () => ({ ...place, ...now(scope, frame), error: failureOf(error) }) as ObservedError);
        throw error;
      }
      await tell('onEnd', observer, () => ({ ...place, ...now(scope, frame), ...telling.ended(response) }) as ObservedEnd);
      return response;
    },
  }));
}

async function failed(
  observers: readonly AgentMiddleware[],
  tell: Tell,
  error: unknown,
  observed: (failure: Failure) => ObservedError,
): Promise<unknown> {
  const failure = failureOf(error);
  let { message } = failure;
  for (const observer of [...observers].reverse()) {
    try {
      await tell('onError', observer, () => observed(failure));
    } catch (another) {
      if (isCancellation(another)) throw another;
      message += ` Then: ${messageOf(another)}`;
    }
  }
  return message === failure.message ? error : errorOf({ code: failure.code, message });
}

interface ToldObserver {
  readonly onStart: Observed;
  readonly onEnd: ObservedEnd;
  readonly onError: ObservedError;
}

type Tell = <Hook extends keyof ToldObserver>(hook: Hook, observer: AgentMiddleware, observed: () => ToldObserver[Hook]) => Promise<void>;

function teller(scope: AgentScope, frame: Frame): Tell {
  return async (hook, observer, observed) => {
    type Told = ReturnType<typeof observed>;
    const told = observer[hook]?.bind(observer) as ((about: Told, ctx: unknown) => unknown) | undefined;
    if (told === undefined) return;
    let isAsked = false;
    const ask = (): Told => {
      isAsked = true;
      return observed();
    };
    try {
      await runHook(
        { middleware: observer.name, hook },
        frame,
        (inner) => told(frozen(ask()), hookContext(scope, inner)),
        () => undefined,
      );
    } finally {
      // Effects of observers are numbered after the effects of the hook, even if the hook ran before a continue-as-new.
      if (!isAsked) observed();
    }
  };
}

function placeOf(
  { run, path }: AgentScope,
  frame: Frame,
  address: readonly string[],
): { agent: string; runId: string; id: string; startedAt: number } {
  return { agent: agentOfPath(path), runId: run.state.id, id: address.join('/'), startedAt: frame.once('now', () => run.ports.now()) };
}

function usage({ run }: AgentScope, frame: Frame): Usage {
  return frame.seen('usage', () => run.state.usage);
}

function now({ run }: AgentScope, frame: Frame): { readonly endedAt: number } {
  return { endedAt: frame.once('now', () => run.ports.now()) };
}

function keptResult<Result>({ run, path }: AgentScope): Result | undefined {
  const kept = run.state.ends?.[path.join('/')];
  if (kept === undefined) return undefined;
  if ('error' in kept) throw errorOf(kept.error);
  return kept.result as unknown as Result;
}

/** Kept, because a continue-as-new may happen while observers wait. */
function keepEnd({ run, path }: AgentScope, root: Frame, end: FinishedAgent): void {
  const key = path.join('/');
  // After a continue-as-new observers work inside of the frame.
  if (run.state.ends?.[key] !== undefined) return;
  run.state.ends = { ...run.state.ends, [key]: end };
  if ('error' in end) {
    noteLeft(run, { path, frame: root });
    root.unwindInside();
  } else root.closeInside();
  run.checkpoints.delete(key);
}
