import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { attendRun } from '../attend-run';
import { withChanges, jsonOrText, parsedJson } from '../json-flags';
import { checkFilled } from '../next-commands';
import { told } from '../output';
import type { AnswerRequest } from '../../client/http/index';
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

interface Asked {
  readonly service: FoundService;
  readonly terminal: Terminal;
  readonly id: string;
  readonly interruptId?: string | undefined;
}

export function approve(asked: Asked, flags: ApprovalFlags): Promise<number> {
  const { forRest: forRestOfRun, comment } = flags;
  return decide(asked, flags, (interrupt) => {
    const editedInput = editOf(flags, interrupt);
    return { decision: 'approve', ...defined({ editedInput, forRestOfRun, upTo: amountOf(flags), comment }) };
  });
}

function amountOf({ upTo }: ApprovalFlags): number | undefined {
  const amount = upTo === undefined ? undefined : Number(upTo);
  if (amount === undefined || Number.isFinite(amount)) return amount;
  throw new HoldfastError('command-invalid', `--up-to must be a number. It is "${upTo}".`);
}

/** `--set` changes the arguments of `--edit`, or else of the interrupt. */
function editOf({ edit, set }: ApprovalFlags, interrupt: Interrupt | undefined): Json | undefined {
  const whole = edit === undefined ? undefined : parsedJson(edit, '--edit');
  if (set === undefined) return whole;
  if (whole !== undefined) return withChanges(whole, set);
  if (interrupt?.kind === 'approval') return withChanges(interrupt.input, set);
  throw new HoldfastError('interrupt-unknown', 'The run does not wait for this approval, so that --set has no arguments to change.');
}

export function reject(asked: Asked, flags: RejectionFlags): Promise<number> {
  const { feedback, comment } = flags;
  return decide(asked, flags, () => ({ decision: 'reject', ...defined({ feedback, comment }) }));
}

export function delegate(asked: Asked, flags: DelegationFlags): Promise<number> {
  const { to, comment } = flags;
  return decide(asked, flags, () => ({ decision: 'delegate', to, ...defined({ comment }) }));
}

export async function answer(asked: Asked, text: string, flags: DecisionFlags): Promise<number> {
  checkFilled(text);
  return send(asked, await asked.service.view(asked.id), { answer: jsonOrText(text) }, flags);
}

async function decide(asked: Asked, flags: DecisionFlags, bodyFor: (interrupt: Interrupt | undefined) => AnswerRequest): Promise<number> {
  const { service, id, interruptId } = asked;
  const view = await service.view(id);
  const { interrupts, status } = view;
  if (interruptId === undefined && isEnded(status))
    throw new HoldfastError(
      'run-ended',
      `The run ${id} is ${status} and waits for nobody. See: ${commandLine('show', id, ...service.flags)}`,
    );
  // The run knows why an interrupt no longer waits, so the answer is sent.
  const chosen = interruptId === undefined ? theOnlyApproval(id, interrupts) : interrupts.find((interrupt) => interrupt.id === interruptId);
  const hash = chosen?.kind === 'approval' ? { inputHash: chosen.inputHash } : {};
  return send({ ...asked, interruptId: chosen?.id ?? interruptId }, view, { ...bodyFor(chosen), ...hash }, flags);
}

/** Shows a turn of a conversation to its end. `view`: before the answer. */
async function send(asked: Asked, view: ShownRun, body: AnswerRequest, flags: DecisionFlags): Promise<number> {
  const { service, terminal, id, interruptId = '' } = asked;
  const { by, role: roles, follow } = flags;
  await service.answer(id, interruptId, { ...body, ...defined({ by, roles }) });
  if (!follow) return told(terminal, `The answer to ${interruptId} is sent.`);
  const { nextOffset: from, conversation } = view;
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
