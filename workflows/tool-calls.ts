import { CancellationScope } from '@temporalio/workflow';
import type { ToolFacts } from '../contract/manifest';
import type { CallToolInput, CallToolResult } from '../contract/record/wire';
import { isCancellation } from '../kernel/effects/errors';
import type { RunLog } from '../kernel/log/run-log';
import type { ToolCallRequest } from '../kernel/run/ports';
import { lostToolActivity } from './activity-failures';

/** What tool calls need of the run. */
export interface CallDesk {
  /** Settles when something may start. Absent: it may. */
  held(): Promise<void> | undefined;
  refuseWhenCancelled(): void;
  /** Whether a call is one that a cancelled run still makes: a tool is asked what became of one that was cut off. */
  asksInSpite(call: ToolCallRequest): boolean;
  /** Told of calls whose effect is once. */
  counted(call: Promise<CallToolResult>): Promise<CallToolResult>;
  schedule(address: string, input: CallToolInput, facts: ToolFacts): Promise<CallToolResult>;
  /** Makes a step in a task that has room for it. */
  inAnotherTask<Input>(step: () => Input | undefined, inSpite?: boolean): Promise<Input>;
}

/** Calls of tools, as activities. */
export class ToolCalls {
  constructor(
    private readonly log: RunLog,
    private readonly desk: CallDesk,
  ) {}

  async call(call: ToolCallRequest): Promise<CallToolResult> {
    const held = this.desk.held();
    if (held !== undefined) await held;
    if (this.desk.asksInSpite(call)) return this.callInSpite(call);
    this.desk.refuseWhenCancelled();
    const { address, facts } = call;
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
}
