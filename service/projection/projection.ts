import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { OpenMessage } from './open-message';
import type { ShownStep } from './steps';

/**
 * Makes steps of the log of a run and of what its calls say meanwhile. Without the deltas the same is shown, in whole pieces. It keeps nothing that the
 * log does not give again: a reader that comes back begins a new one.
 */
export class Projection {
  /** By the address of the model call. */
  private readonly open = new Map<string, OpenMessage>();
  /** How often what was shown of a message became void. Its next try has an id of its own. */
  private readonly voids = new Map<string, number>();
  private readonly outputs = new Map<string, string>();
  /** Which attempt was heard last, by the address of the call. */
  private readonly attempts = new Map<string, number>();

  *take(event: RunEvent | Delta): Generator<ShownStep, void, void> {
    if (isDelta(event)) yield* this.delta(event);
    else yield* this.event(event);
  }

  /** Closes what is open: the stream ends here. */
  *end(): Generator<ShownStep, void, void> {
    for (const message of this.open.values()) yield* message.close();
    this.open.clear();
  }

  private *delta(delta: Delta): Generator<ShownStep, void, void> {
    const { agent, runPath, address } = delta;
    switch (delta.type) {
      case 'attempt-start': {
        const known = this.open.get(address);
        if (known !== undefined && this.attempts.get(address) === delta.attempt) return known.repeat();
        this.attempts.set(address, delta.attempt);
        this.outputs.delete(address);
        return yield* this.forget(address, { agent, runPath });
      }
      case 'attempt-void':
      case 'message-replaced':
        this.outputs.delete(address);
        return yield* this.forget(address, { agent, runPath });
      case 'text-delta':
        return yield* this.message(address, { agent, runPath }).hear('text', delta.text);
      case 'reasoning-delta':
        return yield* this.message(address, { agent, runPath }).hear('reasoning', delta.text);
      case 'tool-input-start':
        return yield* this.message(address, { agent, runPath }).beginCall(delta.callId, delta.tool);
      case 'tool-input-delta':
        return yield* this.message(address, { agent, runPath }).hearInput(delta.callId, delta.text);
      case 'tool-progress':
        return yield { agent, runPath, step: 'progress', callId: delta.callId, tool: delta.tool, data: delta.data };
      case 'tool-output-delta': {
        if (delta.text === undefined) return;
        const all = (this.outputs.get(address) ?? '') + delta.text;
        this.outputs.set(address, all);
        return yield { agent, runPath, step: 'output', callId: delta.callId, tool: delta.tool, text: delta.text, all };
      }
      default:
        return delta satisfies never;
    }
  }

  private *event(event: RunEvent): Generator<ShownStep, void, void> {
    switch (event.type) {
      case 'model-end':
      case 'agent-message': {
        const { agent, runPath, message } = event;
        const of = { agent, runPath };
        const address = (event.type === 'model-end' ? event.address : undefined) ?? message.id;
        if (this.open.get(address)?.fits(message) === false) yield* this.forget(address, of);
        const shown = this.message(address, of);
        yield* shown.complete(message);
        this.open.delete(address);
        return yield { ...of, step: 'message', id: shown.id, message };
      }
      // The call before it counts no more, and the next one has an address of its own, or the same.
      case 'model-retry':
        for (const address of [...this.open.keys()]) yield* this.forgetIn(address, event);
        return yield { step: 'event', event };
      case 'tool-end': {
        const { agent, runPath, tool, callId, message } = event;
        if (event.address !== undefined) this.outputs.delete(event.address);
        return yield { agent, runPath, step: 'result', callId, tool, message };
      }
      case 'run-end':
        yield* this.end();
        return yield { step: 'event', event };
      default:
        return yield { step: 'event', event };
    }
  }

  private message(address: string, of: { readonly agent: string; readonly runPath: readonly string[] }): OpenMessage {
    const known = this.open.get(address);
    if (known !== undefined) return known;
    const tries = this.voids.get(address) ?? 0;
    const made = new OpenMessage(tries === 0 ? address : `${address}~${tries + 1}`, of);
    this.open.set(address, made);
    return made;
  }

  private *forgetIn(
    address: string,
    { agent, runPath }: { readonly agent: string; readonly runPath: readonly string[] },
  ): Generator<ShownStep, void, void> {
    const shown = this.open.get(address);
    if (shown?.isOf(runPath) === true) yield* this.forget(address, { agent, runPath });
  }

  private *forget(address: string, of: { readonly agent: string; readonly runPath: readonly string[] }): Generator<ShownStep, void, void> {
    const shown = this.open.get(address);
    if (shown === undefined || shown.isEmpty) return;
    yield* shown.close();
    this.open.delete(address);
    this.voids.set(address, (this.voids.get(address) ?? 0) + 1);
    yield { ...of, step: 'void', id: shown.id };
  }
}
