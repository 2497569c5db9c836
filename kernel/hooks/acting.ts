import { agentOfPath, nameOfSegment } from '../../contract/record/agent-paths';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import { mcpToolOf } from '../../contract/manifest';
import type { Json, Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import type { ParseInputResult } from '../../contract/record/wire';
import type { AskingPolicy } from '../../contract/decisions';
import type { PolicyPlan } from '../../contract/policies';
import { defined } from '../../contract/defined';
import { specsOf } from '../define/workflow-tools';
import type { AnswerOfSomebody, DecisionOfSomebody, Inside, Eyes, StartedWith, Together, Waivers } from '../define/inside';
import type { AgentEvent, HookContext, InterruptOptions, ModelResponse, ValueStore } from '../define/middleware';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { people } from '../../contract/people';
import { checkedEvent, checkedValue, keptValue, ownValue } from '../effects/kept-values';
import { storedMessage } from '../effects/transcript';
import { askIn } from '../run/interrupts/ask-in-frame';
import { asleep, untilOf } from '../run/interrupts/asleep';
import { ensuredOf, keepEnsured } from '../run/ensured';
import { noteAction } from '../run/place';
import { checkAnswerSchema, checkApproveOptions, checkInterruptOptions } from '../run/interrupts/interrupt-options';
import { atCheckpoint } from '../run/ports';
import type { AgentScope } from '../run/scope';
import type { PendingInterrupt, RunState } from '../run/state';
import { writersOf } from '../run/state';
import { LayerTogether, agreed } from './together';
import { approvalOf, interruptBase, pending, schemaForEdits } from './shown-interrupt';
import { callHidden, callOther } from './hidden-calls';
import { limitOfLate, race } from './race';

type Branches = Parameters<typeof race>[1];
type ModelRequested = Parameters<HookContext['model']>[1];
type ToolActionOptions = Parameters<HookContext['approve']>[1];

export class Acting implements Inside {
  private sessionValues: ValueStore | undefined;
  private runLocalValues: HookContext['runLocal'] | undefined;
  readonly specsOf: Inside['specsOf'] = (tools) => specsOf(this.scope.agent, this.scope.run.manifest, tools) ?? [];

  /** `owner`: the frame of the acting code; a branch of a race has its own. */
  constructor(
    readonly scope: AgentScope,
    readonly frame: Frame,
    private readonly owner: Frame,
    private readonly contextIn: (scope: AgentScope, frame: Frame, owner: Frame) => HookContext,
  ) {}

  get session(): ValueStore {
    const { frame } = this;
    const { state } = this.scope.run;
    return (this.sessionValues ??= {
      get: (key) => this.inAgent('ctx.session.get', () => read(frame, 'session', () => ownValue(state.session, key))),
      set: (key, value) =>
        // The end of the run has already taken the session values.
        this.scope.run.ended
          ? undefined
          : this.inAgent('ctx.session.set', () =>
              frame.once('session', () => void (state.session[key] = keptValue('session', key, value)), nothing),
            ),
    });
  }

  get runLocal(): HookContext['runLocal'] {
    const { frame } = this;
    const { run, path } = this.scope;
    const locals = (): Record<string, Json> => run.runLocal.of(path);
    return (this.runLocalValues ??= {
      get: (key) => this.inRun('ctx.runLocal.get', () => read(frame, 'run-local', () => ownValue(locals(), key))),
      set: (key, value) =>
        this.inRun('ctx.runLocal.set', () =>
          frame.once('run-local', () => void (locals()[key] = keptValue('run-local', key, value)), nothing),
        ),
      delete: (key) => this.inRun('ctx.runLocal.delete', () => frame.once('run-local', () => void delete locals()[key], nothing)),
    });
  }

  sendEvent(event: string | AgentEvent, given?: Json): void {
    const { scope, frame } = this;
    // After the end the log has no readers. An action would still be due, and is refused.
    if (scope.run.ended && (typeof event === 'string' || event.action === undefined)) return;
    this.inRun('ctx.sendEvent', () =>
      frame.once(
        'event',
        () => {
          scope.life.event();
          const { name, data } = eventOf(event, given);
          checkedEvent(name, data);
          scope.run.ports.emit({ type: 'custom', agent: agentOfPath(scope.path), runPath: scope.path, name, data });
          if (typeof event === 'object') noteAction(scope, event.action);
        },
        nothing,
      ),
    );
  }

  ensureMessageId(message: Message): StoredMessage {
    const { scope, frame } = this;
    const kept = this.inAgent('ctx.ensureMessageId', () => read(frame, 'message-id', () => withOwnId(scope, message)));
    // Even for a recalled id.
    if (!frame.isDeaf) keepEnsured(scope, kept);
    return frozen(kept);
  }

  sendToolAction(action: Json): void {
    const { frame } = this;
    if (frame.decision?.act === undefined)
      throw new HoldfastError('hook-failed', 'ctx.sendToolAction belongs into a wrapToolCall: it is about the call that is wrapped.');
    const { act } = frame.decision;
    // Re-entered code must not replace a newer action of an inner layer.
    this.inAgent('ctx.sendToolAction', () => {
      if (frame.isDeaf) return;
      frame.checkIsOpen();
      frame.seen('tool-action', () => {
        act(checkedValue('event', 'action', action));
        return null;
      });
    });
  }

  interrupt<Answer>(info: Json, options: InterruptOptions = {}): Promise<Answer> {
    return this.question(info, options, {}) as Promise<Answer>;
  }

  ask(info: Json, options: InterruptOptions): Promise<AnswerOfSomebody> {
    return this.question(info, options, { tellsWho: true }) as Promise<object> as Promise<AnswerOfSomebody>;
  }

  private question(info: Json, options: InterruptOptions, more: { readonly tellsWho?: true }): Promise<unknown> {
    const { scope, frame } = this;
    const asked = (n: number): PendingInterrupt => {
      checkInterruptOptions(options);
      const shown = {
        ...interruptBase(scope, frame, n, options),
        kind: options.kind ?? 'question',
        info: checkedValue('interrupt', 'info', info),
      } as const;
      const { answerSchema } = options;
      const asking = pending(answerSchema === undefined ? shown : { ...shown, answerSchema }, { ...options, ...more });
      // Code that sees the expiry needs no fitting default.
      checkAnswerSchema(more.tellsWho === true ? { ...defined({ answerSchema }) } : options);
      return asking;
    };
    return this.asking('ctx.interrupt', () => askIn(scope.run, frame, asked, () => scope.life.letGo()));
  }

  approve(call: ToolCall, options: NonNullable<ToolActionOptions> = {}): Promise<unknown> {
    return this.askAbout(call, options, {});
  }

  decide(call: ToolCall, options: NonNullable<ToolActionOptions>, policy?: AskingPolicy): Promise<DecisionOfSomebody> {
    const asked = this.askAbout(call, options, { ...defined({ policy }), tellsWho: true });
    return asked as Promise<object> as Promise<DecisionOfSomebody>;
  }

  get together(): Together {
    return new LayerTogether(this.frame);
  }

  planOf(policy: string, { name: tool, input }: ToolCall): Promise<PolicyPlan> {
    const { scope, frame } = this;
    const { state, ports } = scope.run;
    const run = { id: state.id, agent: agentOfPath(scope.path), ...this.startedWith };
    return this.asking('ctx.approve', () =>
      frame.effect('policy', () => ports.planPolicy(frame.key, { policy, call: { tool, input }, run })),
    );
  }

  private askAbout(
    call: ToolCall,
    options: NonNullable<ToolActionOptions>,
    { policy, tellsWho }: { readonly policy?: AskingPolicy; readonly tellsWho?: true },
  ): Promise<unknown> {
    const { scope, frame, owner } = this;
    const asked = (n: number): PendingInterrupt => {
      checkApproveOptions(options);
      const approval = approvalOf(call, { ...options, ...defined({ policy }) }, schemaForEdits(scope, call.name));
      return pending({ ...interruptBase(scope, frame, n, options), ...approval }, { ...options, ...defined({ tellsWho }) });
    };
    return this.asking('ctx.approve', () =>
      askIn(scope.run, frame, asked, () => scope.life.letGo()).then((answer) => {
        frame.decision?.decided(options);
        // A decided race is not entered again, so its owner keeps the note.
        if (frame.decision !== undefined && frame !== owner) owner.note(agreed, true);
        frame.decision?.agreed(owner.key);
        return answer;
      }),
    );
  }

  parse(tool: string, input: Json): Promise<ParseInputResult> {
    const { scope, frame } = this;
    return this.asking('ctx.parse', () =>
      frame.effect('parse', () => {
        const checked = checkedValue('call', tool, input);
        const own = scope.agent.ownTools.get(tool);
        if (own !== undefined) return Promise.resolve(own.parse(checked));
        return scope.run.ports.parseInput(frame.key, tool, checked, mcpToolOf(scope.run.manifest, tool)?.inputSchema);
      }),
    );
  }

  call(tool: string, input: Json): Promise<unknown> {
    const { scope, frame } = this;
    return this.asking('ctx.call', () =>
      frame.effect(`call:${tool}`, (n) => atCheckpoint(scope.run.ports, () => callHidden(scope, frame.child(`call${n}`), tool, input))),
    );
  }

  model(name: string, request: ModelRequested): Promise<ModelResponse> {
    const { scope, frame } = this;
    return this.asking('ctx.model', () =>
      frame.effect(`model:${name}`, () => atCheckpoint(scope.run.ports, () => callOther(scope, name, request))),
    );
  }

  sleep(duration: string): Promise<void> {
    const { scope, frame } = this;
    const { ports } = scope.run;
    return this.asking('ctx.sleep', () =>
      asleep(
        frame,
        'sleep',
        (n) =>
          ports.sleep(
            frame.key,
            untilOf(frame, n, ports, () => millisecondsOf(duration, 'hook-failed')),
          ),
        () => scope.life.letGo(),
      ),
    );
  }

  race(branches: Branches): ReturnType<typeof race> {
    return this.asking('ctx.race', () => race(this.frame, branches, (inner) => this.branchContext(inner)));
  }

  within(duration: string, act: (ctx: HookContext) => unknown): Promise<unknown> {
    const { scope, frame } = this;
    const branches: Branches = { done: act, late: (ctx) => ctx.sleep(duration) };
    const limit = limitOfLate(frame, scope.run.ports, duration);
    return this.asking('ctx.within', () => race(frame, branches, (inner) => this.branchContext(inner), limit)).then(({ first, value }) =>
      first === 'done' ? value : undefined,
    );
  }

  now(): number {
    return this.inAgent('ctx.now', () => read(this.frame, 'now', () => this.scope.run.ports.now()));
  }

  random(): number {
    return this.inAgent('ctx.random', () => read(this.frame, 'random', () => this.scope.run.ports.random()));
  }

  get waivers(): Waivers {
    const { frame } = this;
    const key = this.scope.path.join('/');
    const { state } = this.scope.run;
    const given = (): readonly string[] => state.waivers?.[key] ?? [];
    const others = (): readonly string[] => waivedElsewhere(state, this.scope.path);
    return {
      has: (name) => frame.once('run-local', () => given().includes(name) || others().includes(name)),
      all: () => frame.once('run-local', () => [...given(), ...others()]),
      add: (name) => frame.once('run-local', () => void (state.waivers = { ...state.waivers, [key]: [...given(), name] })),
    };
  }

  get startedWith(): StartedWith {
    const { values, tags = [], startedBy } = this.scope.run.state;
    return frozen({ values, tags, ...defined({ startedBy }), ...(this.writers.includes(null) ? { hasUnnamedWriter: true } : {}) });
  }

  get eyes(): Eyes {
    return { writers: this.writers.filter((name) => name !== null), people };
  }

  /** Recorded, so re-entered code sees the same people. */
  private get writers(): readonly (string | null)[] {
    const { frame, scope } = this;
    const { state } = scope.run;
    const writers = writersOf(state) ?? [];
    return frame.seen('writers', () => (writers.every((name) => name === state.startedBy) ? [] : writers));
  }

  dropSession(keys: readonly string[]): void {
    const { session } = this.scope.run.state;
    this.frame.once('session', () => {
      for (const key of keys) delete session[key];
    });
  }

  private branchContext(inner: Frame): HookContext {
    return this.contextIn(this.scope, inner, this.owner);
  }

  private inAgent<T>(what: string, act: () => T): T {
    const refusal = this.scope.life.refusalOf(what, this.frame);
    if (refusal !== undefined) throw refusal;
    return act();
  }

  private inRun<T>(what: string, act: () => T): T {
    const { run } = this.scope;
    if (run.ended)
      throw new HoldfastError('outside-run', `${what} failed: it was called outside of a run; run "${run.state.id}" has ended.`);
    return this.inAgent(what, act);
  }

  private asking<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const { life } = this.scope;
    if (this.frame.isDeaf) return new Promise(() => undefined);
    const refusal = life.refusalOf(what, this.frame);
    return life.keep(refusal === undefined ? ask() : Promise.reject(refusal));
  }
}

const nothing = (): void => undefined;

/** After too many refusals code sees the present value. */
function read<T>(frame: Frame, kind: string, look: () => T): T {
  return frame.once(kind, look, look);
}

function eventOf(event: string | AgentEvent, data: Json | undefined): { readonly name: string; readonly data: Json } {
  if (typeof event !== 'object' || event === null) return { name: event, data: data as Json };
  const { name = 'agent-event', ...rest } = event;
  return { name, data: rest as Json };
}

function withOwnId({ run, record, path }: AgentScope, message: Message): StoredMessage {
  const known = record.messages.find(({ id }) => id === (message as Partial<StoredMessage> | null)?.id);
  return storedMessage(
    message,
    known ?? ensuredOf({ run, path }).get((message as Partial<StoredMessage> | null)?.id ?? ''),
    () => run.ports.uuid(),
    'ctx.ensureMessageId',
  );
}

/** Approvals for the rest of the run from another turn, another round of a loop, or a call as a tool. */
function waivedElsewhere({ waivers = {} }: Pick<RunState, 'waivers'>, path: readonly string[]): readonly string[] {
  const own = path.join('/');
  const place = placeOf(path);
  return Object.entries(waivers).flatMap(([key, given]) => (key !== own && placeOf(key.split('/')) === place ? given : []));
}

function placeOf(path: readonly string[]): string {
  return path.map(nameOfSegment).join('/');
}
