import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { InDoubtDecision, InDoubtInfo, Interrupt, Reconciliation } from '../../contract/interrupts';
import { interruptId } from '../../contract/interrupts';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { Manifest } from '../../contract/manifest';
import { mcpToolOf, toolFactsOf } from '../../contract/manifest';
import { waitsForTool } from '../../contract/missing-tool';
import { workflowIdOf } from '../../contract/names';
import type { CallToolResult, McpCall, ToolOutcome } from '../../contract/record/wire';
import { asleep, untilOf } from '../run/interrupts/asleep';
import type { Frame } from '../effects/frames';
import { askIn } from '../run/interrupts/ask-in-frame';
import type { ToolCallRequest } from '../run/ports';
import type { AgentScope } from '../run/scope';
import { authorOfTurn } from '../run/state';
import { ToolError, isCancellation } from '../effects/errors';

export interface ToolCallPlan {
  /** The id of the activity. Later calls get an ordinal. */
  readonly address: string;
  readonly key: string;
  readonly call: ToolCall;
  readonly rawInput?: Json;
  readonly hidden?: boolean;
  /** Where changes of run-local values wait for the end of parallel calls. Absent: changes count at once. */
  readonly slot?: string;
  /** A layer may change the result, so readers must not see it early. */
  readonly held?: boolean;
}

export interface ToolDone {
  readonly output: Json;
  readonly multipart?: boolean;
  /** Absent if a person gave the result. */
  readonly messageId?: string;
}

type Unsettled = ToolOutcome & { type: 'unsettled' };

type DoubtfulAttempts = Required<Pick<InDoubtInfo, 'attempts' | 'firstAt' | 'lastAt'>>;

const doubtful = 'doubtful';
type Extra = { readonly resumed?: { readonly answer: Json; readonly state?: Json }; readonly reconcile?: boolean };

/** The activity, again with a person's answer, and for an unsettled `once` call `reconcile` and then a person. */
export async function callToolOnce(scope: AgentScope, frame: Frame, plan: ToolCallPlan): Promise<ToolDone> {
  let extra: Extra = {};
  let lost: Unsettled = { type: 'unsettled' };
  let waits = 0;
  for (;;) {
    const asked = extra;
    let startedAt: number | undefined;
    const outcome = await frame.effect(`tool:${plan.call.name}`, () => {
      startedAt = scope.run.ports.now();
      return schedule(scope, plan, asked);
    });
    switch (outcome.type) {
      case 'done':
        frame.close();
        return { output: outcome.output, messageId: outcome.messageId, multipart: outcome.multipart === true };
      case 'failed': {
        const wait = asked.reconcile === true ? undefined : waitFor(scope, plan, outcome, waits++);
        if (wait !== undefined) {
          await asleep(frame, 'sleep', (n) =>
            scope.run.ports.sleep(
              frame.key,
              untilOf(frame, n, scope.run.ports, () => wait),
            ),
          );
          break;
        }
        frame.unwind();
        throw new ToolError(outcome.error, outcome.messageId === '' ? undefined : outcome.messageId);
      }
      case 'interrupted':
        extra = {
          resumed: {
            answer: await ask(scope, frame, questionOf(scope, frame, outcome)),
            ...defined({ state: outcome.state }),
          },
        };
        break;
      case 'undone':
        extra = asked.resumed === undefined ? {} : { resumed: asked.resumed };
        break;
      case 'unsettled': {
        if (asked.reconcile !== true) {
          lost = outcome;
          if (startedAt !== undefined) noteAttempt(frame, startedAt);
          extra = { ...asked, reconcile: true };
          break;
        }
        const doubt = doubtOf(scope, frame, plan, { lost, reconciled: outcome });
        const decision = (await ask(scope, frame, doubt)) as unknown as InDoubtDecision;
        if (decision.happened) {
          frame.close();
          return { output: decision.result };
        }
        extra = asked.resumed === undefined ? {} : { resumed: asked.resumed };
      }
    }
  }
}

async function schedule(scope: AgentScope, plan: ToolCallPlan, extra: Extra): Promise<ToolOutcome> {
  const { run, agent, path } = scope;
  const { call } = plan;
  const address = run.uniqueAddress(plan.address);
  const facts = toolFactsOf(run.manifest, call.name);
  const streams = run.state.stream && plan.hidden !== true && (facts.kind === 'streamable' || facts.kind === 'enhanced-streamable');
  const runLocal = run.runLocal.toSend(path, address, plan.slot);
  const request: ToolCallRequest = {
    address,
    path,
    tool: call.name,
    callId: call.id,
    input: call.input,
    key: plan.key,
    facts,
    workerMiddleware: agent.workerMiddleware,
    stream: !streams ? 'whole' : plan.held === true ? 'held' : 'live',
    ...defined({ inputHash: call.inputHash, rawInput: plan.rawInput }),
    ...(call.options === undefined || Object.keys(call.options).length === 0 ? {} : { options: call.options }),
    ...(plan.hidden === true ? { hidden: true } : {}),
    ...(isAbout(run.state) ? { about: true as const } : {}),
    ...defined({ author: authorOfTurn(run.state) }),
    ...defined({ runLocal, mcp: mcpCallOf(run.manifest, call.name) }),
    ...extra,
  };
  let result: CallToolResult;
  try {
    result = await run.ports.callTool(request);
  } catch (error) {
    if (!isCutOffQuestion(scope, request, error)) throw error;
    result = await run.ports.callTool({ ...request, address: run.uniqueAddress(plan.address) });
    return told(scope, plan, extra, result);
  }
  if (result.address !== address) throw new HoldfastError('internal', `The tool call ${address} got the result of ${result.address}.`);
  run.runLocal.take(path, result, plan.slot);
  return extra.reconcile === true ? told(scope, plan, extra, result) : result.outcome;
}

function mcpCallOf(manifest: Manifest, name: string): McpCall | undefined {
  const found = mcpToolOf(manifest, name);
  if (found === undefined) return undefined;
  const { effect, timeoutMs } = toolFactsOf(manifest, name);
  return { server: found.server, tool: found.tool, inputSchema: found.inputSchema, effect, timeoutMs };
}

/** A run that is cancelled during `reconcile` asks the tool again, and ends with the answer. */
function isCutOffQuestion({ run }: AgentScope, { reconcile }: ToolCallRequest, error: unknown): boolean {
  return reconcile === true && isCancellation(error) && run.ports.cancelled;
}

function told(scope: AgentScope, { call, hidden }: ToolCallPlan, { reconcile }: Extra, { address, outcome }: CallToolResult): ToolOutcome {
  const { run, agent, path } = scope;
  const said = reconcile === true ? reconciliationOf(outcome) : undefined;
  if (said === undefined || said.said === 'nothing' || hidden === true) return outcome;
  run.ports.emit({ type: 'tool-reconcile', agent: agent.name, runPath: path, tool: call.name, callId: call.id, address, ...said });
  return outcome;
}

function reconciliationOf(outcome: ToolOutcome): Reconciliation {
  switch (outcome.type) {
    case 'done':
      return { said: 'happened' };
    case 'undone':
      return { said: 'not-happened' };
    case 'unsettled':
      return outcome.why === undefined ? { said: outcome.said ?? 'nothing' } : { said: 'failed', error: outcome.why };
    case 'failed':
      return { said: 'failed', error: outcome.error.message };
    case 'interrupted':
      return { said: 'unknown' };
  }
}

function noteAttempt(frame: Frame, startedAt: number): void {
  const before = attemptsOf(frame);
  frame.note(doubtful, { attempts: (before?.attempts ?? 0) + 1, firstAt: before?.firstAt ?? startedAt, lastAt: startedAt });
}

function attemptsOf(frame: Frame): DoubtfulAttempts | undefined {
  return frame.noteOf(doubtful) as unknown as DoubtfulAttempts | undefined;
}

function isAbout({ values, tags = [], startedBy }: AgentScope['run']['state']): boolean {
  return startedBy !== undefined || tags.length > 0 || Object.keys(values).length > 0;
}

function ask(scope: AgentScope, frame: Frame, shown: Interrupt): Promise<Json> {
  return askIn(scope.run, frame, () => ({ shown }));
}

function questionOf(scope: AgentScope, frame: Frame, outcome: ToolOutcome & { type: 'interrupted' }): Interrupt {
  const { answerSchema, deadlineMs } = outcome;
  return {
    id: interruptId(frame.address, frame.next),
    address: frame.address,
    agent: scope.agent.name,
    kind: 'question',
    info: outcome.info,
    ...defined({ answerSchema }),
    ...(deadlineMs === undefined ? {} : { deadline: scope.run.ports.now() + deadlineMs }),
  };
}

/**
 * Milliseconds until the call is repeated. A worker that lacks a `once` tool, or had no turn for it, has certainly not run the tool. The
 * server repeats calls of other tools.
 */
function waitFor(
  { run }: AgentScope,
  { call }: ToolCallPlan,
  { error: { code } }: ToolOutcome & { type: 'failed' },
  waited: number,
): number | undefined {
  if (toolFactsOf(run.manifest, call.name).effect !== 'once') return undefined;
  if (code === 'waiting-for-turn') return Math.min(longestTurn, 1000 * 2 ** Math.min(waited, 10));
  return code === 'tool-unknown' ? waitsForTool[waited] : undefined;
}

const longestTurn = 30_000;

function doubtOf(
  scope: AgentScope,
  frame: Frame,
  plan: ToolCallPlan,
  { lost, reconciled }: { readonly lost: Unsettled; readonly reconciled: Unsettled },
): Interrupt {
  const { name, id, input } = plan.call;
  const { state } = scope.run;
  const { timedOut, why = 'its worker was lost', worker } = lost;
  const what =
    timedOut === true
      ? `it gave no result within ${toolFactsOf(scope.run.manifest, name).timeoutMs / 1000} s, and may still be at work`
      : why.replace(/\.$/, '');
  return {
    id: interruptId(frame.address, frame.next),
    address: frame.address,
    agent: scope.agent.name,
    ...frame.decision?.deciders,
    kind: 'in-doubt',
    info: {
      tool: name,
      callId: id,
      input,
      question: `Nobody knows whether "${name}" took effect: ${what}. Did it happen?`,
      key: `${workflowIdOf(state.tenant, state.id)}/${plan.key}`,
      ...attemptsOf(frame),
      ...defined({ worker }),
      reconcile: { ...reconciliationOf(reconciled) },
    } satisfies InDoubtInfo,
  };
}
