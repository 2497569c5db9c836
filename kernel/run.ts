import { HoldfastError } from '../contract/plain/errors';
import type { Answer, Interrupt } from '../contract/plain/interrupts';
import type { Manifest, ManifestRequest } from '../contract/plain/manifest';
import type { Failure, Json, StoredMessage } from '../contract/plain/messages';
import { messagesOfInput } from '../contract/plain/messages';
import type { AgentRunOptions } from '../contract/plain/run-options';
import { runOptionsOf } from '../contract/plain/run-options';
import type { AgentDefinition } from './agent';
import { blame } from './compose';
import { refuseLayersOfExternal } from './external-calls';
import { Frame, Journal } from './frames';
import { InterruptDesk } from './interrupts';
import type { AgentResult } from './loop';
import { runAgentLoop } from './loop';
import type { Ports } from './ports';
import { isCancellation } from './ports';
import { RunLocalBook } from './run-local';
import { agentForRun, checkRunOptions, checkToolsOfOptions } from './run-options';
import type { AgentScope, RunScope } from './scope';
import type { AgentRecord, RunState } from './state';
import { exitTool } from './tool-plan';

/** One agent run, from its start or from a snapshot. Knows its ports, and nothing of what is behind them. */
export class AgentRun {
  private readonly journal: Journal;
  private readonly desk: InterruptDesk;
  private readonly addresses = new Map<string, number>();
  private readonly borders = new Map<string, AgentRecord>();

  constructor(
    private readonly agents: ReadonlyMap<string, AgentDefinition>,
    readonly state: RunState,
    private readonly ports: Ports,
  ) {
    this.journal = new Journal(state.journal);
    this.desk = new InterruptDesk(state, ports);
  }

  async execute(): Promise<AgentResult> {
    const { state } = this;
    const defined = this.agents.get(state.agent);
    if (defined === undefined) {
      throw new HoldfastError(
        'agent-unknown',
        `There is no agent "${state.agent}". There are: ${[...this.agents.keys()].join(', ') || 'none'}.`,
      );
    }
    const entered = state.agents[defined.name];
    if (entered === undefined) checkRunOptions(state.options, defined.name, this.agents);
    const options = runOptionsOf(state.options, defined.name);
    const agent = agentForRun(defined, options);
    const path = [agent.name];
    const record = entered ?? freshRecord(agent, path, this.firstMessages(agent), state);
    const manifest = await this.ports.prepare(requestOf(agent, options, state), record.messages);
    if (entered === undefined) checkToolsOfOptions(state.options, manifest, (tool) => agent.ownTools.has(tool));
    state.manifest = manifest;
    state.agents[agent.name] = record;
    refuseLayersOfExternal({ manifest }, agent);
    const scope: AgentScope = { run: this.scope(manifest), agent, options, path, record };
    try {
      return await runAgentLoop(scope, new Frame(this.journal, path));
    } catch (error) {
      // Hooks behind a stop can call nothing any more. That is no cancellation of the run.
      throw isCancellation(error) ? (scope.run.stoppedBy ?? error) : error;
    } finally {
      scope.run.ended = true;
    }
  }

  get interrupts(): readonly Interrupt[] {
    return this.state.interrupts.map(({ shown }) => shown);
  }

  /** How many answers are waited for right now. */
  get waitingFor(): number {
    return this.desk.size;
  }

  /** User code that is open, innermost last. */
  get openCode(): readonly string[] {
    return this.journal.openLabels;
  }

  refusalOf(answer: Answer): Failure | undefined {
    return this.desk.refusalOf(answer);
  }

  answer(answer: Answer): number {
    return this.desk.answer(answer);
  }

  cancel(error: unknown): void {
    this.desk.cancelAll(error);
  }

  /** The state as of the last iteration borders, and the journal of what has settled since. */
  snapshot(): { readonly state: RunState; readonly lists: Readonly<Record<string, readonly StoredMessage[]>> } {
    const agents: Record<string, AgentRecord> = {};
    const lists: Record<string, readonly StoredMessage[]> = {};
    for (const [key, record] of Object.entries(this.state.agents)) {
      const border = this.borders.get(key) ?? record;
      lists[key] = border.messages;
      agents[key] = { ...border, messages: [] };
    }
    return { state: { ...this.state, input: null, agents, journal: this.journal.toJSON() }, lists };
  }

  private firstMessages(agent: AgentDefinition): readonly StoredMessage[] {
    const { input } = this.state;
    if (agent.prompt !== undefined) return [promptMessage(agent, input, this.ports)];
    const messages = messagesOfInput(input);
    if (messages === undefined)
      throw new HoldfastError(
        'input-invalid',
        `Agent "${agent.name}" takes a text or a list of messages; it has no prompt for a typed job.`,
      );
    return messages;
  }

  private scope(manifest: Manifest): RunScope {
    return {
      state: this.state,
      ports: this.ports,
      journal: this.journal,
      desk: this.desk,
      runLocal: new RunLocalBook(this.state, this.ports),
      agents: this.agents,
      manifest,
      borders: this.borders,
      ensured: new Map(),
      parsed: new Map(),
      ended: false,
      cancelCalls: () => {
        const error = new HoldfastError('cancelled', 'A stop of another call ends the run.');
        this.desk.cancelAll(error);
        this.ports.stop(error);
      },
      uniqueAddress: (address) => {
        const ordinal = (this.addresses.get(address) ?? 0) + 1;
        this.addresses.set(address, ordinal);
        return ordinal === 1 ? address : `${address}.${ordinal}`;
      },
    };
  }
}

function promptMessage(agent: AgentDefinition, input: Json, ports: Ports): StoredMessage {
  let text: unknown;
  try {
    text = agent.prompt?.(input);
  } catch (error) {
    throw blame(error, `prompt of agent "${agent.name}"`);
  }
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `prompt of agent "${agent.name}" returned no text.`);
  return { id: ports.uuid(), role: 'user', parts: [{ type: 'text', text }] };
}

function freshRecord(agent: AgentDefinition, path: readonly string[], messages: readonly StoredMessage[], state: RunState): AgentRecord {
  const tools = agent.exitTool ? [...agent.tools, exitTool] : agent.tools;
  return {
    path,
    turn: 0,
    remaining: agent.maxIterations,
    instructions: agent.instructions,
    tools,
    callable: tools,
    returnDirectly: agent.returnDirectly,
    values: state.values,
    messages,
  };
}

function requestOf(agent: AgentDefinition, options: AgentRunOptions, state: RunState): ManifestRequest {
  const argumentAliases: Record<string, readonly string[]> = {};
  for (const [tool, alias] of Object.entries(agent.toolAliases)) argumentAliases[tool] = Object.values(alias.arguments ?? {}).flat();
  const language = state.language ?? agent.language;
  return {
    agent: agent.name,
    // What a layer names counts too: a hook may offer it, and a name that no worker knows protects nothing.
    // What the start names is checked against the whole manifest: its error is one of the start, not of the agent.
    tools: [
      ...new Set([...(options.tools === undefined ? agent.tools : []), ...agent.middleware.flatMap(({ onlyTools }) => onlyTools ?? [])]),
    ].filter((tool) => !agent.ownTools.has(tool)),
    models: [options.model ?? state.model ?? agent.model],
    halves: agent.halves.map(({ name }) => name),
    ...(agent.output === undefined ? {} : { outputs: [agent.output] }),
    argumentAliases,
    ...(language === undefined ? {} : { language }),
  };
}
