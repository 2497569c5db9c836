import { activityInfo, log } from '@temporalio/activity';
import { codeOf, messageOf } from '../contract/errors';
import type { NewsFields } from '../contract/news';
import { runIdOf } from '../contract/names';
import { newsField, stackOf } from '../contract/news';
import type { Verdict } from './failures';

export type CallFields = Required<Pick<NewsFields, 'run' | 'agent' | 'address' | 'attempt'>>;

function tell(level: 'debug' | 'warn', message: string, fields: NewsFields): void {
  const { event, ...rest } = fields;
  log[level](message, { [newsField]: event, ...rest });
}

/** Only the log gets the stack. */
export function tellOfTool({ tool }: { readonly tool: string }, call: CallFields, error: unknown): void {
  const code = codeOf(error);
  const what = code === 'hook-failed' ? messageOf(error) : `the tool '${tool}' failed: ${messageOf(error)}`;
  tell('warn', `run ${call.run}: ${what}`, { event: 'threw', ...call, tool, code: code ?? 'tool-failed', stack: stackOf(error) });
}

/** Told at the first attempt of up to half an hour. */
export function tellOfStart(agent: string, error: unknown): void {
  const { workflowExecution, activityId: address, attempt } = activityInfo();
  const code = codeOf(error);
  if (code !== 'mcp-unreachable' || attempt > 1) return;
  const run = runIdOf(workflowExecution?.workflowId ?? '');
  tell('warn', `run ${run} waits at its start: ${messageOf(error)}`, { event: 'retry', run, agent, address, attempt, code });
}

/** A wait for a turn or a busy provider does not count as a failure. */
export function tellOfModel(call: CallFields, { code, message, waitsFor }: Verdict, error: unknown): void {
  if (waitsFor === 'turn') return;
  const fields = { ...call, code };
  if (waitsFor === 'provider')
    return tell('debug', `run ${call.run}: the model call ${call.address} waits, its provider is busy: ${message}`, {
      event: 'retry',
      ...fields,
    });
  if (code === 'hook-failed') return tell('warn', `run ${call.run}: ${message}`, { event: 'threw', ...fields, stack: stackOf(error) });
  tell('warn', `run ${call.run}: the model call ${call.address} failed (attempt ${call.attempt}): ${message}`, {
    event: 'retry',
    ...fields,
  });
}
