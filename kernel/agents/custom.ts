import { defined } from '../../contract/defined';
import { nthSegment, toolSegment } from '../../contract/record/agent-paths';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { bareAgent } from '../define/agent';
import { hookContext } from '../hooks/context';
import { frozen } from '../../contract/freeze';
import { messagesFor } from '../run/job';
import { checkEmptyRun } from '../run/livelock-guard';
import type { AgentScope, RunScope } from '../run/scope';
import { stopsTurn } from '../run/turn-stop';
import { freshRecord, scopeAt } from './chat';
import { Shown } from './custom-events';
import type { AgentInput } from '../define/agent-ref';
import type { AgentEnd, CustomContext, CustomDefinition, RanAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { forgetInside, inputAt, keyOf } from '../run/place';
import { runAgent } from './run-agent';
import { runApart } from './run-apart';
import { blame, isCancellation } from '../effects/errors';

/**
 * Effects and yields are numbered. After a continue-as-new the generator runs from its beginning with the settled results, and shows no
 * yield twice.
 */
export async function runCustom(run: RunScope, definition: CustomDefinition, place: AgentPlace): Promise<AgentEnd> {
  const { state } = run;
  const label = `agent "${definition.name}"`;
  const key = keyOf(place);
  const agent = bareAgent(definition);
  const record = (state.agents[key] ??= freshRecord(agent, place.path, inputAt(run, place, definition.name), state));
  const frame = place.frame.child('run', { label });
  const scope = scopeAt(run, agent, record, place);
  const shown = new Shown(scope, label);
  const ran: RanAgents = { open: new Map(), heard: new Set() };
  let yielding: ReturnType<CustomDefinition['run']> | undefined;
  try {
    const ctx = contextOf(scope, definition, frame, ran);
    const generator = definition.run(
      { messages: frozen(record.messages), streaming: state.stream, options: scope.options.custom ?? {} },
      ctx,
    );
    if (typeof (generator as { next?: unknown } | undefined)?.next !== 'function')
      throw new HoldfastError('hook-failed', `run of ${label} is no async generator; write: async *run(input, ctx) { … }.`);
    for (;;) {
      refuseWhenCancelled(run);
      const checkpoint = run.ports.checkpoint();
      if (checkpoint !== undefined) await checkpoint;
      yielding = undefined;
      const next = await frame.code.endOf(generator.next());
      if (next.done !== true) yielding = generator;
      refuseWhenCancelled(run);
      if (next.done === true) {
        const [left] = ran.open.values();
        if (left !== undefined)
          throw new HoldfastError(
            'next-left-running',
            `${label} ended while ctx.runAgent("${left}") was still running. Await every agent that it runs.`,
          );
        const end = shown.end(next.value);
        if (!ran.heard.has(end.text)) shown.sayReturned(end.text);
        frame.close();
        return end;
      }
      const event = next.value;
      shown.take(
        frame.once('event', () => {
          scope.life.event();
          return shown.show(event);
        }),
      );
    }
  } catch (error) {
    if (isCancellation(error) && run.cancels.isHeard) return await frame.code.endOf(frame.code.halt<never>(error));
    if (yielding !== undefined) await closed(yielding);
    if (isCancellation(error) && stopsTurn(run)) {
      await Promise.allSettled(ran.open.keys());
      throw error;
    }
    const left = ran.open.size > 0;
    if (left) leaveBehind(run, place, frame, label);
    frame.unwind(left ? `${label} ended before the agents that it ran` : undefined);
    // User code cannot cancel the run, even by an error with that code.
    throw blame(isCancellation(error) ? new Error(messageOf(error)) : error, label);
  } finally {
    scope.life.end();
  }
}

function refuseWhenCancelled({ ports }: RunScope): void {
  if (ports.cancelled) throw new HoldfastError('cancelled', 'The run was cancelled.');
}

const mostReturns = 10;

/** A generator that keeps yielding is abandoned after ten yields. */
async function closed(generator: Partial<ReturnType<CustomDefinition['run']>>): Promise<void> {
  try {
    for (let n = 0; n < mostReturns; n++) {
      const end = await generator.return?.();
      if (end?.done !== false) return;
    }
  } catch {
    // The earlier error counts.
  }
}

/** The agent has ended before its inner agents, so their questions are withdrawn. */
function leaveBehind(run: RunScope, place: AgentPlace, frame: AgentPlace['frame'], label: string): void {
  const error = new HoldfastError('next-left-running', `${label} has ended, and what it ran with it.`);
  frame.leave(error);
  for (const address of [frame.address, place.path]) run.interrupts.leave(address, error);
  forgetInside(run, place);
}

interface RanAgents {
  readonly open: Map<Promise<unknown>, string>;
  readonly heard: Set<string>;
}

function contextOf(scope: AgentScope, definition: CustomDefinition, frame: AgentPlace['frame'], { open, heard }: RanAgents): CustomContext {
  const { run, path, branch } = scope;
  const times = new Map<string, number>();
  const start = (name: string, segment: string, input: AgentInput | undefined): Promise<AgentEnd> => {
    const agent = definition.agents.find((one) => one.name === name);
    if (agent === undefined) {
      const known = definition.agents.map((one) => `"${one.name}"`).join(', ') || 'no agents';
      throw new HoldfastError('agent-unknown', `ctx.runAgent("${name}"): agent "${definition.name}" has ${known}.`);
    }
    const at = { path: [...path, segment], frame: frame.child(segment) };
    run.cancels.at('between', scope);
    if (input === undefined && branch !== undefined) return runAgent(run, agent, { ...at, branch });
    const given = input === undefined ? undefined : messagesFor(agent, input as Json);
    if (input !== undefined && given === undefined)
      throw new HoldfastError(
        'input-invalid',
        `ctx.runAgent("${name}") takes a text or a list of messages, or a job if the agent has an inputSchema.`,
      );
    return runApart(run, agent, at, () => given?.map((message) => ({ ...message, id: run.ports.uuid() })) ?? scope.record.messages);
  };
  // Readers do not see an agent with its own input in the conversation, so the segment differs.
  const isApart = (input: unknown): boolean => input !== undefined || branch === undefined;
  return Object.assign(hookContext(scope, frame) as CustomContext, {
    runAgent: (name: string, input?: AgentInput): Promise<RanAgent> => {
      if (frame.isDeaf) return new Promise(() => undefined);
      const refusal = scope.life.refusalOf('ctx.runAgent', frame) ?? frame.refusalInBranch;
      if (refusal !== undefined) return scope.life.keep(Promise.reject<RanAgent>(refusal));
      // Counted even for a recalled result, so a call keeps its place after a continue-as-new.
      const n = (times.get(name) ?? 0) + 1;
      times.set(name, n);
      const running = frame.effect(`agent:${name}`, async () => {
        const since = run.pace.now;
        const { output, text, action } = await start(name, isApart(input) ? toolSegment(name, n, true) : nthSegment(name, n), input);
        checkEmptyRun(run.pace, since, definition.name);
        return { output, text, ...defined({ action }) };
      });
      const settled = (): void => void open.delete(running);
      open.set(running, name);
      running.then(settled, settled);
      if (!isApart(input)) void running.then(({ text }) => heard.add(text), settled);
      return running;
    },
  });
}
