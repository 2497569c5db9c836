import { defined } from '../../contract/defined';
import type { Interrupt } from '../../contract/interrupts';
import { isInterrupt } from '../../contract/interrupts';
import type { StoredMessage } from '../../contract/messages/messages';
import { interruptMemoPrefix, runIdOf } from '../../contract/names';
import { agentOfPath } from '../../contract/record/agent-paths';
import { HistoryFold } from '../../contract/record/fold';
import type { HistoryFact } from '../../contract/record/history-fact';
import type {
  AgentRunInput,
  CallModelInput,
  CallToolInput,
  RunLocalChange,
  RunLocalEdit,
  StartInput,
  StoredRequest,
} from '../../contract/record/wire';
import type { ReplayedEvent } from './replayed-events';

type StepKind = 'model' | 'tool' | 'activity' | 'interrupt' | 'sleep' | 'agent' | 'end';

/** A request to a model, a tool, a person, the time or an isolated agent, or the end of the run. */
export interface Step {
  readonly kind: StepKind;
  readonly address: string;
  /** Unique in the run, and equal at each replay. */
  readonly key: string;
  readonly agent: string;
  readonly task: number;
  readonly time: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A task may begin up to this much earlier than its code ran. */
const nearMs = 1500;
/** A timer of a millisecond only begins another task. */
const anotherTaskMs = 1;

export function stepsOf(events: readonly ReplayedEvent[]): readonly Step[] {
  const reader = new StepReader();
  for (const event of events) reader.add(event);
  return reader.steps;
}

class StepReader {
  readonly steps: Step[] = [];
  private readonly fold = new HistoryFold();
  private readonly deadlines: number[] = [];
  private readonly counts = new Map<string, number>();
  private agent = '';
  private last = '';

  add(event: ReplayedEvent): void {
    const { fact, other, childInput, timerMs } = event;
    if (fact !== undefined) this.addFact(fact, event);
    if (timerMs !== undefined) this.addTimer(timerMs, event);
    if (childInput !== undefined) this.addChild(event);
    if (other !== undefined) this.push(event, 'activity', this.last, other, { activity: other });
  }

  private addFact(fact: HistoryFact, event: ReplayedEvent): void {
    if (fact.kind === 'start') this.begin(fact.input);
    this.fold.add(fact);
    switch (fact.kind) {
      case 'model-scheduled':
        return this.addModel(fact.activityId, fact.input, event);
      case 'tool-scheduled':
        this.push(event, 'tool', fact.activityId, fact.activityId, toolFields(fact.input), agentOfPath(fact.input.path));
        this.last = fact.activityId;
        return;
      case 'memo':
        for (const [key, value] of Object.entries(fact.values))
          if (key.startsWith(interruptMemoPrefix) && isInterrupt(value)) this.addInterrupt(value, event);
        return;
      case 'continued':
        return this.push(event, 'end', this.agent, fact.kind, { end: 'continue-as-new' });
      case 'end': {
        const { status, result, error } = fact;
        const fields = defined({ output: result?.output, 'pending tool calls': result?.pendingToolCalls, error });
        return this.push(event, 'end', this.agent, status, { end: status, ...fields });
      }
      default:
        return;
    }
  }

  private begin({ start, snapshot }: AgentRunInput): void {
    this.agent = start?.agent ?? '';
    this.last = this.agent;
    const { interrupts = [] } = (snapshot?.state ?? {}) as { interrupts?: readonly { readonly shown: Interrupt }[] };
    this.deadlines.push(...interrupts.flatMap(({ shown }) => shown.deadline ?? []));
  }

  private addModel(address: string, input: CallModelInput, event: ReplayedEvent): void {
    const request = this.fold.requestOf(address) ?? { messages: [], slots: {} };
    this.push(event, 'model', address, address, modelFields(request, input), agentOfPath(input.path));
    this.last = address;
  }

  private addInterrupt(interrupt: Interrupt, event: ReplayedEvent): void {
    const { id, address, agent, deadline, ...rest } = interrupt;
    if (deadline !== undefined) this.deadlines.push(deadline);
    const { input, inputHash: _, callId: __, inputSchema: ___, info, ...asked } = rest as Record<string, unknown>;
    this.push(event, 'interrupt', address.join('/'), id, { ...asked, ...defined({ deadline, arguments: input, info }) }, agent);
  }

  /** The deadline of an interrupt covers its timer. */
  private addTimer(ms: number, event: ReplayedEvent): void {
    const end = event.time + ms;
    if (ms === anotherTaskMs || this.deadlines.some((deadline) => Math.abs(deadline - end) <= nearMs)) return;
    this.push(event, 'sleep', this.last, '', { length: ms });
  }

  private addChild(event: ReplayedEvent): void {
    const { workflowId } = event.event.startChildWorkflowExecutionInitiatedEventAttributes ?? {};
    const { start } = event.childInput as { readonly start?: Partial<StartInput> };
    const { version: _, tenant: __, id: ___, parent: ____, by: _____, roles: ______, proof: _______, ...asked } = start ?? {};
    const address = runIdOf(workflowId ?? '');
    this.push(event, 'agent', address, address, asked, start?.agent);
  }

  private push(
    { task, time }: ReplayedEvent,
    ...[kind, address, name, fields, agent = this.agent]: readonly [StepKind, string, string, Step['fields'], string?]
  ): void {
    const key = `${kind} ${name}`;
    const nth = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, nth);
    this.steps.push({ kind, address, agent, key: `${key} ${nth}`, task, time, fields });
  }
}

/** Stream mode and retries may change with the version of Holdfast. */
function modelFields({ messages, slots }: StoredRequest, { runLocal }: CallModelInput): Step['fields'] {
  const { instructions, model, tools, settings, workerMiddleware, output, specs, deferred, catalog, final } = slots;
  return present({
    model,
    instructions,
    tools,
    settings,
    output,
    'worker middleware': workerMiddleware,
    'workflow tools': specs,
    'deferred tools': deferred,
    'catalog of tools': catalog,
    'final request': final,
    'run-local values': changeIn(runLocal),
    messages: messages.map(withoutId),
  });
}

function toolFields({ tool, input, options, workerMiddleware, runLocal, reconcile, resumed }: CallToolInput): Step['fields'] {
  const asked = {
    tool,
    arguments: input,
    options,
    'worker middleware': workerMiddleware,
    'run-local values': changeIn(runLocal),
    reconcile,
  };
  return present({ ...asked, answer: resumed?.answer });
}

function changeIn(edit: RunLocalEdit | undefined): RunLocalChange | undefined {
  const { set, delete: gone } = edit ?? {};
  return set === undefined && gone === undefined ? undefined : defined({ set, delete: gone });
}

function withoutId({ id: _, ...message }: StoredMessage): Omit<StoredMessage, 'id'> {
  return message;
}

function present(fields: Readonly<Record<string, unknown>>): Step['fields'] {
  const isEmpty = (value: unknown): boolean => value == null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => key === 'messages' || !isEmpty(value)));
}
