import type { AgentPath } from '../../contract/record/agent-paths';
import { agentOfPath } from '../../contract/record/agent-paths';
import { hiddenModelCall } from '../../contract/record/call-addresses';
import { placeInRoot } from '../../contract/record/child-runs';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { ToolFacts } from '../../contract/manifest';
import { toolFactsOf } from '../../contract/manifest';
import type { Json, Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import { isOthers } from '../run/conversation';
import { asleep, untilOf } from '../run/asleep';
import type { Frame } from '../effects/frames';
import type { CallsBeside } from '../effects/tool-decision';
import { frozen } from '../effects/freeze';
import { checkAnswerSchema, checkApproveOptions, checkInterruptOptions } from '../run/interrupt-options';
import { openIn } from '../run/asking';
import { checkedEvent, checkedValue, keptValue, ownValue } from '../effects/kept-values';
import { madeWhenUsed } from './made-when-used';
import type { AgentEvent, AgentMiddleware, HookContext, InterruptOptions, ModelResponse, Tools } from '../define/middleware';
import { callModelOnce, requestSlots } from '../calls/model-call';
import { behindBorder } from '../run/ports';
import { optionsOfTool } from '../run/run-options';
import { approvalOf, interruptBase, pending } from './asked';
import { race, within } from './race';
import type { AgentScope } from '../run/scope';
import { callToolOnce } from '../calls/tool-call';
import { callNamed, toolNamed } from '../run/tool-names';
import { storedMessage, storedMessages } from '../effects/transcript';
import { noteAction } from '../run/flow';
import { ensuredOf, keepEnsured } from '../run/ensured';
import { agreed } from './agreed';

/**
 * What a hook or a wrap gets to act with. Each thing it does is a numbered effect of its frame. It is made for each call of each hook, and
 * most hooks look at little of it or nothing.
 */
export function hookContext(scope: AgentScope, frame: Frame, owner = frame): HookContext {
  const { life } = scope;
  const context = madeWhenUsed(() => {
    waivers.set(context, waiversFor(scope, frame));
    insides.set(context, {
      path: placeInRoot(scope.run.state.parent, scope.path),
      isOthers: (message) => isOthers(scope.run.state, message),
      facts: (tool) => toolFactsOf(scope.run.manifest, tool),
      middleware: scope.agent.middleware,
      answer: () => life.answer,
      named: (written) => toolNamed(scope, written),
      call: (written) => callNamed(scope, written),
      beside: frame.decision?.beside,
      dropSession: (keys) =>
        frame.once('session', () => {
          for (const key of keys) delete scope.run.state.session[key];
        }),
    });
    return contextOf(scope, frame, owner);
  });
  return context;
}

/** `owner`: the frame of the code that acts. A branch of a race has one of its own, which ends with the race. */
function contextOf(scope: AgentScope, frame: Frame, owner: Frame): HookContext {
  const { run, path, record, life } = scope;
  const { state, ports } = run;
  const agent = agentOfPath(path);
  const locals = (): Record<string, Json> => run.runLocal.of(path);
  const inAgent = <T>(what: string, act: () => T): T => {
    const refusal = life.refusalOf(what);
    if (refusal !== undefined) throw refusal;
    return act();
  };
  const inRun = <T>(what: string, act: () => T): T => {
    if (run.ended) throw new HoldfastError('outside-run', `${what} failed: it was called outside of a run; run "${state.id}" has ended.`);
    return inAgent(what, act);
  };
  const branchContext = (inner: Frame): HookContext => hookContext(scope, inner, owner);
  const letGo = (): void => life.letGo();
  const asking = <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    if (frame.isDeaf || life.isDeaf) return new Promise(() => undefined);
    const refusal = life.refusalOf(what);
    return life.keep(refusal === undefined ? ask() : Promise.reject(refusal));
  };
  return {
    agent,
    runPath: path,
    runId: state.id,
    get values() {
      return frozen(withoutPrototype(record.values));
    },
    get usage() {
      return frame.seen('usage', () => frozen(state.usage));
    },
    get lastAnswer() {
      return record.answered;
    },
    language: run.manifest.language,
    get iteration() {
      return record.turn;
    },
    get userMessage() {
      const said = record.messages.filter(({ role }) => role === 'user').at(-1);
      return said === undefined ? '' : textOf(said);
    },
    session: {
      get: (key) => inAgent('ctx.session.get', () => read(frame, 'session', () => ownValue(state.session, key))),
      set: (key, value) =>
        inAgent('ctx.session.set', () =>
          frame.once('session', () => void (state.session[key] = keptValue('session', key, value)), nothing),
        ),
    },
    runLocal: {
      get: (key) => inRun('ctx.runLocal.get', () => read(frame, 'run-local', () => ownValue(locals(), key))),
      set: (key, value) =>
        inRun('ctx.runLocal.set', () => frame.once('run-local', () => void (locals()[key] = keptValue('run-local', key, value)), nothing)),
      delete: (key) => inRun('ctx.runLocal.delete', () => frame.once('run-local', () => void delete locals()[key], nothing)),
    },
    sendEvent: (event: string | AgentEvent, given?: Json) =>
      inRun('ctx.sendEvent', () =>
        frame.once(
          'event',
          () => {
            life.event();
            const { name, data } = eventOf(event, given);
            checkedEvent(name, data);
            ports.emit({ type: 'custom', agent, runPath: path, name, data });
            if (typeof event === 'object') noteAction(scope, event.action);
          },
          nothing,
        ),
      ),
    ensureMessageId: (message) => {
      const kept = inAgent('ctx.ensureMessageId', () => read(frame, 'message-id', () => withOwnId(scope, message)));
      // Also what is recalled: snapshots of 0.1.0 have the effect alone.
      if (!frame.isDeaf) keepEnsured(scope, kept);
      return frozen(kept);
    },
    sendToolAction: (action) => {
      if (frame.decision?.act === undefined)
        throw new HoldfastError('hook-failed', 'ctx.sendToolAction belongs into a wrapToolCall: it is about the call that is wrapped.');
      const { act } = frame.decision;
      // What a layer inside of this one has said since is not said over again by code that is entered again.
      inAgent('ctx.sendToolAction', () => {
        if (frame.isDeaf) return;
        frame.checkIsOpen();
        frame.seen('tool-action', () => {
          act(checkedValue('event', 'action', action));
          return null;
        });
      });
    },
    interrupt: <Answer>(info: Json, options: InterruptOptions = {}) =>
      asking(
        'ctx.interrupt',
        () =>
          frame.effect('interrupt', (n) => {
            checkInterruptOptions(options);
            const shown = {
              ...interruptBase(scope, frame, n, options),
              kind: options.kind ?? 'question',
              info: checkedValue('interrupt', 'info', info),
            } as const;
            const { answerSchema } = options;
            const asked = pending(answerSchema === undefined ? shown : { ...shown, answerSchema }, options);
            checkAnswerSchema(options);
            return openIn(run, frame, n, asked, letGo);
          }) as Promise<Answer>,
      ),
    approve: (call, options = {}) =>
      asking('ctx.approve', () =>
        frame
          .effect('interrupt', (n) => {
            checkApproveOptions(options);
            const asked = pending({ ...interruptBase(scope, frame, n, options), ...approvalOf(call, options.problem) }, options);
            return openIn(run, frame, n, asked, letGo);
          })
          .then((answer) => {
            // A branch is not entered again once its race is decided: what its owner may hand on is kept there.
            if (frame.decision !== undefined && frame !== owner) owner.note(agreed, true);
            frame.decision?.agreed(owner.key);
            return answer;
          }),
      ),
    parse: (tool, input) =>
      asking('ctx.parse', () =>
        frame.effect('parse', () => {
          const checked = checkedValue('call', tool, input);
          const own = scope.agent.ownTools.get(tool);
          return own === undefined ? ports.parseInput(tool, checked) : Promise.resolve(own.parse(checked));
        }),
      ),
    call: ((tool: string, input: Json) =>
      asking('ctx.call', () =>
        frame.effect(`call:${tool}`, (n) => behindBorder(ports, () => callHidden(scope, frame.child(`call${n}`), tool, input))),
      )) as HookContext<Tools>['call'],
    model: (name, request) =>
      asking('ctx.model', () => frame.effect(`model:${name}`, () => behindBorder(ports, () => callOther(scope, name, request)))),
    sleep: (duration) =>
      asking('ctx.sleep', () =>
        asleep(frame, 'sleep', (n) => ports.sleep(untilOf(frame, n, ports, () => millisecondsOf(duration, 'hook-failed'))), letGo),
      ),
    race: ((branches: Parameters<typeof race>[1]) => asking('ctx.race', () => race(frame, branches, branchContext))) as HookContext['race'],
    within: ((duration: string, act: (ctx: HookContext) => unknown) =>
      asking('ctx.within', () => within(frame, ports, duration, act, branchContext)).then(({ first, value }) =>
        first === 'done' ? value : undefined,
      )) as HookContext['within'],
    now: () => inAgent('ctx.now', () => read(frame, 'now', () => ports.now())),
    random: () => inAgent('ctx.random', () => read(frame, 'random', () => ports.random())),
  };
}

const nothing = (): void => undefined;

/** Something that code looks at. Code that is over, and was told so often enough, sees what is there. */
function read<T>(frame: Frame, kind: string, look: () => T): T {
  return frame.once(kind, look, look);
}

function eventOf(event: string | AgentEvent, data: Json | undefined): { readonly name: string; readonly data: Json } {
  if (typeof event !== 'object' || event === null) return { name: event, data: data as Json };
  const { name = 'agent-event', ...rest } = event;
  return { name, data: rest as Json };
}

/** A message of the transcript keeps its id; another one gets one, whatever it has. */
function withOwnId({ run, record, path }: AgentScope, message: Message): StoredMessage {
  const known = record.messages.find(({ id }) => id === (message as Partial<StoredMessage> | null)?.id);
  return storedMessage(
    message,
    known ?? ensuredOf({ run, path }).get((message as Partial<StoredMessage> | null)?.id ?? ''),
    () => run.ports.uuid(),
    'ctx.ensureMessageId',
  );
}

/** What a person approved for the rest of the run. */
export interface Waivers {
  has(name: string): boolean;
  add(name: string): void;
}

interface Inside {
  readonly path: AgentPath;
  readonly isOthers: (message: { readonly id?: string }) => boolean;
  readonly facts: (tool: string) => ToolFacts;
  readonly middleware: readonly AgentMiddleware[];
  readonly answer: () => StoredMessage | undefined;
  readonly named: (written: string) => string;
  readonly call: (written: ToolCall) => ToolCall;
  readonly beside: (() => CallsBeside) | undefined;
  dropSession(keys: readonly string[]): void;
}

const insides = new WeakMap<HookContext, Inside>();

function insideOf(context: HookContext): Inside | undefined {
  // The run knows a context from when it was first looked at.
  Reflect.has(context, 'call');
  return insides.get(context);
}

/** What the worker knew about a tool when the run began. For middlewares of this house, like what follows. */
export function factsOfTool(context: HookContext, tool: string): ToolFacts | undefined {
  return insideOf(context)?.facts(tool);
}

/** The middlewares of the agent. */
export function middlewareIn(context: HookContext): readonly AgentMiddleware[] {
  return insideOf(context)?.middleware ?? [];
}

/** The result of a tool with which the agent ends, wherever it stands among the messages. Nothing: it ends with an answer. */
export function directAnswerIn(context: HookContext): StoredMessage | undefined {
  return insideOf(context)?.answer();
}

/**
 * The tool that a call or a result in the messages belongs to: the model may have written an alias. A name that no tool of the agent has
 * stays as it is.
 */
export function toolNameIn(context: HookContext, written: string): string {
  return insideOf(context)?.named(written) ?? written;
}

/** A call of the messages by the name of its tool and the tool's own keys, whatever aliases the model wrote. */
export function toolCallIn(context: HookContext, { id, name, input }: Pick<ToolCall, 'id' | 'name' | 'input'>): ToolCall {
  const call = { id, name, input };
  return insideOf(context)?.call(call) ?? call;
}

export function toolCallsIn(context: HookContext, message: Message): readonly ToolCall[] {
  return toolCallsOf(message).map((call) => toolCallIn(context, call));
}

/**
 * Where the agent stands in the run that somebody started. By this a middleware names what it keeps among the session values for the agent
 * at its place: that of an isolated agent has the same name there and in its own run, and two of them never share one.
 */
export function placeOf(context: HookContext): AgentPath {
  return insideOf(context)?.path ?? context.runPath;
}

/** Whether a message is what the agent was told of the words of another one. */
export function isWordOfOthers(context: HookContext, message: { readonly id?: string }): boolean {
  return insideOf(context)?.isOthers(message) === true;
}

/** In a wrap of a tool call: the calls of the same message. Calls come to a wrap in whatever order; here they have that of the model. */
export function callsBeside(context: HookContext): CallsBeside | undefined {
  return insideOf(context)?.beside?.();
}

/** Takes session values back that are nobody's any more. */
export function dropSession(context: HookContext, keys: readonly string[]): void {
  insideOf(context)?.dropSession(keys);
}

const waivers = new WeakMap<HookContext, Waivers>();

/** Only the approval asks for these: what a hook stores under whatever key never stands for a person's word. */
export function waiversOf(context: HookContext): Waivers {
  // The run knows a context from when it was first looked at.
  Reflect.has(context, 'approve');
  const found = waivers.get(context);
  if (found === undefined)
    throw new HoldfastError(
      'outside-run',
      'An approval needs the context that the run gave, and got another one: a copy of it, or one of a second copy of Holdfast in the bundle.',
    );
  return found;
}

// The effects keep the kind that they had when waivers were run-local values: open frames find theirs again.
function waiversFor({ run: { state }, path }: AgentScope, frame: Frame): Waivers {
  const key = path.join('/');
  const given = (): readonly string[] => state.waivers?.[key] ?? [];
  return {
    has: (name) => frame.once('run-local', () => given().includes(name)),
    add: (name) => frame.once('run-local', () => void (state.waivers = { ...state.waivers, [key]: [...given(), name] })),
  };
}

async function callHidden(scope: AgentScope, frame: Frame, tool: string, input: Json): Promise<unknown> {
  const { run, path, record } = scope;
  if (!Object.hasOwn(run.manifest.tools, tool)) throw new HoldfastError('tool-unknown', `ctx.call("${tool}"): no worker has this tool.`);
  if (run.manifest.tools[tool]?.external === true)
    throw new HoldfastError('tool-unknown', `ctx.call("${tool}"): the tool is external; no worker runs it.`);
  const address = `${path.join('/')}/t${record.turn}/call.${tool}`;
  const key = frame.address.join('/');
  const done = await callToolOnce(scope, frame, {
    address,
    key,
    call: { id: key, name: tool, input: checkedValue('call', tool, input), ...optionsOfTool(scope, tool) },
    hidden: true,
  });
  return done.output;
}

function callOther(scope: AgentScope, name: string, request: Parameters<HookContext['model']>[1]): Promise<ModelResponse> {
  const { run, path, record } = scope;
  const address = run.uniqueAddress(`${path.join('/')}/t${record.turn}/ctx.model`);
  const messages = storedMessages(request.messages, record.messages, () => run.ports.uuid(), 'ctx.model');
  const { catalog } = request;
  const { ownTools } = scope.agent;
  const missing = catalog?.find((tool) => !Object.hasOwn(run.manifest.tools, tool) && !ownTools.has(tool));
  if (missing !== undefined)
    throw new HoldfastError('tool-unknown', `ctx.model: the catalog names the tool "${missing}", which no worker has.`);
  const slots = requestSlots(scope.agent, {
    instructions: request.instructions ?? '',
    tools: [],
    model: name,
    settings: request.settings,
    retries: request.retry === false ? 'kernel' : undefined,
    specs: catalog?.flatMap((tool) => ownTools.get(tool)?.spec ?? []),
    catalog,
  });
  return callModelOnce(scope, { address, path: [...path, hiddenModelCall], messages, slots });
}

/** Reading a key that nobody set gives nothing, also for the names that every object has. */
function withoutPrototype<T extends object>(values: T): T {
  return Object.assign(Object.create(null) as T, values);
}
