import { isDeepStrictEqual } from 'node:util';
import type { AnswerRequest } from '../client/http/index';
import { HoldfastError, messageOf } from '../contract/errors';
import { externalCallIn } from '../contract/external-calls';
import type { Interrupt } from '../contract/interrupts';
import type { Json } from '../contract/messages/messages';
import { misfitOfSchema } from '../contract/schema/schema-fit';
import { withChanges, jsonOrText } from './json-flags';
import { interrupted, type Terminal, type Typed } from './terminal';

type AskedDecision = { readonly body: AnswerRequest } | 'later';

/** An empty answer and the end of the input mean `later`. Ctrl-C leads from a question to the choices, and from the choices to `later`. */
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
  const typed = await askParsed(`  ${what} (JSON or text; empty: later) `, terminal, (text) => jsonOrText(text));
  return typeof typed === 'string' ? 'later' : { body: { answer: answerOf(typed.value) } };
}

type Approval = Extract<Interrupt, { kind: 'approval' }>;

async function askApproval({ inputHash, input, inputSchema }: Approval, terminal: Terminal): Promise<AskedDecision> {
  for (;;) {
    switch (await askChoice('  approve / reject / edit / later? ', ['approve', 'reject', 'edit', 'later', 'yes', 'no'], terminal)) {
      case 'approve':
      case 'yes':
        return { body: { decision: 'approve', inputHash } };
      case 'reject':
      case 'no': {
        const feedback = await terminal.ask('  what should the agent know about it? (empty: nothing) ');
        if (feedback === undefined) return 'later';
        if (feedback === interrupted) continue;
        return { body: { decision: 'reject', inputHash, ...(isNothing(feedback) ? {} : { feedback }) } };
      }
      case 'edit': {
        const edited = await askParsed(editQuestion, terminal, (text) => editedBy(text, input), JSON.stringify(input));
        if (edited === 'closed') return 'later';
        if (edited === 'nothing' || edited === 'back') continue;
        const misfit = misfitOfSchema(inputSchema, edited.value);
        if (isDeepStrictEqual(edited.value, input)) terminal.write('  Nothing is changed.');
        else if (misfit !== undefined) terminal.write(`  These arguments do not fit: ${misfit}.`);
        else return { body: { decision: 'approve', inputHash, editedInput: edited.value } };
        continue;
      }
      case 'later':
        return 'later';
    }
  }
}

async function askInDoubt(terminal: Terminal): Promise<AskedDecision> {
  for (;;) {
    const choice = await askChoice('  did it happen: yes / no / later? ', ['yes', 'no', 'later'], terminal);
    if (choice === 'later') return 'later';
    if (choice === 'no') return { body: { answer: { happened: false } } };
    const result = await askParsed('  what did it return? (JSON; empty: null) ', terminal, parsedLine);
    if (result === 'closed') return 'later';
    if (result !== 'back') return { body: { answer: { happened: true, result: result === 'nothing' ? null : result.value } } };
  }
}

async function askChoice<Word extends string>(question: string, words: readonly Word[], terminal: Terminal): Promise<Word | 'later'> {
  for (;;) {
    const typed = await terminal.ask(question);
    if (isNothing(typed)) return 'later';
    const word = words.find((one) => one.startsWith(typed.trim().toLowerCase()));
    if (word !== undefined) return word;
    terminal.write(`  "${typed.trim()}" is none of these.`);
  }
}

const editQuestion = '  the arguments as they should be (JSON or name=value; empty or unchanged: back) ';

function editedBy(text: string, input: Json): Json {
  return /^\s*[^\s{}[\]"=]+=/.test(text) ? withChanges(input, [text.trim()], 'A change') : parsedLine(text);
}

function parsedLine(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new HoldfastError('request-invalid', 'That is no JSON.');
  }
}

/** `nothing`: an empty line. `back`: Ctrl-C. `closed`: the end of the input. */
type Parsed = { readonly value: Json } | 'nothing' | 'back' | 'closed';

async function askParsed(question: string, terminal: Terminal, parse: (text: string) => Json, offered?: string): Promise<Parsed> {
  for (;;) {
    const text = await terminal.ask(question, offered);
    if (text === undefined) return 'closed';
    if (text === interrupted) return 'back';
    if (isNothing(text)) return 'nothing';
    try {
      return { value: parse(text) };
    } catch (error) {
      terminal.write(`  ${messageOf(error)}`);
    }
  }
}

function isNothing(text: Typed): text is Exclude<Typed, string> {
  return typeof text !== 'string' || text.trim() === '';
}
