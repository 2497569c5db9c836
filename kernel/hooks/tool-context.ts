import { HoldfastError } from '../../contract/errors';
import { isRecord } from '../../contract/check';
import { frozen } from '../../contract/freeze';
import type { Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import type { AnyAgent, OwnTool, ToolInside } from '../define/definition';
import type { ToolContext } from '../define/middleware';
import type { Frame } from '../effects/frames';
import { storedMessages } from '../effects/transcript';
import { messagesFor } from '../run/job';
import type { AgentScope, ToolInAgent } from '../run/scope';
import { hookContext } from './context';

export function toolInside(scope: AgentScope, frame: Frame, tool: OwnTool, call: ToolCall): ToolInAgent {
  const open = new Map<Promise<string>, string>();
  const runAgent: ToolContext['runAgent'] = (name, input, options = {}) => {
    const { life } = scope;
    if (frame.isDeaf) return new Promise(() => undefined);
    const refusal = life.refusalOf('ctx.runAgent', frame) ?? frame.refusalInBranch;
    if (refusal !== undefined) return life.keep(Promise.reject<string>(refusal));
    const running = life.keep(frame.effect(`agent:${name}`, async (n) => answerOf(scope, frame, tool, { n, name, input, ...options })));
    const settled = (): void => void open.delete(running);
    open.set(running, name);
    running.then(settled, settled);
    return running;
  };
  const ctx = Object.assign(hookContext(scope, frame), { toolCall: frozen(call), messages: messagesUpTo(scope, call), runAgent });
  return { scope, call, frame, ctx, ended: () => endOf(tool.spec.name, open) };
}

type AskedByTool = { readonly n: number; readonly name: string; readonly input: Parameters<ToolContext['runAgent']>[1] } & Parameters<
  ToolContext['runAgent']
>[2];

function answerOf(scope: AgentScope, frame: Frame, tool: OwnTool, asked: AskedByTool): Promise<string> {
  const { n, name, input, model, forwardEvents = false } = asked;
  const found = tool.agents?.find((agent) => agent.name === name);
  if (found === undefined) {
    const known = tool.agents?.map((agent) => `"${agent.name}"`).join(', ') ?? '';
    throw new HoldfastError('agent-unknown', `ctx.runAgent("${name}"): the tool "${tool.spec.name}" has ${known || 'no agents'}.`);
  }
  if (model !== undefined && found.kind !== 'chat')
    throw new HoldfastError(
      'agent-invalid',
      `ctx.runAgent("${name}"): model is for an agent that talks to a model; this one is several agents.`,
    );
  const agent = model === undefined || found.kind !== 'chat' ? found : { ...found, model };
  const nth = numberOf(scope, frame, n);
  return scope.run.answerForTool({ scope, frame, agent, nth, messages: () => messagesOf(scope, agent, input), forwardEvents });
}

/** Re-entered code runs the same agent. */
function numberOf({ run }: AgentScope, frame: Frame, n: number): number {
  const note = `agent:${n}`;
  const before = frame.noteOf(note);
  if (typeof before === 'number') return before;
  const number = run.nextAgentOfTools();
  frame.note(note, number);
  return number;
}

function messagesOf({ run, record }: AgentScope, agent: AnyAgent, input: AskedByTool['input']): readonly StoredMessage[] {
  const given = typeof input === 'function' ? input() : input;
  const uuid = (): string => run.ports.uuid();
  if (typeof given === 'string') return [{ id: uuid(), role: 'user', parts: [{ type: 'text', text: given }] }];
  const messages = isRecord(given) ? messagesFor(agent, given) : given;
  return storedMessages((messages ?? given) as readonly Message[], record.messages, uuid, 'ctx.runAgent');
}

/** Results of parallel calls may arrive before re-entered code looks. */
function messagesUpTo({ record }: AgentScope, call: ToolCall): readonly StoredMessage[] {
  const calling = record.messages
    .map(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.id === call.id))
    .lastIndexOf(true);
  return frozen(calling < 0 ? record.messages : record.messages.slice(0, calling + 1));
}

/** An agent that the tool does not await would work for an ended call. */
async function endOf(tool: string, open: ReadonlyMap<Promise<string>, string>): ReturnType<ToolInside['ended']> {
  const [left] = open.values();
  if (left === undefined) return;
  await Promise.allSettled(open.keys());
  throw new HoldfastError(
    'next-left-running',
    `The tool "${tool}" ended while ctx.runAgent("${left}") was still running. Await every agent that it runs.`,
  );
}
