import { log } from '@temporalio/workflow';
import { codeOf, messageOf, thrownCodeOf } from '../contract/errors';
import type { EndStatus, EventBody } from '../contract/events';
import type { NewsFields } from '../contract/news';
import { newsField, stackOf } from '../contract/news';
import { askedText } from '../contract/who-may-answer';
import { withSandboxHint } from '../contract/sandbox-lacks';
import type { StartInput } from '../contract/record/wire';
import type { ThrownAt } from '../kernel/run/ports';
import { startedAt } from './listed';

/** A line for the worker's log, without a command and without repetition in a replay. */
export function tell(level: 'debug' | 'warn', message: string, fields: NewsFields): void {
  const { event, ...rest } = fields;
  log[level](message, { [newsField]: event, ...rest });
}

const endings = { answer: 'answered', deadline: 'its deadline has passed', cancel: 'nobody is asked any more' } as const;

export class RunNews {
  private readonly told = new WeakSet();

  constructor(private readonly run: string) {}

  tell(event: EventBody): void {
    const { run } = this;
    switch (event.type) {
      case 'interrupt-start': {
        const { id, kind } = event.interrupt;
        const tool = 'tool' in event.interrupt ? event.interrupt.tool : undefined;
        const what = kind === 'approval' ? `${tool ?? 'a call'} needs an approval` : `${tool ?? 'it'} asks (${kind})`;
        return tell('debug', `run ${run} waits: ${what}`, { event: 'interrupt', run, interrupt: id, tool });
      }
      case 'interrupt-end': {
        const by = event.by === undefined ? '' : ` by ${event.by}`;
        return tell('debug', `run ${run} goes on: ${endings[event.reason]}${by}`, { event: 'answer', run, interrupt: event.interruptId });
      }
      case 'interrupt-remind':
      case 'interrupt-escalate': {
        const text =
          event.type === 'interrupt-remind' ? 'nobody has answered yet' : `nobody has answered yet, and ${askedText(event)} may as well`;
        return tell('debug', `run ${run} waits: ${text}`, { event: 'reminder', run, interrupt: event.interruptId });
      }
      case 'model-retry': {
        const { agent, error, failover } = event;
        const next = failover === undefined ? 'the model is asked again' : `${failover.model} is asked next`;
        return tell('debug', `run ${run}: ${next}: ${error.message}`, { event: 'retry', run, agent, code: error.code });
      }
      default:
    }
  }

  /** An uncaught error ends several agents and the run, but is logged once. */
  threw(error: unknown, { agent, tool, address }: ThrownAt): void {
    if (this.isTold(error)) return;
    const who = tool === undefined ? `agent "${agent}"` : `the tool '${tool}' of agent "${agent}"`;
    tell('warn', `run ${this.run}: ${who} failed: ${withSandboxHint(messageOf(error))}`, {
      event: 'threw',
      run: this.run,
      agent,
      tool,
      address,
      code: codeOf(error),
      stack: stackOf(error),
    });
  }

  isTold(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    if (this.told.has(error)) return true;
    this.told.add(error);
    return false;
  }
}

export function tellOfStart({ id: run, agent, parent }: StartInput): void {
  tell('debug', `run ${run} (${agent}) starts${parent === undefined ? '' : ', as a part of another run'}`, {
    event: 'run-start',
    run,
    agent,
  });
}

export function tellOfEnd(
  { id: run, agent }: StartInput,
  status: EndStatus,
  failed?: { readonly error: unknown; readonly isTold: boolean },
): void {
  const ms = Date.now() - startedAt();
  const fields: NewsFields = { event: 'run-end', run, agent, status, ms };
  const text = `run ${run} (${agent}) ${status === 'completed' ? 'is done' : status} after ${(ms / 1000).toFixed(1)} s`;
  if (failed === undefined || status === 'cancelled') return tell('debug', text, fields);
  const { error, isTold } = failed;
  tell('warn', `${text}: ${withSandboxHint(messageOf(error))}`, {
    ...fields,
    code: thrownCodeOf(error) ?? 'run-failed',
    stack: isTold ? undefined : stackOf(error),
  });
}
