import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { jsonOrText } from '../ask-decision';
import { withChanges } from '../edited-input';
import { attendRun, exitCodes } from '../attend-run';
import type { ServiceClient } from '../service-client';
import { commandLine } from '../shell-words';
import type { Terminal } from '../terminal';

export interface RunFlags {
  readonly id?: string;
  readonly model?: string;
  readonly jsonInput?: boolean;
  readonly options?: string;
  readonly values?: string;
  readonly settings?: string;
  readonly tag?: readonly string[];
  readonly deadline?: string;
  readonly detach?: boolean;
  readonly by?: string;
}

/** Starts a run, or finds the one with this id, and stays with it. */
export async function startRun(service: ServiceClient, terminal: Terminal, agent: string, input: string, flags: RunFlags): Promise<number> {
  const { id, model, tag, deadline, by } = flags;
  const run = await service.start({
    agent,
    input: flags.jsonInput === true ? parsedJson(input, 'The input') : input,
    ...defined({ id, model, deadline, tags: tag }),
    ...jsonFlags(flags, 'options', 'values', 'settings'),
    ...defined({ by }),
  });
  terminal.write(terminal.paint.dim(`${run.isNew ? 'run' : 'found run'} ${run.id} (${run.agent})`));
  if (run.ignored !== undefined && run.ignored.length > 0)
    terminal.write(
      terminal.paint.yellow(`ignored: ${run.ignored.join(', ')} (the run was started with others, and the first start counts)`),
    );
  if (flags.detach === true) {
    terminal.write(`Follow it with: ${commandLine('events', run.id, '--follow', ...service.flags)}`);
    return exitCodes.done;
  }
  return attendRun(service, terminal, { id: run.id, from: 0, ...defined({ by }) });
}

export interface DecisionFlags {
  readonly by?: string;
  readonly follow: boolean;
}

export type ApprovalFlags = DecisionFlags & { readonly edit?: string; readonly set?: readonly string[]; readonly forRest?: boolean };

export async function approve(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: ApprovalFlags,
): Promise<number> {
  const { forRest } = flags;
  return decide(service, terminal, id, interruptId, flags, (interrupt) => ({
    decision: 'approve',
    ...hashOf(interrupt),
    ...defined({ editedInput: editOf(flags, interrupt), forRestOfRun: forRest }),
  }));
}

/** `--set` changes what `--edit` gives, or what the interrupt shows. */
function editOf({ edit, set }: ApprovalFlags, interrupt: Interrupt | undefined): Json | undefined {
  const whole = edit === undefined ? undefined : parsedJson(edit, '--edit');
  if (set === undefined) return whole;
  if (whole === undefined && interrupt?.kind !== 'approval')
    throw new HoldfastError('interrupt-unknown', 'The run does not wait for this approval, so that --set has no arguments to change.');
  return withChanges(whole ?? (interrupt as { readonly input: Json }).input, set);
}

export async function reject(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: DecisionFlags & { feedback?: string },
): Promise<number> {
  const { feedback } = flags;
  return decide(service, terminal, id, interruptId, flags, (interrupt) => ({
    decision: 'reject',
    ...hashOf(interrupt),
    ...defined({ feedback }),
  }));
}

export async function answer(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  interruptId: string,
  text: string,
  flags: DecisionFlags,
): Promise<number> {
  const body = { answer: jsonOrText(text) };
  return send(service, terminal, id, interruptId, (await service.view(id)).nextOffset, body, flags);
}

export async function cancelRun(service: ServiceClient, terminal: Terminal, id: string): Promise<number> {
  const { status } = await service.view(id);
  await service.cancel(id);
  terminal.write(`The run ${id} is asked to stop.`);
  if (status === 'stuck')
    terminal.write(`It is stuck, and its code may never hear of it. To end it as it is: ${commandLine('terminate', id, ...service.flags)}`);
  return exitCodes.done;
}

export async function upgradeRun(service: ServiceClient, terminal: Terminal, id: string): Promise<number> {
  const { build, moved } = await service.upgrade(id);
  terminal.write(moved ? `The run ${id} goes on under the newest build, ${build}.` : `The run ${id} is under the newest build, ${build}.`);
  return exitCodes.done;
}

export async function terminateRun(service: ServiceClient, terminal: Terminal, id: string, reason?: string): Promise<number> {
  await service.terminate(id, reason);
  terminal.write(`The run ${id} is ended.`);
  return exitCodes.done;
}

async function decide(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: DecisionFlags,
  bodyFor: (interrupt: Interrupt | undefined) => object,
): Promise<number> {
  const { interrupts, nextOffset, status } = await service.view(id);
  if (interruptId === undefined && isEnded(status))
    throw new HoldfastError(
      'run-ended',
      `The run ${id} is ${status} and waits for nobody. See: ${commandLine('show', id, ...service.flags)}`,
    );
  // One that no longer waits is sent all the same: the run knows best why it does not.
  const chosen = interruptId === undefined ? theOnlyApproval(id, interrupts) : interrupts.find((interrupt) => interrupt.id === interruptId);
  return send(service, terminal, id, chosen?.id ?? interruptId ?? '', nextOffset, bodyFor(chosen), flags);
}

async function send(
  service: ServiceClient,
  terminal: Terminal,
  id: string,
  interruptId: string,
  from: number,
  body: object,
  flags: DecisionFlags,
): Promise<number> {
  const { by, follow } = flags;
  await service.answer(id, interruptId, { ...body, ...defined({ by }) });
  if (!follow) {
    terminal.write(`The answer to ${interruptId} is sent.`);
    return exitCodes.done;
  }
  return attendRun(service, terminal, { id, from, answered: [interruptId], ...defined({ by }) });
}

function theOnlyApproval(id: string, interrupts: readonly Interrupt[]): Interrupt {
  const approvals = interrupts.filter(({ kind }) => kind === 'approval');
  const [only] = approvals;
  if (only === undefined) throw new HoldfastError('interrupt-unknown', `The run ${id} waits for no approval.`);
  if (approvals.length > 1)
    throw new HoldfastError(
      'request-invalid',
      `The run ${id} waits for several approvals; name one: ${approvals.map((interrupt) => interrupt.id).join(', ')}.`,
    );
  return only;
}

function hashOf(interrupt: Interrupt | undefined): { inputHash?: string } {
  return interrupt?.kind === 'approval' ? { inputHash: interrupt.inputHash } : {};
}

/** Those that are given, under the names that the service knows them by. */
function jsonFlags(flags: RunFlags, ...names: readonly ('options' | 'values' | 'settings')[]): Readonly<Record<string, Json>> {
  const given = names.flatMap((name) => {
    const text = flags[name];
    return text === undefined ? [] : [[name, parsedJson(text, `--${name}`)] as const];
  });
  return Object.fromEntries(given);
}

function parsedJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new HoldfastError('request-invalid', `${what} is not JSON: ${messageOf(error)}`);
  }
}
