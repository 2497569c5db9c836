import type { AgentPath } from '../../contract/record/agent-paths';
import { agentOfPath } from '../../contract/record/agent-paths';
import { placeInRoot } from '../../contract/record/child-runs';
import type { Language, Manifest, ToolFacts } from '../../contract/manifest';
import { toolFactsOf } from '../../contract/manifest';
import type { Json, Message, StoredMessage, ToolCall, Usage } from '../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import type { Inside } from '../define/inside';
import { inside } from '../define/inside';
import type { HookContext, LastAnswer, ValueStore } from '../define/middleware';
import { traitsOf } from '../define/traits';
import type { Frame } from '../effects/frames';
import type { CallsBeside } from '../effects/tool-decision';
import { frozen } from '../../contract/freeze';
import { isOthers } from '../run/conversation';
import type { AgentScope } from '../run/scope';
import { callNamed, toolNamed } from '../run/tool-names';
import { Acting } from './acting';

/** The context of a hook or wrap. Each call of each hook has a context, and most hooks use little of it, so members are made when they are read. */
export function hookContext(scope: AgentScope, frame: Frame, owner = frame): HookContext {
  return new RunContext(new Acting(scope, frame, owner, hookContext)) as object as HookContext;
}

/** Methods are getters of bound functions, because hooks may destructure a context. */
class RunContext implements Omit<HookContext, Deed> {
  readonly #acting: Acting;

  constructor(acting: Acting) {
    this.#acting = acting;
  }

  /** Of the context itself, or of its prototype after Object.create. */
  static actingOf(context: object): Acting {
    let at = context;
    while (!(#acting in at)) at = Object.getPrototypeOf(at) as object;
    return at.#acting;
  }

  /** A copy of a context has none. */
  get [inside](): Inside | undefined {
    return #acting in this ? this.#acting : undefined;
  }

  get agent(): string {
    return agentOfPath(actingOf(this).scope.path);
  }

  get runPath(): readonly string[] {
    return actingOf(this).scope.path;
  }

  get placeInRun(): AgentPath {
    const { run, path } = actingOf(this).scope;
    return frozen([...placeInRoot(run.state.parent, path)]);
  }

  get runId(): string {
    return actingOf(this).scope.run.state.id;
  }

  get values(): HookContext['values'] {
    return frozen(withoutPrototype(actingOf(this).scope.record.values));
  }

  get usage(): Usage {
    const { scope, frame } = actingOf(this);
    return frame.seen('usage', () => frozen(scope.run.state.usage));
  }

  get lastAnswer(): LastAnswer | undefined {
    return actingOf(this).scope.record.answered;
  }

  get language(): Language {
    return actingOf(this).scope.run.manifest.language;
  }

  get iteration(): number {
    return actingOf(this).scope.record.turn;
  }

  get userMessage(): string {
    const said = actingOf(this)
      .scope.record.messages.filter(({ role }) => role === 'user')
      .at(-1);
    return said === undefined ? '' : textOf(said);
  }

  get directAnswer(): StoredMessage | undefined {
    return frozen(actingOf(this).scope.life.answer);
  }

  get callsBeside(): CallsBeside | undefined {
    return frozen(actingOf(this).frame.decision?.beside());
  }

  get session(): ValueStore {
    return actingOf(this).session;
  }

  get runLocal(): HookContext['runLocal'] {
    return actingOf(this).runLocal;
  }

  get toolFacts(): HookContext['toolFacts'] {
    const { scope, frame } = actingOf(this);
    return (tool): ToolFacts | undefined => {
      // A continued run asks a worker again, which may answer differently.
      const look = (): ToolFacts | null => shownFacts(scope.run.manifest, tool);
      const facts = frame.refusalInBranch === undefined ? frame.seen(`facts of the tool ${tool}`, look) : look();
      return facts === null ? undefined : frozen(facts);
    };
  }

  get nameOfTool(): HookContext['nameOfTool'] {
    const { scope } = actingOf(this);
    return (written) => toolNamed(scope, written);
  }

  get namedCall(): HookContext['namedCall'] {
    const { scope } = actingOf(this);
    return ({ id, name, input }): ToolCall => callNamed(scope, { id, name, input });
  }

  get namedCalls(): HookContext['namedCalls'] {
    const { scope } = actingOf(this);
    return (message: Message) => toolCallsOf(message).map((call) => callNamed(scope, call));
  }

  get isFromOthers(): HookContext['isFromOthers'] {
    const { state } = actingOf(this).scope.run;
    return (message) => isOthers(state, message);
  }

  get factsOfMiddleware(): HookContext['factsOfMiddleware'] {
    const { middleware } = actingOf(this).scope.agent;
    return (name): readonly Json[] => frozen(middleware.flatMap((layer) => factOf(layer, name)));
  }
}

const { actingOf } = RunContext;

const deeds = [
  ...(['sendEvent', 'ensureMessageId', 'sendToolAction', 'interrupt', 'approve', 'parse', 'call', 'model', 'sleep'] as const),
  ...(['race', 'within', 'now', 'random'] as const),
] satisfies (keyof Acting & keyof HookContext)[];
type Deed = (typeof deeds)[number];

for (const deed of deeds)
  Object.defineProperty(RunContext.prototype, deed, {
    configurable: true,
    get(this: object) {
      const acting = actingOf(this);
      return (acting[deed]).bind(acting);
    },
  });

// A context made by Object.create may have members of its own.
for (const [name, getter] of Object.entries(Object.getOwnPropertyDescriptors(RunContext.prototype)))
  if (getter.get !== undefined)
    Object.defineProperty(RunContext.prototype, name, {
      ...getter,
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
      },
    });

function shownFacts(manifest: Manifest, tool: string): ToolFacts | null {
  if (!Object.hasOwn(manifest.tools, tool)) return null;
  return toolFactsOf(manifest, tool);
}

function factOf(layer: object, name: string): readonly Json[] {
  const { facts = {} } = traitsOf(layer);
  return Object.hasOwn(facts, name) ? [facts[name] as Json] : [];
}

/** Unset keys give undefined, also names that every object has. */
function withoutPrototype<T extends object>(values: T): T {
  return Object.assign(Object.create(null) as T, values);
}
