import { HoldfastError } from '../../contract/errors';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { hashOf } from '../projection/content';

/**
 * A response's id contains its place, so the service stores nothing. A response begins when a turn takes a message, or when the last
 * answers take effect.
 */
export interface ResponseRef {
  readonly conversation: string;
  readonly message: string;
  /** For each time of answers: the offsets where the interrupts began. */
  readonly answers: readonly (readonly number[])[];
}

const messageForm = /^response\.(\d{1,12})\.[0-9a-f]{16}(?:-\d{1,4})?$/;
const answersForm = /^\d+(?:\.\d+)*(?:,\d+(?:\.\d+)*)*$/;
/** The check detects damage, but not forgery. */
const checkLength = 8;

/** `from`: the message's offset or earlier. */
export function messageIdOf(from: number, content: string): string {
  return `response.${from}.${hashOf(content, 16)}`;
}

export function isResponseMessage(id: string): boolean {
  return messageForm.test(id);
}

export function offsetOf({ message }: ResponseRef): number {
  return Number(messageForm.exec(message)?.[1] ?? 0);
}

export function responseIdOf({ conversation, message, answers }: ResponseRef): string {
  const answered = answers.length === 0 ? [] : [answers.map((offsets) => offsets.join('.')).join(',')];
  const text = [conversation, message, ...answered].join(' ');
  return `resp_${Buffer.from(text).toString('base64url')}${hashOf(text, checkLength)}`;
}

/** Throws for damaged and foreign ids. */
export function refOf(id: string): ResponseRef {
  const text = Buffer.from(id.slice('resp_'.length, -checkLength), 'base64url').toString();
  const [conversation = '', message = '', answered, ...more] = text.split(' ');
  const isWhole =
    isRunId(conversation) && isResponseMessage(message) && more.length === 0 && (answered === undefined || answersForm.test(answered));
  const answers = answered?.split(',').map((offsets) => offsets.split('.').map(Number)) ?? [];
  const ref: ResponseRef = { conversation, message, answers };
  if (!isWhole || responseIdOf(ref) !== id) throw unknownResponse(id);
  return ref;
}

export function unknownResponse(id: string): HoldfastError {
  return new HoldfastError('response-unknown', `There is no response ${shown(id)}.`);
}

export function beforeAnswers({ answers, ...ref }: ResponseRef): ResponseRef | undefined {
  return answers.length === 0 ? undefined : { ...ref, answers: answers.slice(0, -1) };
}
