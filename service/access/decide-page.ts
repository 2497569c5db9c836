import { html } from 'hono/html';
import { isRecord, isString, isStrings } from '../../contract/check';
import type { AskingPolicy } from '../../contract/decisions';
import { errorTable, type ErrorCode } from '../../contract/errors';
import { externalCallIn } from '../../contract/external-calls';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { visibleText } from '../../contract/visible-text';
import { askedAt, askedText } from '../../contract/who-may-answer';
import type { Link } from './links';
import { page, type Html } from './page';

const name = 'a decision';

export function decisionPage(interrupt: Interrupt, link: Link, now: number): Html {
  const isApproval = interrupt.kind === 'approval';
  return page(
    name,
    isApproval ? html`Approve <bdi>${visibleText(interrupt.tool)}</bdi>?` : 'A question for you',
    html`${isApproval ? argumentsOf(interrupt) : infoOf(interrupt)} ${factsOf(interrupt, link, now)} ${formOf(interrupt)}`,
  );
}

export function resultPage(said: string): Html {
  return page(name, said, html`<p>Your decision counts. You can close this page.</p>`);
}

export function problemPage(code: ErrorCode, message: string): Html {
  return page(
    name,
    'The decision was not taken',
    html`<p><bdi>${visibleText(message)}</bdi></p>
      <p>${errorTable[code].fix}</p>`,
  );
}

function argumentsOf({ input, options, problem }: Extract<Interrupt, { kind: 'approval' }>): Html {
  return html`${problem === undefined ? '' : html`<p>An earlier decision failed: <bdi>${visibleText(problem)}</bdi></p>`}
    <p>Arguments, as the model wrote them:</p>
    ${jsonText(input)}
    ${
      options === undefined
        ? ''
        : html`<p>Options of the run for the tool:</p>
            ${jsonText(options)}`
    }`;
}

function infoOf({ info }: Exclude<Interrupt, { kind: 'approval' }>): Html {
  return html`<p>In the words of the agent:</p>
    ${isString(info) ? html`<pre>${visibleText(info)}</pre>` : jsonText(info)}`;
}

function jsonText(value: Json): Html {
  return html`<pre>${visibleText(JSON.stringify(value, null, 2))}</pre>`;
}

function factsOf(interrupt: Interrupt, { user, roles, run, expires }: Link, now: number): Html {
  const policy = interrupt.kind === 'approval' ? interrupt.policy : undefined;
  const facts: readonly (readonly [string, string])[] = [
    ['Agent', interrupt.agent],
    ['Run', run],
    ...(policy === undefined ? [] : policyFacts(policy)),
    ['Asked', askedText(askedAt(interrupt, now))],
    ['You decide as', roles.length === 0 ? user : `${user} (${roles.join(', ')})`],
    ['Until', new Date(Math.min(expires, interrupt.deadline ?? expires)).toUTCString()],
  ];
  return html`<dl>
    ${facts.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd><bdi>${visibleText(text)}</bdi></dd>`,
    )}
  </dl>`;
}

function policyFacts({ name, stage, given }: AskingPolicy): readonly (readonly [string, string])[] {
  const words = { approve: 'approved', delegate: 'delegated', expired: 'expired' } as const;
  const decided = given.map(({ by = 'somebody', type, to, comment }) =>
    [`${by} ${words[type]}`, to === undefined ? '' : ` to ${to}`, comment === undefined ? '' : `: ${comment}`].join(''),
  );
  return [
    ['Policy', name],
    ['Stage', `${stage.name === undefined ? '' : `${stage.name}, `}${stage.number} of ${stage.of}; ${stage.need} needed`],
    ...(decided.length === 0 ? [] : [['Decided so far', decided.join('; ')] as const]),
  ];
}

function formOf(interrupt: Interrupt): Html {
  if (interrupt.kind === 'approval')
    return html`<form method="post">
      <label>Comment <textarea name="comment" rows="2" maxlength="2000"></textarea></label>
      <button class="yes" name="decision" value="approve">Approve</button><button class="no" name="decision" value="reject">Reject</button>
    </form>`;
  const field = fieldOf(interrupt);
  if (field === undefined) return html`<p>The answer has a form that this page does not show. Answer in the console.</p>`;
  return html`<form method="post">
    <label>Answer ${field}</label><button class="yes" name="decision" value="answer">Send the answer</button>
  </form>`;
}

/** Undefined: the answer needs the console. */
function fieldOf(interrupt: Exclude<Interrupt, { kind: 'approval' }>): Html | undefined {
  if (interrupt.kind === 'in-doubt' || externalCallIn(interrupt) !== undefined) return undefined;
  const schema = isRecord(interrupt.answerSchema) ? interrupt.answerSchema : {};
  const choices = schema['type'] === 'boolean' ? ['true', 'false'] : schema['enum'];
  if (isStrings(choices))
    return html`<select name="answer">
      ${choices.map((choice) => html`<option value="${choice}">${visibleText(choice)}</option>`)}
    </select>`;
  if (schema['type'] === 'number' || schema['type'] === 'integer') return html`<input name="answer" inputmode="decimal" required />`;
  if (interrupt.answerSchema !== undefined && schema['type'] !== 'string') return undefined;
  return html`<textarea name="answer" rows="4" required></textarea>`;
}

/** Undefined: this page has no field for the answer. The run checks what a field gives. */
export function answerIn(interrupt: Exclude<Interrupt, { kind: 'approval' }>, text: string): Json | undefined {
  if (fieldOf(interrupt) === undefined) return undefined;
  const type = isRecord(interrupt.answerSchema) ? interrupt.answerSchema['type'] : undefined;
  if (type === 'boolean') return text === 'true';
  if (type !== 'number' && type !== 'integer') return text;
  return text.trim() === '' || !Number.isFinite(Number(text)) ? text : Number(text);
}
