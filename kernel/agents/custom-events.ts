import { shown } from '../../contract/shown';
import { anything, checkFields, isRecord, refusing } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { notJson, textOf, textOfJson } from '../../contract/messages/messages';
import { checkedEvent } from '../effects/kept-values';
import type { AgentScope } from '../run/scope';
import { storedMessage } from '../effects/transcript';
import { actionProblem, flowActionOf } from '../define/actions';
import { append } from '../run/conversation';
import type { AgentEnd, CustomEvent } from '../define/definition';
import { resultOf } from '../run/agent-result';

/** Recorded by the frame, so a re-entered agent has the same outcome. */
interface ShownEvent {
  readonly text?: string;
  readonly action?: Json;
}

const forms = { message: anything, output: anything, action: anything, error: anything, name: anything };

export class Shown {
  private count = 0;
  private text = '';
  private action: Json | undefined;

  constructor(
    private readonly scope: AgentScope,
    private readonly label: string,
  ) {}

  show(event: CustomEvent): ShownEvent {
    const { run, agent, path, branch } = this.scope;
    const { label } = this;
    const { message, output, action, error, name = 'agent-event' } = this.checked(event);
    if (error !== undefined) throw new HoldfastError('agent-failed', `${label} failed: ${messageOf(error)}`);
    const about = { agent: agent.name, runPath: path };
    const withAction = action === undefined ? {} : { action };
    const stored = message === undefined ? undefined : storedMessage(message, undefined, () => run.ports.uuid(), `A message of ${label}`);
    if (stored === undefined || output !== undefined) {
      const data = { ...defined({ output }), ...(stored === undefined ? withAction : {}) };
      checkedEvent(name, data, ` of ${label}`);
      run.ports.emit({ type: 'custom', ...about, name, data });
    }
    if (stored === undefined) return withAction;
    run.ports.emit({ type: 'agent-message', ...about, message: stored, ...withAction });
    if (branch !== undefined) append(run, branch, agent.name, stored);
    return { text: stored.role === 'tool' ? resultOf(stored).text : textOf(stored), ...withAction };
  }

  private checked(event: CustomEvent): CustomEvent {
    const refuse = refusing(`An event of ${this.label}`, 'hook-failed');
    const yielded: unknown = event;
    if (!isRecord(yielded)) return refuse(`it must be an object with message, output, action or error, not ${shown(yielded)}.`);
    const given = defined(yielded);
    checkFields(given, forms, refuse);
    if (Object.keys(given).length === 0) refuse('there is nothing in it.');
    const { output, action } = event;
    const found = notJson(action ?? null) ?? notJson(output ?? null);
    if (found !== undefined) throw new HoldfastError('value-not-json', `An event of ${this.label} is not JSON: ${found}.`);
    const unfit = action === undefined ? undefined : actionProblem(action);
    if (unfit !== undefined) throw new HoldfastError('hook-failed', `${this.label} yielded an action that is none: ${unfit}.`);
    return event;
  }

  take({ text, action }: ShownEvent): void {
    this.count += 1;
    if (text !== undefined) this.text = text;
    if (action !== undefined) this.action = action;
  }

  /** Other agents see the returned text of an agent without messages. */
  sayReturned(text: string): void {
    const { run, agent, path, branch } = this.scope;
    if (branch === undefined || text === '' || this.text !== '') return;
    // Derived from the place: an additional uuid would change all later uuids in recorded runs.
    append(run, branch, agent.name, { id: `${path.join('/')}:returned`, role: 'assistant', parts: [{ type: 'text', text }] });
  }

  end(returned: Json | void): AgentEnd {
    const problem = returned === undefined ? undefined : notJson(returned);
    if (problem !== undefined) throw new HoldfastError('value-not-json', `${this.label} returned something that is not JSON: ${problem}.`);
    const output = returned === undefined ? this.text : returned;
    const action = flowActionOf(this.action);
    return {
      output,
      text: this.text === '' ? textOfJson(output ?? '') : this.text,
      ...defined({ action }),
      ...(this.count === 0 && returned === undefined ? { silent: true } : {}),
    };
  }
}
