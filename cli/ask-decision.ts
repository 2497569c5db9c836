import type { AnswerRequest } from '../http/index';
import { HoldfastError, messageOf } from '../contract/errors';
import { externalCallIn } from '../contract/external-calls';
import type { Interrupt } from '../contract/interrupts';
import type { Json } from '../contract/messages/messages';
import { misfitOfSchema } from '../contract/schema/schema-fit';
import type { Terminal } from './terminal';

/** The body with which the answer is sent, or `later`. */
export type AskedDecision = { readonly body: AnswerRequest } | 'later';

/** Asks a person what an interrupt asks for. An empty answer, or a closed input, means later. */
export async function askDecision(interrupt: Interrupt, terminal: Terminal): Promise<AskedDecision> {
  switch (interrupt.kind) {
    case 'approval':
      return askApproval(interrupt, terminal);
    case 'in-doubt':
      return askInDoubt(terminal);
    default:
      return externalCallIn(interrupt) === undefined
        ? askAnswer(terminal, 'your answer', (answer) => answer)
        : askAnswer(terminal, 'the result of the call', (output) => ({ output }));
  }
}

async function askAnswer(terminal: Terminal, what: string, answerOf: (typed: Json) => Json): Promise<AskedDecision> {
  for (;;) {
    const text = await terminal.ask(`  ${what} (JSON or text; empty: later) `);
    if (isEmpty(text)) return 'later';
    try {
      return { body: { answer: answerOf(jsonOrText(text)) } };
    } catch (error) {
      terminal.write(`  ${messageOf(error)}`);
    }
  }
}

type Approval = Extract<Interrupt, { kind: 'approval' }>;

async function askApproval({ inputHash, input, inputSchema }: Approval, terminal: Terminal): Promise<AskedDecision> {
  for (;;) {
    const choice = await terminal.ask('  approve / reject / edit / later? ');
    if (isEmpty(choice)) return 'later';
    switch (matching(choice, ['approve', 'reject', 'edit', 'later', 'yes', 'no'])) {
      case 'approve':
      case 'yes':
        return { body: { decision: 'approve', inputHash } };
      case 'reject':
      case 'no': {
        const feedback = await terminal.ask('  what should the agent know about it? (empty: nothing) ');
        return { body: { decision: 'reject', inputHash, ...(isEmpty(feedback) ? {} : { feedback }) } };
      }
      case 'edit': {
        const edited = await askJson('  the arguments as they should be (JSON; empty: leave them) ', terminal, input);
        if (edited === undefined) continue;
        const misfit = misfitOfSchema(inputSchema, edited);
        if (misfit !== undefined) {
          terminal.write(`  These arguments do not fit: ${misfit}.`);
          continue;
        }
        return { body: { decision: 'approve', inputHash, editedInput: edited } };
      }
      case 'later':
        return 'later';
      default:
        terminal.write(`  "${choice.trim()}" is none of these.`);
    }
  }
}

async function askInDoubt(terminal: Terminal): Promise<AskedDecision> {
  for (;;) {
    const choice = await terminal.ask('  did it happen: yes / no / later? ');
    if (isEmpty(choice)) return 'later';
    switch (matching(choice, ['yes', 'no', 'later'])) {
      case 'no':
        return { body: { answer: { happened: false } } };
      case 'yes': {
        const result = await askJson('  what did it return? (JSON; empty: null) ', terminal);
        return { body: { answer: { happened: true, result: result ?? null } } };
      }
      case 'later':
        return 'later';
      default:
        terminal.write(`  "${choice.trim()}" is none of these.`);
    }
  }
}

async function askJson(question: string, terminal: Terminal, before?: Json): Promise<Json | undefined> {
  for (;;) {
    const text = await terminal.ask(question, before === undefined ? undefined : JSON.stringify(before));
    if (isEmpty(text)) return undefined;
    try {
      return JSON.parse(text) as Json;
    } catch {
      terminal.write('  That is no JSON.');
    }
  }
}

/** What is no JSON is a text, unless it begins as an object, a list or a string of JSON does. */
export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!/^\s*[{["]/.test(text)) return text;
    throw new HoldfastError(
      'request-invalid',
      `The answer is not JSON: ${messageOf(error)}. Write a text that begins so as a string of JSON.`,
    );
  }
}

function isEmpty(text: string | undefined): text is undefined {
  return text === undefined || text.trim() === '';
}

function matching(typed: string, words: readonly string[]): string | undefined {
  const start = typed.trim().toLowerCase();
  return words.find((word) => word.startsWith(start));
}
