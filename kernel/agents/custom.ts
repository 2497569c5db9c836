import { nthSegment, toolSegment } from '../../contract/plain/agent-paths';
import { HoldfastError } from '../../contract/plain/errors';
import type { Json, Message, StoredMessage } from '../../contract/plain/messages';
import { messagesOfInput, notJson, textOf } from '../../contract/plain/messages';
import { runOptionsOf } from '../../contract/plain/run-options';
import { bareAgent } from '../agent';
import { blame } from '../compose';
import { hookContext } from '../context';
import { checkedEvent } from '../kept-values';
import { frozen } from '../freeze';
import { resultOf } from '../loop';
import { isCancellation } from '../ports';
import type { AgentScope, RunScope } from '../scope';
import { storedMessage } from '../transcript';
import { flowActionOf } from './actions';
import { freshRecord } from './chat';
import { say } from './conversation';
import type { AgentEnd, CustomContext, CustomDefinition, CustomEvent, RanAgent } from './definition';
import type { Place } from './place';
import { inputAt, keyOf } from './place';
import { runAgent } from './run-agent';
import { runApart } from './run-apart';

/**
 * An agent that is made by hand. What it does through its context and what it yields are numbered effects of its frame: entered again
 * after a border it runs from its beginning, gets what has settled, and nothing that it yielded is shown twice.
 */
export async function runCustom(run: RunScope, defined: CustomDefinition, place: Place): Promise<AgentEnd> {
  const { state } = run;
  const label = `agent "${defined.name}"`;
  const key = keyOf(place);
  const agent = bareAgent(defined);
  const options = runOptionsOf(state.options, defined.name);
  const record = (state.agents[key] ??= freshRecord(agent, place.path, inputAt(run, place, defined.name), state));
  const frame = place.frame.child('run', label);
  const scope: AgentScope = { run, agent, options, path: place.path, record, ...(place.lane === undefined ? {} : { lane: place.lane }) };
  const shown = new Shown(scope, label);
  try {
    const open = new Map<Promise<unknown>, string>();
    const ctx = contextOf(scope, defined, place, frame, open);
    const generator = defined.run({ messages: frozen(record.messages), streaming: state.stream, options: options.custom ?? {} }, ctx);
    if (typeof (generator as { next?: unknown } | undefined)?.next !== 'function')
      throw new HoldfastError('hook-failed', `run of ${label} is no async generator; write: async *run(input, ctx) { … }.`);
    for (;;) {
      const border = run.ports.border();
      if (border !== undefined) await border;
      const next = await generator.next();
      if (next.done === true) {
        const [left] = open.values();
        if (left !== undefined)
          throw new HoldfastError(
            'next-left-running',
            `${label} ended while ctx.runAgent("${left}") was still running. Await every agent that it runs.`,
          );
        const end = shown.end(next.value);
        frame.close();
        return end;
      }
      const event = next.value;
      shown.take(frame.once('event', () => shown.show(event)));
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    frame.abandon();
    throw blame(error, label);
  }
}

/** What an event came to; recorded, so that it comes to the same when the agent is entered again. */
interface ShownEvent {
  readonly text?: string;
  readonly action?: Json;
}

/** What the agent has shown, and what it therefore ends with. */
class Shown {
  private count = 0;
  private text = '';
  private action: Json | undefined;

  constructor(
    private readonly scope: AgentScope,
    private readonly label: string,
  ) {}

  show(event: CustomEvent): ShownEvent {
    const { run, agent, path, lane } = this.scope;
    if (typeof event !== 'object' || (event as unknown) === null)
      throw new HoldfastError(
        'hook-failed',
        `${this.label} yielded ${typeof event}; an event is an object with message, output, action or error.`,
      );
    const { message, output, action, error, name = 'agent-event' } = event;
    if (error !== undefined) throw new HoldfastError('agent-failed', `${this.label} failed: ${String(error)}`);
    const acted = action;
    const problem = notJson(acted ?? null) ?? notJson(output ?? null);
    if (problem !== undefined) throw new HoldfastError('value-not-json', `An event of ${this.label} is not JSON: ${problem}.`);
    const about = { agent: agent.name, runPath: path };
    const withAction = acted === undefined ? {} : { action: acted };
    if (message === undefined) {
      const data = { ...(output === undefined ? {} : { output }), ...withAction };
      checkedEvent(name, data);
      run.ports.emit({ type: 'custom', ...about, name, data });
      return withAction;
    }
    const stored: StoredMessage = storedMessage(message, undefined, () => run.ports.uuid(), `A message of ${this.label}`);
    run.ports.emit({ type: 'agent-message', ...about, message: stored, ...withAction });
    if (lane !== undefined) say(run, lane, agent.name, stored);
    return { text: stored.role === 'tool' ? resultOf(stored).text : textOf(stored), ...withAction };
  }

  take({ text, action }: ShownEvent): void {
    this.count += 1;
    if (text !== undefined) this.text = text;
    if (action !== undefined) this.action = action;
  }

  /** What it returns, else the text of what it said last. */
  end(returned: Json | void): AgentEnd {
    const problem = returned === undefined ? undefined : notJson(returned);
    if (problem !== undefined) throw new HoldfastError('value-not-json', `${this.label} returned something that is not JSON: ${problem}.`);
    const output = returned === undefined ? this.text : returned;
    const action = flowActionOf(this.action);
    return {
      output,
      text: this.text === '' && typeof output === 'string' ? output : this.text,
      ...(action === undefined ? {} : { action }),
      ...(this.count === 0 && returned === undefined ? { silent: true } : {}),
    };
  }
}

function contextOf(
  scope: AgentScope,
  defined: CustomDefinition,
  place: Place,
  frame: Place['frame'],
  open: Map<Promise<unknown>, string>,
): CustomContext {
  const { run } = scope;
  const times = new Map<string, number>();
  const start = (name: string, segment: string, input: string | readonly Message[] | undefined): Promise<AgentEnd> => {
    const agent = defined.agents.find((one) => one.name === name);
    if (agent === undefined) {
      const known = defined.agents.map((one) => `"${one.name}"`).join(', ') || 'no agents';
      throw new HoldfastError('agent-unknown', `ctx.runAgent("${name}"): agent "${defined.name}" has ${known}.`);
    }
    const at = { path: [...place.path, segment], frame: frame.child(segment) };
    if (input === undefined && place.lane !== undefined) return runAgent(run, agent, { ...at, lane: place.lane });
    const messages = input === undefined ? scope.record.messages : messagesOfInput(input as Json);
    if (messages === undefined) throw new HoldfastError('input-invalid', `ctx.runAgent("${name}") takes a text or a list of messages.`);
    return runApart(run, agent, at, () =>
      input === undefined ? messages : messages.map((message) => ({ ...message, id: run.ports.uuid() })),
    );
  };
  // An agent that is asked something of its own is no part of the conversation that readers see, and has a place that says so.
  const isApart = (input: unknown): boolean => input !== undefined || place.lane === undefined;
  return Object.assign(hookContext(scope, frame) as CustomContext, {
    runAgent: (name: string, input?: string | readonly Message[]): Promise<RanAgent> => {
      // Counted also where the result is only recalled: the same call has the same place every time.
      const n = (times.get(name) ?? 0) + 1;
      times.set(name, n);
      const running = frame.effect(`agent:${name}`, async () => {
        const { output, text, action } = await start(name, isApart(input) ? toolSegment(name, n, true) : nthSegment(name, n), input);
        return { output, text, ...(action === undefined ? {} : { action }) };
      });
      const settled = (): void => void open.delete(running);
      open.set(running, name);
      running.then(settled, settled);
      return running;
    },
  });
}
