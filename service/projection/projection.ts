import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { OpenMessage } from './open-message';
import type { OfAgent, ShownStep } from './steps';

/** Without deltas the texts come in whole pieces. */
export class Projection {
  private readonly open = new Map<string, OpenMessage>();
  /** After each void the next try gets a new id. */
  private readonly voids = new Map<string, number>();
  private readonly outputs = new Map<string, string>();
  private readonly attempts = new Map<string, number>();

  *take(event: RunEvent | Delta): Generator<ShownStep, void, void> {
    if (isDelta(event)) yield* this.delta(event);
    else yield* this.event(event);
  }

  *end(): Generator<ShownStep, void, void> {
    for (const message of this.open.values()) yield* message.close();
    this.open.clear();
  }

  private *delta(delta: Delta): Generator<ShownStep, void, void> {
    const { agent, runPath, address } = delta;
    const of = { agent, runPath };
    switch (delta.type) {
      case 'attempt-start': {
        const known = this.open.get(address);
        if (known !== undefined && this.attempts.get(address) === delta.attempt) return known.repeat();
        this.attempts.set(address, delta.attempt);
        this.outputs.delete(address);
        return yield* this.forget(address, of);
      }
      case 'attempt-void':
      case 'message-replaced':
        this.outputs.delete(address);
        return yield* this.forget(address, of);
      case 'text-delta':
        return yield* this.message(address, of).hear('text', delta.text);
      case 'reasoning-delta':
        return yield* this.message(address, of).hear('reasoning', delta.text);
      case 'tool-input-start':
        return yield* this.message(address, of).beginCall(delta.callId, delta.tool);
      case 'tool-input-delta':
        return yield* this.message(address, of).hearInput(delta.callId, delta.text);
      case 'tool-progress':
        return yield { ...of, step: 'progress', callId: delta.callId, tool: delta.tool, data: delta.data };
      case 'tool-output-delta': {
        if (delta.text === undefined) return;
        const all = (this.outputs.get(address) ?? '') + delta.text;
        this.outputs.set(address, all);
        return yield { ...of, step: 'output', callId: delta.callId, tool: delta.tool, text: delta.text, all };
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
      // The retry may have the void call's address, or a new address.
      case 'model-retry':
        for (const [address, shown] of [...this.open]) if (shown.isOf(event.runPath)) yield* this.forget(address, event);
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

  private message(address: string, of: OfAgent): OpenMessage {
    const known = this.open.get(address);
    if (known !== undefined) return known;
    const tries = this.voids.get(address) ?? 0;
    const made = new OpenMessage(tries === 0 ? address : `${address}~${tries + 1}`, of);
    this.open.set(address, made);
    return made;
  }

  private *forget(address: string, { agent, runPath }: OfAgent): Generator<ShownStep, void, void> {
    const shown = this.open.get(address);
    if (shown === undefined || shown.isEmpty) return;
    yield* shown.close();
    this.open.delete(address);
    this.voids.set(address, (this.voids.get(address) ?? 0) + 1);
    yield { agent, runPath, step: 'void', id: shown.id };
  }
}
