import type { MaybePromise } from '../../contract/maybe-promise';
import { HoldfastError } from '../../contract/errors';
import type { EffectEnding, Frame } from '../effects/frames';
import { blame, isCancellation, labelOf } from '../effects/errors';

export type Next<Request, Response> = (request: Request) => Promise<Response>;

export interface Layer<Request, Response> {
  readonly name: string;
  readonly hook: 'wrapModel' | 'wrapToolCall' | 'observer';
  wrap(request: Request, next: Next<Request, Response>, frame: Frame): MaybePromise<Response>;
  check(response: Response, label: string): Response;
  /** Called for a response that did not come from `next`. The order of several can differ after a continue-as-new. */
  replaced?(came: readonly Response[], gives: Response): void;
}

/**
 * `next` may be called again, but must not be left running. Promises cost time: a layer makes one for each `next`, and another only if its
 * own end differs.
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
  const run = new LayerRun(layer, label, parent.child(layer.name, { label }));
  const next: Next<Request, Response> = (changed) => run.next((frame) => inner(changed, frame));
  let response: MaybePromise<Response>;
  try {
    response = layer.wrap(request, next, run.frame);
  } catch (error) {
    response = Promise.reject<Response>(error);
  }
  return run.endOf(response);
}

class LayerRun<Request, Response> implements EffectEnding<Response> {
  private running = 0;
  private last: Promise<Response> | undefined;
  private readonly came: Response[] = [];
  private handsOn = false;

  constructor(
    private readonly layer: Layer<Request, Response>,
    private readonly label: string,
    readonly frame: Frame,
  ) {}

  next(inner: (frame: Frame) => Promise<Response>): Promise<Response> {
    this.running += 1;
    this.last = this.frame.effect('next', (n) => inner(this.frame.child(`next${n}`)), this);
    return this.last;
  }

  endOf(response: MaybePromise<Response>): Promise<Response> {
    this.handsOn = response === this.last && this.running === 1;
    const ended = this.frame.code.endOf(response);
    if (this.handsOn) return ended;
    return ended.then(
      (value) => this.close(value),
      (error: unknown) => {
        throw this.failure(error);
      },
    );
  }

  settled(response: Response): Response {
    this.running -= 1;
    this.came.push(response);
    return this.handsOn ? this.close(response) : response;
  }

  refused(error: unknown): unknown {
    this.running -= 1;
    return this.handsOn ? this.failure(error) : error;
  }

  private close(response: Response): Response {
    const { layer, label, frame } = this;
    try {
      if (this.running > 0) throw new HoldfastError('next-left-running', `${label} returned while a call of next was still running.`);
      const checked = layer.check(response, label);
      frame.close();
      if (!this.came.includes(checked)) layer.replaced?.(this.came, checked);
      return checked;
    } catch (error) {
      throw this.failure(error);
    }
  }

  private failure(error: unknown): unknown {
    if (!isCancellation(error)) {
      if (this.running > 0)
        this.frame.leave(new HoldfastError('next-left-running', `${this.label} has ended, and what it called with it.`));
      this.frame.unwind(this.running > 0 ? `${this.label} ended before what it called` : undefined);
    }
    return blame(error, this.label);
  }
}
