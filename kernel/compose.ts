import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import type { Frame } from './frames';
import { isCancellation } from './ports';

export type Next<Request, Response> = (request: Request) => Promise<Response>;

/** A wrap of one middleware, bound to its place in the run. */
export interface Layer<Request, Response> {
  readonly name: string;
  readonly hook: 'wrapModel' | 'wrapToolCall' | 'observer';
  wrap(request: Request, next: Next<Request, Response>, frame: Frame): Promise<Response>;
  /** Refuses what is no response, naming the layer. */
  check(response: Response, label: string): Response;
}

/**
 * Puts layers around a core, first outermost. `next` may be called again; it may not be left running.
 * Every promise that is handed out is handled, so a layer that drops one cannot bring down the workflow task.
 */
export function compose<Request, Response>(
  layers: readonly Layer<Request, Response>[],
  core: (request: Request, frame: Frame) => Promise<Response>,
): (request: Request, frame: Frame) => Promise<Response> {
  return layers.reduceRight<(request: Request, frame: Frame) => Promise<Response>>((inner, layer) => {
    return (request, parent) => runLayer(layer, inner, request, parent);
  }, core);
}

async function runLayer<Request, Response>(
  layer: Layer<Request, Response>,
  inner: (request: Request, frame: Frame) => Promise<Response>,
  request: Request,
  parent: Frame,
): Promise<Response> {
  const label = labelOf(layer.hook, layer.name);
  const frame = parent.child(layer.name, label);
  const running = new Set<Promise<Response>>();
  const next: Next<Request, Response> = (changed) => {
    const promise = frame.effect('next', (n) => inner(changed, frame.child(`next${n}`)));
    running.add(promise);
    const settle = (): void => void running.delete(promise);
    promise.then(settle, settle);
    return promise;
  };
  try {
    const response = await layer.wrap(request, next, frame);
    if (running.size > 0) throw new HoldfastError('next-left-running', `${label} returned while a call of next was still running.`);
    const checked = layer.check(response, label);
    frame.close();
    return checked;
  } catch (error) {
    if (!isCancellation(error)) frame.abandon();
    throw blame(error, label);
  }
}

export function labelOf(hook: string, middleware: string): string {
  return `${hook} of middleware "${middleware}"`;
}

/** Names the hook that threw. What has a code, and cancellation, passes as the same object. */
export function blame(error: unknown, label: string): unknown {
  if (isCancellation(error) || codeOf(error) !== undefined) return error;
  const failure = new HoldfastError('hook-failed', `${label} failed: ${messageOf(error).slice(0, limits.errorMessage)}`, { cause: error });
  const { stack } = (typeof error === 'object' && error !== null ? error : {}) as { stack?: unknown };
  if (typeof stack === 'string') failure.stack = stack;
  return failure;
}
