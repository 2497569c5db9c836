import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { attendRun, exitCodes } from '../attend-run';
import { withChanges } from '../edited-input';
import { jsonOrText, parsedJson } from '../parsed-json';
import type { AnswerRequest } from '../../http/index';
import type { FoundService } from '../found-service';
import type { ShownRun } from '../../contract/service';
import { commandLine } from '../../contract/shell-words';
import type { Terminal } from '../terminal';

export interface DecisionFlags {
  readonly by?: string;
  readonly role?: readonly string[];
  readonly follow: boolean;
}

type CommentFlags = DecisionFlags & { readonly comment?: string };
export type RejectionFlags = CommentFlags & { readonly feedback?: string };
export type DelegationFlags = CommentFlags & { readonly to: string };
export type ApprovalFlags = CommentFlags & {
  readonly edit?: string;
  readonly set?: readonly string[];
  readonly forRest?: boolean;
  readonly upTo?: string;
};

export async function approve(
  service: FoundService,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: ApprovalFlags,
): Promise<number> {
  const { forRest, upTo, comment } = flags;
  return decide(service, terminal, id, interruptId, flags, (interrupt) => ({
    decision: 'approve',
    ...hashOf(interrupt),
    ...defined({
      editedInput: editOf(flags, interrupt),
      forRestOfRun: forRest,
      upTo: upTo === undefined ? undefined : amountOf(upTo),
      comment,
    }),
  }));
}

function amountOf(text: string): number {
  const amount = Number(text);
  if (!Number.isFinite(amount)) throw new HoldfastError('command-invalid', `--up-to must be a number. It is "${text}".`);
  return amount;
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
  service: FoundService,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: RejectionFlags,
): Promise<number> {
  const { feedback, comment } = flags;
  return decide(service, terminal, id, interruptId, flags, (interrupt) => ({
    decision: 'reject',
    ...hashOf(interrupt),
    ...defined({ feedback, comment }),
  }));
}

export async function delegate(
  service: FoundService,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: DelegationFlags,
): Promise<number> {
  const { to, comment } = flags;
  return decide(service, terminal, id, interruptId, flags, (interrupt) => ({
    ...{ decision: 'delegate', to },
    ...hashOf(interrupt),
    ...defined({ comment }),
  }));
}

export async function answer(
  service: FoundService,
  terminal: Terminal,
  id: string,
  interruptId: string,
  text: string,
  flags: DecisionFlags,
): Promise<number> {
  return send(service, terminal, { id, interruptId, view: await service.view(id) }, { answer: jsonOrText(text) }, flags);
}

async function decide(
  service: FoundService,
  terminal: Terminal,
  id: string,
  interruptId: string | undefined,
  flags: DecisionFlags,
  bodyFor: (interrupt: Interrupt | undefined) => AnswerRequest,
): Promise<number> {
  const view = await service.view(id);
  const { interrupts, status } = view;
  if (interruptId === undefined && isEnded(status))
    throw new HoldfastError(
      'run-ended',
      `The run ${id} is ${status} and waits for nobody. See: ${commandLine('show', id, ...service.flags)}`,
    );
  // One that no longer waits is sent all the same: the run knows best why it does not.
  const chosen = interruptId === undefined ? theOnlyApproval(id, interrupts) : interrupts.find((interrupt) => interrupt.id === interruptId);
  return send(service, terminal, { id, interruptId: chosen?.id ?? interruptId ?? '', view }, bodyFor(chosen), flags);
}

interface Asked {
  readonly id: string;
  readonly interruptId: string;
  /** How the run stood before the answer. */
  readonly view: ShownRun;
}

/** In a conversation the turn that asked is shown to its end. */
async function send(
  service: FoundService,
  terminal: Terminal,
  { id, interruptId, view: { nextOffset: from, conversation } }: Asked,
  body: AnswerRequest,
  flags: DecisionFlags,
): Promise<number> {
  const { by, role: roles, follow } = flags;
  await service.answer(id, interruptId, { ...body, ...defined({ by, roles }) });
  if (!follow) {
    terminal.write(`The answer to ${interruptId} is sent.`);
    return exitCodes.done;
  }
  return attendRun(service, terminal, { id, from, answered: [interruptId], ...defined({ by, roles, turn: conversation?.turn }) });
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
