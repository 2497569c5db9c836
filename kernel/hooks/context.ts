import { agentOfPath } from '../../contract/record/agent-paths';
import { placeInRoot } from '../../contract/record/child-runs';
import type { Manifest, ToolFacts } from '../../contract/manifest';
import { toolFactsOf } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import type { Inside } from '../define/inside';
import { inside } from '../define/inside';
import type { HookContext } from '../define/middleware';
import { traitsOf } from '../define/traits';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { isOthers } from '../run/conversation';
import type { AgentScope } from '../run/scope';
import { callNamed, toolNamed } from '../run/tool-names';
import { Acting } from './acting';

/** Most hooks use few members, so members are made when read. */
export function hookContext(scope: AgentScope, frame: Frame, owner = frame): HookContext {
  return new RunContext(new Acting(scope, frame, owner, hookContext)) as object as HookContext;
}

class RunContext {
  readonly #acting: Acting;

  constructor(acting: Acting) {
    this.#acting = acting;
  }

  /** Finds a context through Object.create. */
  static actingOf(context: object): Acting {
    let at = context;
    while (!(#acting in at)) at = Object.getPrototypeOf(at) as object;
    return at.#acting;
  }

  get [inside](): Inside | undefined {
    return #acting in this ? this.#acting : undefined;
  }
}

const deeds = [
  ...(['sendEvent', 'ensureMessageId', 'sendToolAction', 'interrupt', 'approve', 'parse', 'call', 'model', 'sleep'] as const),
  ...(['race', 'within', 'now', 'random'] as const),
];

type Members<Name extends keyof HookContext> = { readonly [One in Name]: (acting: Acting) => HookContext[One] };
type Deed = (typeof deeds)[number];

/** Hooks may destructure a context, so methods are functions that know their context. */
const members: Members<Exclude<keyof HookContext, Deed>> = {
  agent: ({ scope }) => agentOfPath(scope.path),
  runPath: ({ scope }) => scope.path,
  placeInRun: ({ scope }) => frozen([...placeInRoot(scope.run.state.parent, scope.path)]),
  runId: ({ scope }) => scope.run.state.id,
  values: ({ scope }) => frozen(withoutPrototype(scope.record.values)),
  usage: ({ scope, frame }) => frame.seen('usage', () => frozen(scope.run.state.usage)),
  lastAnswer: ({ scope }) => scope.record.answered,
  language: ({ scope }) => scope.run.manifest.language,
  iteration: ({ scope }) => scope.record.turn,
  userMessage: ({ scope }) => {
    const said = scope.record.messages.filter(({ role }) => role === 'user').at(-1);
    return said === undefined ? '' : textOf(said);
  },
  directAnswer: ({ scope }) => frozen(scope.life.answer),
  callsBeside: ({ frame }) => frozen(frame.decision?.beside()),
  session: ({ session }) => session,
  runLocal: ({ runLocal }) => runLocal,
  toolFacts:
    ({ scope, frame }) =>
    (tool) => {
      // Recorded, because another worker may answer differently.
      const look = (): ToolFacts | null => shownFacts(scope.run.manifest, tool);
      const facts = frame.refusalInBranch === undefined ? frame.seen(`facts of the tool ${tool}`, look) : look();
      return facts === null ? undefined : frozen(facts);
    },
  nameOfTool:
    ({ scope }) =>
    (written) =>
      toolNamed(scope, written),
  namedCall:
    ({ scope }) =>
    ({ id, name, input }) =>
      callNamed(scope, { id, name, input }),
  namedCalls:
    ({ scope }) =>
    (message) =>
      toolCallsOf(message).map((call) => callNamed(scope, call)),
  isFromOthers:
    ({ scope }) =>
    (message) =>
      isOthers(scope.run.state, message),
  factsOfMiddleware:
    ({ scope }) =>
    (name) =>
      frozen(scope.agent.middleware.flatMap((layer) => factOf(layer, name))),
};

const readers: Readonly<Record<string, (acting: Acting) => unknown>> = {
  ...members,
  ...Object.fromEntries(deeds.map((deed) => [deed, (acting: Acting): unknown => acting[deed].bind(acting)])),
};

for (const [name, read] of Object.entries(readers))
  Object.defineProperty(RunContext.prototype, name, {
    configurable: true,
    get(this: object) {
      return read(RunContext.actingOf(this));
    },
    // A context made by Object.create may have members of its own.
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

/** Unset keys give undefined, even names such as `toString`. */
function withoutPrototype<T extends object>(values: T): T {
  return Object.assign(Object.create(null) as T, values);
}
