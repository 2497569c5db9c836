import { HoldfastError, messageOf } from '../contract/plain/errors';
import { toolFactsOf } from '../contract/plain/manifest';
import type { Failure, Json, StoredMessage, ToolCall } from '../contract/plain/messages';
import { canonicalJson, isPartList, notJson, toolMessage } from '../contract/plain/messages';
import { noteAction } from './agents/actions';
import { say } from './agents/conversation';
import type { Layer } from './compose';
import { compose } from './compose';
import { hookContext } from './context';
import { PassedThere, isEventSender } from './event-senders';
import { frozen } from './freeze';
import type { Frame } from './frames';
import { failureOf } from './frames';
import type { AgentMiddleware } from './middleware';
import { meaningOf } from './meanings';
import { toolObservers } from './observers';
import { callOwnTool } from './own-tools';
import { allSettledInOrder, inSequence } from './parallel-calls';
import { isCancellation } from './ports';
import { checkedToolOptions, withOptionsOf } from './run-options';
import type { AgentScope } from './scope';
import type { ToolCallPlan, ToolDone } from './tool-call';
import { ToolError, callToolOnce } from './tool-call';
import { exitTool, planCall } from './tool-plan';
import { isToolProblem } from './tool-problems';

export interface ToolStepResult {
  readonly message: StoredMessage;
  readonly error?: Failure;
  /** What the event has instead, where a sender stands inside of layers that changed the result. */
  readonly shown?: StoredMessage;
  readonly action?: Json;
}

/** Runs the tool calls of one message. Results stand in call order; the return-directly one is shown last. */
export async function toolStep(
  scope: AgentScope,
  calls: readonly ToolCall[],
  directly: number | undefined,
  iteration: Frame,
): Promise<readonly ToolStepResult[]> {
  const settle = (position: number): void => scope.run.runLocal.settle(scope.path, slotOf(scope, position));
  const run = (position: number): Promise<ToolStepResult> => {
    const call = calls[position] as ToolCall;
    return iteration.effect(`call:${call.name}`, async () => {
      const result = await runCall(scope, call, position, iteration);
      if (scope.agent.sequentialTools) settle(position);
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
    iteration.once('event', () => showEnd(scope, calls[directly] as ToolCall, result));
  }
  return results;
}

/** What parallel calls hand back counts in the order of the calls, whichever ended first. */
function slotOf({ path, record }: AgentScope, position: number): string {
  return `${path.join('/')}/t${record.turn}.${position}`;
}

async function runCall(scope: AgentScope, requested: ToolCall, position: number, iteration: Frame): Promise<ToolStepResult> {
  const uuid = (): string => scope.run.ports.uuid();
  const planned = planCall(scope, requested);
  if (planned.type === 'answered') {
    const exits = scope.agent.exitTool && requested.name === exitTool;
    return { message: toolMessage(uuid(), requested, planned.output), ...(exits ? { action: { exit: true } } : {}) };
  }
  if (planned.type === 'refused') return endOrReturn(scope, requested, new ToolError(planned.error, undefined));
  const name = `${planned.call.name}.${position}`;
  const passed = new PassedThere(scope.run.state, [...iteration.address, name].join('/'));
  const frame = iteration.child(name, undefined, { act: (action) => passed.keep({ action }) });
  // What stands in the worker's result has the tool's own name. Under an alias the model is answered by the name that it used.
  const isAlias = planned.call.name !== requested.name;
  let last: ToolDone | undefined;
  try {
    const output = await throughLayers(scope, planned.call, position, frame, passed, (done) => (last = done));
    frame.close();
    const untouched = last !== undefined && last.output === output ? last : undefined;
    // Over a border only the output itself comes back: then the tool's kind says what a list of parts is.
    const inParts = last?.multipart ?? isEnhanced(scope, planned.call);
    const messageOf = (id: string, result: Json): StoredMessage =>
      toolMessage(id, { id: requested.id, name: requested.name }, result, { multipart: inParts && isPartList(result) });
    const message = messageOf((isAlias ? undefined : untouched?.messageId) ?? uuid(), output);
    const { output: shown, action } = passed.take();
    const differs = shown !== undefined && canonicalJson(shown) !== canonicalJson(output);
    return { message, ...(differs ? { shown: messageOf(uuid(), shown) } : {}), ...(action === undefined ? {} : { action }) };
  } catch (error) {
    if (isCancellation(error)) throw error;
    frame.abandon();
    const failed = endOrReturn(
      scope,
      requested,
      isAlias && error instanceof ToolError ? new ToolError(failureOf(error), undefined) : error,
    );
    const { action } = passed.take();
    return action === undefined ? failed : { ...failed, action };
  }
}

function isEnhanced({ run }: AgentScope, { name }: ToolCall): boolean {
  const { kind } = toolFactsOf(run.manifest, name);
  return kind === 'enhanced' || kind === 'enhanced-streamable';
}

function layersOf({ run, agent }: AgentScope, tool: string): readonly AgentMiddleware[] {
  const { kind } = toolFactsOf(run.manifest, tool);
  return agent.middleware.filter(
    ({ wrapToolCall, onlyTools, onlyKinds }) =>
      wrapToolCall !== undefined && onlyTools?.includes(tool) !== false && onlyKinds?.includes(kind) !== false,
  );
}

/** The tools whose arguments layers will see, when there are any. */
export function parsedTools(scope: AgentScope, tools: readonly string[]): readonly string[] | undefined {
  const parsed = tools.filter(
    (tool) => Object.hasOwn(scope.run.manifest.tools, tool) && !scope.agent.ownTools.has(tool) && layersOf(scope, tool).length > 0,
  );
  return parsed.length === 0 ? undefined : parsed;
}

/** By the run itself, or by a worker. */
function execute(scope: AgentScope, frame: Frame, plan: ToolCallPlan): Promise<ToolDone> {
  const own = scope.agent.ownTools.get(plan.call.name);
  return own === undefined ? callToolOnce(scope, frame, plan) : callOwnTool(scope, own, frame, plan);
}

function throughLayers(
  scope: AgentScope,
  call: ToolCall,
  position: number,
  frame: Frame,
  passed: PassedThere,
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

/** Arguments before policy: layers, human and tool all see the parsed value, and the tool runs with nothing else. */
async function throughParsedLayers(
  scope: AgentScope,
  layers: readonly AgentMiddleware[],
  raw: ToolCall,
  { address, slot }: { readonly address: string; readonly slot: string },
  frame: Frame,
  passed: PassedThere,
  onDone: (done: ToolDone) => void,
): Promise<Json> {
  const calls = new ParsedCalls(scope, raw);
  const held = layers.some(({ changesOutput }) => changesOutput === true);
  const chain = compose(
    layers.map((middleware) => toolLayer(scope, middleware, calls, passed)),
    async (changed: ToolCall, inner: Frame): Promise<Json> => {
      const { call, rawInput } = await calls.parsed(changed, inner);
      checkDecided(inner, call);
      const observed = compose(toolObservers(scope), (asked: ToolCall, innermost) =>
        execute(scope, innermost, {
          address,
          key: address,
          slot,
          call: asked,
          held,
          ...(asked.input === rawInput ? {} : { rawInput }),
        }),
      );
      const done = await observed(call, inner);
      onDone(done);
      return frozen(done.output);
    },
  );
  return chain((await calls.parsed(raw, frame)).call, frame);
}

/** What a person agreed to is what runs. */
function checkDecided({ decision }: Frame, call: ToolCall): void {
  if (decision?.hash === undefined) return;
  const changed = decision.hash !== call.inputHash ? 'arguments' : decision.options !== textOfOptions(call) ? 'options' : undefined;
  if (changed === undefined) return;
  throw new HoldfastError(
    'hook-failed',
    `A layer behind the approval of '${call.name}' changed its ${changed}. Put it before the approval, so that people see what will run.`,
  );
}

function textOfOptions({ options }: ToolCall): string {
  return options === undefined ? '' : canonicalJson(options);
}

/** What each value of the arguments means to the tool: parsed once, wherever in the layers it first appears. */
class ParsedCalls {
  private readonly known = new Map<string, { readonly call: ToolCall; readonly rawInput: Json }>();

  constructor(
    private readonly scope: AgentScope,
    private readonly raw: ToolCall,
  ) {}

  async parsed(requested: ToolCall, frame: Frame): Promise<{ readonly call: ToolCall; readonly rawInput: Json }> {
    const { call: known, rawInput } = await this.meaning(requested, frame);
    const { options } = requested;
    const call = options === undefined ? known : { ...known, options: checkedToolOptions(options, known.name) };
    if (frame.decision?.handedOn === true) {
      frame.decision.handedOn = false;
      frame.decision.hash = call.inputHash;
      frame.decision.options = textOfOptions(call);
    }
    return { call, rawInput };
  }

  private async meaning({ input }: ToolCall, frame: Frame): Promise<{ readonly call: ToolCall; readonly rawInput: Json }> {
    const key = canonicalJson(input);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const { id, name } = this.raw;
    const call = await parse(this.scope, { id, name, input }, frame);
    const entry = { call, rawInput: input };
    this.known.set(key, entry);
    // What was parsed means itself, whatever a schema would make of it the second time.
    this.known.set(canonicalJson(call.input), entry);
    return entry;
  }
}

async function parse(scope: AgentScope, call: ToolCall, frame: Frame): Promise<ToolCall> {
  const known = meaningOf(scope, call.name, call.input);
  const own = scope.agent.ownTools.get(call.name);
  const result = await frame.effect('parse', () => {
    if (own !== undefined) return Promise.resolve(own.parse(call.input));
    return known === undefined ? scope.run.ports.parseInput(call.name, call.input) : Promise.resolve(known);
  });
  if (!result.ok) throw new ToolError({ code: 'tool-input-invalid', message: result.message }, undefined);
  return { ...call, input: result.input === undefined ? call.input : result.input, inputHash: result.hash };
}

/** A tool's error goes back to the model, unless the agent says otherwise. An error of a hook always ends the run. */
function endOrReturn(scope: AgentScope, call: ToolCall, error: unknown): ToolStepResult {
  if (!isToolProblem(error) || scope.agent.toolErrors === 'fail') throw error;
  const messageId = error instanceof ToolError ? error.messageId : undefined;
  return { message: toolMessage(messageId ?? scope.run.ports.uuid(), call, messageOf(error), { isError: true }), error: failureOf(error) };
}

function showEnd(scope: AgentScope, call: ToolCall, { message, error, shown = message, action }: ToolStepResult): void {
  const { run, agent, path, lane } = scope;
  run.ports.emit({
    type: 'tool-end',
    agent: agent.name,
    runPath: path,
    tool: call.name,
    callId: call.id,
    message: shown,
    ...(error === undefined ? {} : { error }),
    ...(action === undefined ? {} : { action }),
  });
  if (lane !== undefined) say(run, lane, agent.name, shown);
  noteAction(scope, action);
}

function toolLayer(scope: AgentScope, middleware: AgentMiddleware, calls: ParsedCalls, passed: PassedThere): Layer<ToolCall, Json> {
  return {
    name: middleware.name,
    hook: 'wrapToolCall',
    wrap: async (requested, next, frame) => {
      const { call } = await calls.parsed(requested, frame);
      const nextDecided = (changed: ToolCall): Promise<Json> => {
        if (frame.decision?.by === frame.address.join('/')) frame.decision.handedOn = true;
        return next(withOptionsOf(call, changed));
      };
      return (await middleware.wrapToolCall?.(frozen(call), nextDecided, hookContext(scope, frame))) as Json;
    },
    check: (output, label) => {
      const problem = output === undefined ? 'it is undefined' : notJson(output);
      if (problem !== undefined) throw new HoldfastError('hook-failed', `${label} returned something that is not JSON: ${problem}.`);
      if (isEventSender(middleware, 'tool')) passed.keep({ output });
      return output;
    },
  };
}
