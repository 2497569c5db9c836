import { CancellationScope, patched } from '@temporalio/workflow';
import { defined } from '../contract/defined';
import { limits } from '../contract/limits';
import type { ToolCallFacts } from '../contract/manifest';
import { patches } from '../contract/names';
import type { CallToolInput, CallToolResult } from '../contract/record/wire';
import { isCancellation } from '../kernel/effects/errors';
import type { RunLog } from '../kernel/log/run-log';
import type { ToolCallRequest, ValuesToSend } from '../kernel/run/ports';
import { lostToolActivity } from './activity-failures';
import type { LocalActivities } from './local-activities';

/** What tool calls need of the run. */
export interface CallDesk {
  /** Settles when something may start. Absent: it may. */
  held(): Promise<void> | undefined;
  refuseWhenCancelled(): void;
  /** Whether a call is one that a cancelled run still makes: a tool is asked what became of one that was cut off. */
  asksInSpite(call: ToolCallRequest): boolean;
  /** Told of calls whose effect is once. */
  counted(call: Promise<CallToolResult>): Promise<CallToolResult>;
  schedule(address: string, input: CallToolInput, facts: ToolCallFacts): Promise<CallToolResult>;
  /** Makes a step in a task that has room for it. */
  inAnotherTask<Input>(step: () => Input | undefined, inSpite?: boolean): Promise<Input>;
}

/** Calls of tools: as activities, as local ones, or first as a local one. */
export class ToolCalls {
  /** Tools that took longer here than their last calls had. */
  private readonly slow = new Set<string>();

  constructor(
    private readonly log: RunLog,
    private readonly local: LocalActivities,
    private readonly desk: CallDesk,
  ) {}

  /** Whether the run tells what became of `once` calls. Runs that began before do not. */
  get tellsOnce(): boolean {
    return patched(patches.onceTold);
  }

  /** Whether an edit of a call asks all again who are asked about it. */
  get editsAskAll(): boolean {
    return patched(patches.editsAskAll);
  }

  /** Whether questions of before a continue-as-new end that no code has asked again. */
  get endsRestored(): boolean {
    return patched(patches.endsRestored);
  }

  /** Whether whoever wrote to a turn, and another form of a name, are no second pair of eyes. */
  get knowsSecondEyes(): boolean {
    return patched(patches.secondEyes);
  }

  /** Whether what a person approved for the rest of the run holds for later turns of an agent. */
  get waivesInRun(): boolean {
    return patched(patches.waivesInRun);
  }

  async call(call: ToolCallRequest): Promise<CallToolResult> {
    const held = this.desk.held();
    if (held !== undefined) await held;
    if (this.desk.asksInSpite(call)) return this.callInSpite(call);
    this.desk.refuseWhenCancelled();
    const { address, facts } = call;
    if (facts.quick) return this.callQuick(call);
    if (facts.brief === true && !this.slow.has(call.tool)) {
      // No history has the input of a local activity: its values stand alone, or the call is none.
      if (call.runLocal === undefined) return this.callBriefly(call, undefined);
      if (call.runLocal.whole !== undefined) return this.callBriefly(call, call.runLocal.whole);
    }
    const tried = facts.effect === 'once' && call.reconcile !== true ? { ...facts, attempts: 1 } : facts;
    const step = (): CallToolInput | undefined => this.log.toolStep(call);
    const input = step() ?? (await this.desk.inAnotherTask(step));
    try {
      const made = this.desk.schedule(address, input, tried);
      const result = await (facts.effect === 'once' ? this.desk.counted(made) : made);
      this.log.toolCameBack(call, result);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolActivity(call, error) };
    }
  }

  /** The cancel does not reach it: the run ends when it has its answer. */
  private callInSpite(call: ToolCallRequest): Promise<CallToolResult> {
    const { address, facts } = call;
    return CancellationScope.nonCancellable(async () => {
      const step = (): CallToolInput | undefined => this.log.toolStep(call);
      const input = step() ?? (await this.desk.inAnotherTask(step, true));
      try {
        const result = await this.desk.counted(this.desk.schedule(address, input, facts));
        this.log.toolCameBack(call, result);
        return result;
      } catch (error) {
        return { address, outcome: lostToolActivity(call, error) };
      }
    });
  }

  private async callQuick(call: ToolCallRequest): Promise<CallToolResult> {
    const { address, facts } = call;
    const input = this.log.quickStep(call);
    try {
      const result = await this.local.run<CallToolResult>('callTool', [input], facts.timeoutMs, facts.attempts, facts.brief);
      this.log.toolCameBack(call, result);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolActivity(call, error) };
    }
  }

  /** As a local activity for a moment. What takes longer, or fails without a result, is called in an activity, now and from then on. */
  private async callBriefly(call: ToolCallRequest, runLocal: ValuesToSend | undefined): Promise<CallToolResult> {
    const { facts, tool } = call;
    const input = this.log.quickStep({ ...call, facts: { ...facts, quick: true }, ...defined({ runLocal }) });
    const limit = Math.min(limits.briefCallMs, facts.timeoutMs);
    try {
      const result = await this.local.briefly<CallToolResult>('callTool', [input], limit, () => this.slow.has(tool));
      if (result !== undefined) {
        this.log.toolCameBack(call, result);
        return result;
      }
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
    this.slow.add(tool);
    return this.call({ ...call, told: true });
  }
}
