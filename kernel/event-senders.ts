import type { Json, Message } from '../contract/plain/messages';
import { numbered } from './classic-middleware';
import type { AgentMiddleware } from './middleware';
import type { RunState } from './state';

const senderMark = Symbol.for('holdfast.event-sender');

type Sent = 'model' | 'tool';

/**
 * Says at which place of the list an answer of the model is shown: `model-end` has what passes there. Without it the answer is shown
 * as it comes out of all wraps.
 */
export function eventSenderModelWrapper(): AgentMiddleware {
  return sender('model', { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) });
}

/** The same for the result of a tool and `tool-end`. A call that fails is shown with its error, wherever the sender stands. */
export function eventSenderToolWrapper(): AgentMiddleware {
  return sender('tool', { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) });
}

export function isEventSender(middleware: AgentMiddleware, sent: Sent): boolean {
  return (middleware as unknown as Record<symbol, unknown>)[senderMark] === sent;
}

function sender(sent: Sent, middleware: AgentMiddleware): AgentMiddleware {
  return Object.assign(numbered(middleware), { [senderMark]: sent });
}

/** What layers inside of a call left for its event. */
export interface Passed {
  readonly message?: Message;
  readonly output?: Json;
  readonly action?: Json;
}

/** Keeps it in the state of the run: a layer that has ended is not entered again after a border. Of several passes the last one counts. */
export class PassedThere {
  constructor(
    private readonly state: RunState,
    private readonly address: string,
  ) {}

  get what(): Passed {
    return this.state.passed?.[this.address] ?? {};
  }

  keep(passed: Passed): void {
    this.state.passed = { ...this.state.passed, [this.address]: { ...this.what, ...passed } };
  }

  /** Gives what was kept, which nobody needs any more. */
  take(): Passed {
    const { [this.address]: passed = {}, ...rest } = this.state.passed ?? {};
    if (Object.keys(rest).length > 0) this.state.passed = rest;
    else delete this.state.passed;
    return passed;
  }
}
