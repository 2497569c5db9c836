import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import type { Frame, Soon } from './frames';
import { isCancellation } from './ports';

export type Next<Request, Response> = (request: Request) => Promise<Response>;

/** A wrap of one middleware, bound to its place in the run. */
export interface Layer<Request, Response> {
  readonly name: string;
  readonly hook: 'wrapModel' | 'wrapToolCall' | 'observer';
  wrap(request: Request, next: Next<Request, Response>, frame: Frame): Soon<Response>;
  /** Refuses what is no response, naming the layer. */
  check(response: Response, label: string): Response;
}

/**
 * Puts layers around a core, first outermost. `next` may be called again; it may not be left running.
 * There are many layers, and promises are dear: a layer costs one for each call of `next` and one for its own end.
 */
export function compose<Request, Response>(
  layers: readonly Layer<Request, Response>[],
  core: (request: Request, frame: Frame) => Promise<Response>,
): (request: Request, frame: Frame) => Promise<Response> {
  return layers.reduceRight<(request: Request, frame: Frame) => Promise<Response>>((inner, layer) => {
    return (request, parent) => runLayer(layer, inner, request, parent);
  }, core);
}

function runLayer<Request, Response>(
  layer: Layer<Request, Response>,
  inner: (request: Request, frame: Frame) => Promise<Response>,
  request: Request,
  parent: Frame,
): Promise<Response> {
  const label = labelOf(layer.hook, layer.name);
  const frame = parent.child(layer.name, label);
  let running = 0;
  const ended = (): void => void (running -= 1);
  const next: Next<Request, Response> = (changed) => {
    running += 1;
    return frame.effect('next', (n) => inner(changed, frame.child(`next${n}`)), ended);
  };
  const fail = (error: unknown): never => {
    if (!isCancellation(error)) frame.abandon();
    throw blame(error, label);
  };
  const close = (response: Response): Response => {
    try {
      if (running > 0) throw new HoldfastError('next-left-running', `${label} returned while a call of next was still running.`);
      const checked = layer.check(response, label);
      frame.close();
      return checked;
    } catch (error) {
      return fail(error);
    }
  };
  let response: Soon<Response>;
  try {
    response = layer.wrap(request, next, frame);
  } catch (error) {
    response = Promise.reject<Response>(error);
  }
  return Promise.resolve(response).then(close, fail);
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
