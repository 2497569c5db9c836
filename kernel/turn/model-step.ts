import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { DeferredTools } from '../../contract/manifest';
import type { Message, StoredMessage, Usage } from '../../contract/messages/messages';
import { canonicalJson, notJson } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { changedInRequest, sameMessage, withChange } from '../../contract/middleware-changes';
import { append } from '../run/conversation';
import type { Layer } from '../hooks/compose';
import { compose } from '../hooks/compose';
import { hookContext } from '../hooks/context';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import { finalInstructionOf, withoutToolChoice } from './count-iterations';
import type { AgentMiddleware, ModelRequest, ModelResponse } from '../define/middleware';
import type { Kept } from './model-attempts';
import { modelAttempts, retryModeOf } from './model-attempts';
import type { StoredResponse } from '../calls/model-call';
import { callModelOnce, requestSlots, withNamedCalls } from '../calls/model-call';
import { modelObservers } from '../hooks/observers';
import { specsOf } from '../define/workflow-tools';
import { isStopped } from './joined-messages';
import { refusePendingCalls } from './pending-calls';
import type { AgentScope } from '../run/scope';
import { shownState } from '../hooks/shown-state';
import { parsedTools } from './tool-step';
import { storedMessage, storedMessages } from '../effects/transcript';
import { ShownResultKeeper } from '../run/shown-result';
import { traitsOf } from '../define/traits';

/** Changes of the request last for one call; changes of the answer stay. */
export async function modelStep(scope: AgentScope, iteration: Frame): Promise<StoredMessage> {
  const { run, agent, options, path, record, branch } = scope;
  const passed = new ShownResultKeeper(run.state, [...iteration.address, 'model'].join('/'));
  const core = { isCutOff: false };
  const wraps = agent.middleware
    .filter((middleware) => middleware.wrapModel !== undefined)
    .map((middleware) => modelLayer(scope, middleware, passed, core));
  const layers = [...wraps, ...modelObservers(scope)];
  const call = (request: ModelRequest<StoredMessage>, frame: Frame): Promise<ShownResponse> =>
    layers.length === 0 ? callCore(scope, request, request.messages) : wrapped({ scope, layers, passed, core }, request, frame);
  const answer: ShownResponse & Kept = await iteration.effect('model', () => {
    const isFinal = finalInstructionOf(scope) !== undefined;
    const chosen = { ...agent.settings, ...run.state.settings, ...options.settings };
    const settings = isFinal ? withoutToolChoice(chosen) : chosen;
    const request: ModelRequest<StoredMessage> = {
      instructions: record.instructions,
      messages: layers.length === 0 ? record.messages : shownState(scope).messages,
      tools: isFinal ? [] : record.tools,
      model: options.model ?? run.state.model ?? agent.model,
      ...(Object.keys(settings).length > 0 ? { settings } : {}),
    };
    const frame = iteration.child('model');
    return agent.retry === undefined && agent.failover === undefined ? call(request, frame) : modelAttempts(scope, request, frame, call);
  });
  const { message, usage, finish, model, persisted, begin, changes, shown = message } = withNamedCalls(answer);
  // Drops leftovers of attempts without an answer.
  if (run.state.passed !== undefined) passed.take();
  if (persisted !== undefined) record.messages = persisted;
  if (begin !== undefined) record.model = begin;
  noteAnswer(scope, usage);
  const changed = [...(record.changes ?? []), ...(changes ?? [])].reduce(withChange, [] as readonly MiddlewareChange[]);
  iteration.once('event', () => {
    run.ports.emit({
      type: 'model-end',
      agent: agent.name,
      runPath: path,
      turn: record.turn,
      message: shown,
      model,
      ...defined({ usage, finish }),
      ...(changed.length === 0 ? {} : { changes: changed }),
    });
    // Other agents would take a cut-off answer for a whole answer.
    if (branch !== undefined && finish !== 'cancelled') append(run, branch, agent.name, shown);
  });
  delete record.changes;
  if (finish === 'cancelled') {
    // A conversation keeps a cut-off answer.
    if (isStopped(scope)) record.messages = [...record.messages, message];
    throw new HoldfastError('cancelled', 'The run was cancelled while the model answered.');
  }
  return message;
}

function noteAnswer({ agent: { has }, record }: AgentScope, usage: Usage | undefined): void {
  if (!has.beforeModelRewriteState && !has.afterModelRewriteState && !has.afterToolCalls) return;
  if (usage === undefined) delete record.answered;
  else record.answered = { position: record.messages.length, tokens: usage.inputTokens + usage.outputTokens };
}

/** `shown`: the answer at the place of an `eventSenderModelWrapper`, before outer layers changed the answer. */
type ShownResponse = StoredResponse & { readonly shown?: StoredMessage; readonly changes?: readonly MiddlewareChange[] };

interface WrappedCall {
  readonly scope: AgentScope;
  readonly layers: readonly Layer<ModelRequest, ModelResponse>[];
  readonly passed: ShownResultKeeper;
  readonly core: ModelCore;
}

/** Whether a cancel of the run has cut off an answer. */
interface ModelCore {
  isCutOff: boolean;
}

async function wrapped(
  { scope, layers, passed, core }: WrappedCall,
  request: ModelRequest<StoredMessage>,
  frame: Frame,
): Promise<ShownResponse> {
  let answered: StoredMessage | undefined;
  const chain = compose(layers, (changed: ModelRequest): Promise<ModelResponse> =>
    callCore(scope, checkedRequest(changed), request.messages).then((response) => {
      answered = response.message;
      core.isCutOff ||= response.finish === 'cancelled' && scope.run.cancels.isHeard;
      return response;
    }),
  );
  const response = await chain(request, frame);
  frame.close();
  const stored = (changed: Message): StoredMessage =>
    storedMessage(changed, answered?.id === changed.id ? answered : undefined, () => scope.run.ports.uuid(), 'wrapModel');
  const message = stored(response.message);
  const { message: shown, changes } = passed.take();
  const differs = shown !== undefined && canonicalJson(shown) !== canonicalJson(response.message);
  const { model = request.model, usage, finish } = response;
  const problem =
    typeof model !== 'string' || model.length > 200 ? 'its model is no name' : (notJson(usage ?? null) ?? notJson(finish ?? null));
  if (problem !== undefined)
    throw new HoldfastError('model-response-invalid', `A wrapModel layer returned a response that is none: ${problem}.`);
  return {
    message,
    model,
    ...defined({ usage, finish, changes }),
    ...(differs ? { shown: stored(shown) } : {}),
  };
}

function callCore(scope: AgentScope, request: ModelRequest, before: readonly StoredMessage[]): Promise<StoredResponse> {
  const { run, agent, path, record } = scope;
  const final = finalInstructionOf(scope);
  if (isStopped(scope)) throw new HoldfastError('cancelled', 'The turn was stopped.');
  const address = run.uniqueAddress(`${path.join('/')}/t${record.turn}/model`);
  const messages = storedMessages(request.messages, before, () => run.ports.uuid(), 'wrapModel');
  refusePendingCalls(scope, messages);
  const changed = agent.middleware.some(({ wrapModel, changesOutput }) => wrapModel !== undefined && changesOutput === true);
  const isFinal = final !== undefined;
  const slots = requestSlots(agent, {
    instructions: request.instructions,
    // Layers cannot put tools back into a final answer.
    tools: isFinal ? [] : request.tools,
    model: request.model,
    settings: isFinal && request.settings !== undefined ? withoutToolChoice(request.settings) : request.settings,
    stream: !run.state.stream ? 'whole' : changed ? 'held' : 'live',
    output: agent.output,
    retries: retryModeOf(agent, run.state.stream),
    parse: parsedTools(scope, request.tools),
    specs: isFinal ? undefined : specsOf(agent, run.manifest, [...request.tools, ...searchedTools(record.deferred)]),
    deferred: isFinal ? undefined : record.deferred,
    final,
  });
  return callModelOnce(scope, { address, path, messages, slots });
}

function searchedTools(deferred: DeferredTools | undefined): readonly string[] {
  return deferred === undefined ? [] : [deferred.search, ...deferred.tools];
}

function checkedRequest(request: ModelRequest): ModelRequest {
  if (
    typeof request !== 'object' ||
    request === null ||
    typeof request.model !== 'string' ||
    !Array.isArray(request.tools) ||
    typeof request.instructions !== 'string'
  ) {
    throw new HoldfastError(
      'hook-failed',
      'A wrapModel layer called next without a whole request; pass on a changed copy: next({ ...request, model }).',
    );
  }
  return request;
}

function modelLayer(
  scope: AgentScope,
  middleware: AgentMiddleware,
  passed: ShownResultKeeper,
  core: ModelCore,
): Layer<ModelRequest, ModelResponse> {
  return {
    name: middleware.name,
    hook: 'wrapModel',
    wrap: (request, next, frame) => {
      const noting = (handed: ModelRequest): Promise<ModelResponse> => {
        if (handed !== request) passed.changed(middleware.name, 'wrapModel', changedInRequest(request, handed));
        return next(handed);
      };
      return middleware.wrapModel?.(frozen(request), noting, hookContext(scope, frame)) as Promise<ModelResponse>;
    },
    replaced: (came, { message }) => {
      if (!came.some((one) => sameMessage(one.message, message))) passed.changed(middleware.name, 'wrapModel', ['answer']);
    },
    check: (response, label) => {
      const message: unknown = (response as Partial<ModelResponse> | undefined)?.message;
      if (typeof message === 'object' && message !== null && Array.isArray((message as { parts?: unknown }).parts)) {
        if (traitsOf(middleware).showsHere === 'model') passed.keep({ message: response.message });
        // A resumed run asks the model again, even if the layer replaces the cut-off answer.
        return core.isCutOff ? { ...response, finish: 'cancelled' } : response;
      }
      throw new HoldfastError(
        'model-response-invalid',
        `${label} returned no response; return what next returned, or { message: { role: 'assistant', parts: [...] } }.`,
      );
    },
  };
}
