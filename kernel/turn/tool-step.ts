import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { toolFactsOf } from '../../contract/manifest';
import type { Json, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { canonicalJson, isPartList, notJson, toolMessage } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { same } from '../../contract/middleware-changes';
import { append } from '../run/conversation';
import type { Layer } from '../hooks/compose';
import { compose } from '../hooks/compose';
import { hookContext } from '../hooks/context';
import { toolInside } from '../hooks/tool-context';
import { CallExecution } from '../calls/execution';
import { callExternalTool, isExternalTool } from '../calls/external-tool-call';
import { frozen } from '../../contract/freeze';
import type { Frame } from '../effects/frames';
import type { AgentMiddleware } from '../define/middleware';
import { heldTools } from '../define/named-tools';
import { toolObservers } from '../hooks/observers';
import { allSettledInOrder, inSequence } from './wait-for-calls';
import type { ParsedCall } from './parsed-calls';
import { ParsedCalls } from './parsed-calls';
import { agreed, decidedOf } from '../hooks/together';
import { withOptionsOf } from '../run/run-options';
import type { AgentScope } from '../run/scope';
import type { ToolCallPlan, ToolDone } from '../calls/tool-call';
import { callToolOnce } from '../calls/tool-call';
import type { ToolStepResult } from './tool-ends';
import { changedEnd, changedError } from './tool-ends';
import type { NamedCall } from '../run/tool-names';
import { exitTool } from '../define/transfer-names';
import { planCall } from './tool-plan';
import { isStopped } from './joined-messages';
import { ToolDecision, agreesTo } from '../effects/tool-decision';
import { ToolError, failureOf, isCancellation, isToolProblem } from '../effects/errors';
import { ShownResultKeeper } from '../run/shown-result';
import { stoppedBeforeCall } from '../run/turn-stop';
import { traitsOf } from '../define/traits';
import { noteAction } from '../run/place';
import { callOwnTool } from '../calls/workflow-tool-call';

/** Results stand in call order; a return-directly result is shown last. */
export async function toolStep(
  scope: AgentScope,
  calls: readonly NamedCall[],
  directly: number | undefined,
  iteration: Frame,
): Promise<readonly ToolStepResult[]> {
  const settle = (position: number): void => scope.run.runLocal.settle(scope.path, slotOf(scope, position));
  const run = (position: number): Promise<ToolStepResult> => {
    const call = calls[position] as NamedCall;
    return iteration.effect(`call:${call.written}`, async () => {
      const result = changedEnd(scope, await runCall(scope, calls, position, iteration));
      if (scope.agent.sequentialTools) settle(position);
      const room = scope.run.ports.roomFor(result.shown ?? result.message);
      if (room !== undefined) await room;
      if (position !== directly) showEnd(scope, call, result);
      return result;
    });
  };
  const positions = calls.map((_, position) => position);
  let results: readonly ToolStepResult[];
  try {
    results = scope.agent.sequentialTools ? await inSequence(positions, run) : await allSettledInOrder(scope.run, positions.map(run));
  } catch (error) {
    if (!isCancellation(error)) positions.forEach(settle);
    throw error;
  }
  positions.forEach(settle);
  if (directly !== undefined) {
    const result = results[directly] as ToolStepResult;
    iteration.once('event', () => showEnd(scope, calls[directly] as NamedCall, result));
  }
  return results;
}

function slotOf({ path, record }: AgentScope, position: number): string {
  return `${path.join('/')}/t${record.turn}.${position}`;
}

async function runCall(scope: AgentScope, calls: readonly NamedCall[], position: number, iteration: Frame): Promise<ToolStepResult> {
  const requested = calls[position] as NamedCall;
  const { id: callId, written } = requested;
  const answered = { id: callId, name: written };
  const uuid = (): string => scope.run.ports.uuid();
  const planned = planCall(scope, requested);
  if (planned.type === 'answered') {
    const exits = scope.agent.exitTool && requested.name === exitTool;
    return { message: toolMessage(uuid(), answered, planned.output), ...(exits ? { action: { exit: true } } : {}) };
  }
  if (planned.type === 'refused') return endOrReturn(scope, requested, new ToolError(planned.error, undefined));
  const name = `${planned.call.name}.${position}`;
  const passed = new ShownResultKeeper(scope.run.state, [...iteration.address, name].join('/'));
  const decision = new ToolDecision(
    (action) => passed.keep({ action }),
    () => ({ position, tools: calls.map((call) => call.name) }),
    { read: (note) => frame.noteOf(note), keep: (note, value) => frame.note(note, value) },
  );
  const frame: Frame = iteration.child(name, { decision });
  // A call by alias needs a result with the alias.
  const isAlias = planned.call.name !== written;
  let last: ToolDone | undefined;
  try {
    const output = await throughLayers(scope, planned.call, position, frame, passed, (done) => (last = done));
    frame.close();
    const untouched = last !== undefined && last.output === output ? last : undefined;
    // After a continue-as-new only the output comes back, so the tool's kind decides about parts.
    const inParts = last?.multipart ?? isEnhanced(scope, planned.call);
    const messageOf = (id: string, result: Json): StoredMessage =>
      toolMessage(id, answered, result, { multipart: inParts && isPartList(result) });
    const message = messageOf((isAlias ? undefined : untouched?.messageId) ?? uuid(), output);
    const { output: shown, action, changes } = passed.take();
    const differs = shown !== undefined && canonicalJson(shown) !== canonicalJson(output);
    return { message, ...(differs ? { shown: messageOf(uuid(), shown) } : {}), ...defined({ action, changes }) };
  } catch (error) {
    if (isCancellation(error)) return cutOff(scope, requested, frame, error);
    let failed: ToolStepResult;
    try {
      failed = endOrReturn(scope, requested, isAlias && error instanceof ToolError ? new ToolError(failureOf(error), undefined) : error);
    } catch (ending) {
      frame.unwind();
      throw ending;
    }
    frame.abandon();
    const { action, changes } = passed.take();
    return { ...failed, ...defined({ action, changes }) };
  }
}

/** A stopped turn ends after its calls, and each call needs a result. */
function cutOff({ run, path }: AgentScope, { id, written }: NamedCall, frame: Frame, error: unknown): ToolStepResult {
  if (!isStopped({ run, path })) throw error;
  frame.forget();
  const message = messageOf(error);
  return {
    message: toolMessage(run.ports.uuid(), { id, name: written }, message, { isError: true }),
    error: { code: 'turn-stopped', message },
  };
}

function isEnhanced({ run }: AgentScope, { name }: ToolCall): boolean {
  const { kind } = toolFactsOf(run.manifest, name);
  return kind === 'enhanced' || kind === 'enhanced-streamable';
}

function layersOf(scope: AgentScope, tool: string): readonly AgentMiddleware[] {
  if (isExternalTool(scope, tool)) return [];
  const { run, agent } = scope;
  const { kind } = toolFactsOf(run.manifest, tool);
  return agent.middleware.filter(
    (layer) =>
      layer.wrapToolCall !== undefined &&
      heldTools(layer, run.manifest)?.includes(tool) !== false &&
      layer.onlyKinds?.includes(kind) !== false,
  );
}

export function parsedTools(scope: AgentScope, tools: readonly string[]): readonly string[] | undefined {
  const parsed = tools.filter(
    (tool) => Object.hasOwn(scope.run.manifest.tools, tool) && !scope.agent.ownTools.has(tool) && layersOf(scope, tool).length > 0,
  );
  return parsed.length === 0 ? undefined : parsed;
}

function execute(scope: AgentScope, frame: Frame, plan: ToolCallPlan): Promise<ToolDone> {
  const isLate = frame.decision?.isWithdrawn === true || isStopped(scope);
  if (isLate && !frame.isKnownNext) return Promise.reject(stoppedBeforeCall());
  if (isExternalTool(scope, plan.call.name)) return callExternalTool(scope, frame, plan);
  const own = scope.agent.ownTools.get(plan.call.name);
  return own === undefined
    ? callToolOnce(scope, frame, plan)
    : callOwnTool(scope, frame, plan, { ...own, run: (inner) => own.run(toolInside(scope, inner, own, plan.call)) });
}

function throughLayers(
  scope: AgentScope,
  call: ToolCall,
  position: number,
  frame: Frame,
  passed: ShownResultKeeper,
  onDone: (done: ToolDone) => void,
): Promise<Json> {
  const layers = layersOf(scope, call.name);
  const address = `${scope.path.join('/')}/t${scope.record.turn}/${call.name}.${position}`;
  const slot = slotOf(scope, position);
  if (layers.length === 0) {
    const observed = compose(toolObservers(scope), (asked: ToolCall, inner) =>
      execute(scope, inner, { address, key: address, slot, call: asked }),
    );
    return observed(call, frame).then((done) => {
      onDone(done);
      return done.output;
    });
  }
  return throughParsedLayers(scope, layers, call, { address, slot }, frame, passed, onDone);
}

function throughParsedLayers(
  scope: AgentScope,
  layers: readonly AgentMiddleware[],
  raw: ToolCall,
  { address, slot }: { readonly address: string; readonly slot: string },
  frame: Frame,
  passed: ShownResultKeeper,
  onDone: (done: ToolDone) => void,
): Promise<Json> {
  const calls = new ParsedCalls(scope, raw);
  const held = layers.some(({ changesOutput }) => changesOutput === true);
  const core = ({ call, rawInput }: ParsedCall, inner: Frame): Promise<Json> => {
    checkDecided(inner, call);
    const execution = new CallExecution(frame, inner, address, call);
    const observed = compose(toolObservers(scope), (asked: ToolCall, innermost) =>
      execute(scope, innermost, {
        address,
        key: execution.key,
        slot,
        call: asked,
        held,
        ...(asked.input === rawInput ? {} : { rawInput }),
      }),
    );
    return observed(call, inner).then(
      (done) => {
        onDone(done);
        return frozen(done.output);
      },
      (error: unknown) => {
        if (!isCancellation(error)) execution.failed();
        throw error;
      },
    );
  };
  const chain = compose(
    layers.map((middleware) => toolLayer(scope, middleware, calls, passed)),
    async (changed: ToolCall, inner) => core(await calls.parsed(changed, inner), inner),
  );
  return calls.parsed(raw, frame).then(({ call }) => chain(call, frame));
}

function checkDecided(inner: Frame, call: ToolCall): void {
  const now = decidedOf(call);
  const misfits = (inner.decision?.boundAt(inner.key) ?? []).map((agreedTo) => !agreesTo(agreedTo, now) && agreedTo);
  const [last, ...others] = misfits;
  if (last !== undefined && last !== false) {
    const changed = last.some(({ hash }) => hash === now.hash) ? 'options' : 'arguments';
    throw new HoldfastError(
      'hook-failed',
      `A layer behind the approval of '${call.name}' changed its ${changed}. Put it before the approval, so that people see what will run.`,
    );
  }
  if (inner.isKnownNext || others.every((misfit) => misfit === false)) return;
  throw new ToolError(
    { code: 'answer-stale', message: `'${call.name}' did not run: its arguments were changed after a person had approved others.` },
    undefined,
  );
}

/** A tool error goes back to the model by default. A hook error always ends the run. */
function endOrReturn(scope: AgentScope, { id, written }: NamedCall, error: unknown): ToolStepResult {
  const call = { id, name: written };
  if (!isToolProblem(error) || scope.agent.toolErrors === 'fail') throw changedError(scope, call, error);
  const messageId = ToolError.messageIdOf(error);
  return { message: toolMessage(messageId ?? scope.run.ports.uuid(), call, messageOf(error), { isError: true }), error: failureOf(error) };
}

function showEnd(scope: AgentScope, call: NamedCall, { message, error, shown = message, action, changes }: ToolStepResult): void {
  const { run, agent, path, branch } = scope;
  run.ports.emit({
    type: 'tool-end',
    agent: agent.name,
    runPath: path,
    tool: call.name,
    callId: call.id,
    message: shown,
    ...defined({ error, action, changes }),
  });
  if (branch !== undefined) append(run, branch, agent.name, shown);
  noteAction(scope, action);
}

function toolLayer(scope: AgentScope, middleware: AgentMiddleware, calls: ParsedCalls, passed: ShownResultKeeper): Layer<ToolCall, Json> {
  return {
    name: middleware.name,
    hook: 'wrapToolCall',
    wrap: async (requested, next, frame) => {
      const { call } = await calls.parsed(requested, frame);
      const nextDecided = (changed: ToolCall): Promise<Json> => {
        if (frame.noteOf(agreed) === true) frame.decision?.agreed(frame.key);
        frame.decision?.handsOn(frame.key, frame.next);
        const handed = withOptionsOf(call, changed);
        if (handed !== call) passed.changed(middleware.name, 'wrapToolCall', changedInCall(call, handed));
        return next(handed);
      };
      return middleware.wrapToolCall?.(frozen(call), nextDecided, hookContext(scope, frame)) as Promise<Json>;
    },
    check: (output, label) => {
      const problem = output === undefined ? 'it is undefined' : notJson(output);
      if (problem !== undefined) throw new HoldfastError('hook-failed', `${label} returned something that is not JSON: ${problem}.`);
      if (traitsOf(middleware).showsHere === 'tool') passed.keep({ output });
      return output;
    },
    replaced: (came, gives) => {
      if (!came.some((one) => same(one, gives))) passed.changed(middleware.name, 'wrapToolCall', ['result']);
    },
  };
}

function changedInCall(got: ToolCall, handed: ToolCall | null | undefined): MiddlewareChange['changed'] {
  if (typeof handed !== 'object' || handed === null) return [];
  const isSame = same(got.options ?? {}, handed.options ?? {});
  return [...(same(got.input, handed.input) ? [] : (['arguments'] as const)), ...(isSame ? [] : (['options'] as const))];
}
