import {
  both,
  checkOptions,
  duration,
  flag,
  form,
  identifier,
  isRecord,
  listOf,
  refusing,
  required,
  shape,
  text,
} from '../../contract/check';
import { defined } from '../../contract/defined';
import { withDefaults, withoutDefaulted } from '../../contract/form-fields';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { notJson, textOfJson } from '../../contract/messages/messages';
import { misfitOfSchema } from '../../contract/schema/schema-fit';
import { jsonSchema } from '../../contract/schema/schema-form';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, HookContext, ToolContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkedDeciders, peopleForm, peopleOrFunction, runOf } from '../approval/policy-options';
import type { Deciders, PolicyRun } from '../../contract/policies';
import { askedForm, inputSchemaOf } from './asked-form';

export interface AskHumanOptions {
  /** Default: `askHuman`. */
  readonly toolName?: string;
  /** The tool's description for the model. */
  readonly description?: string;
  /** People, roles, or a function of the run. Default: any person. */
  readonly by?: Deciders | ((run: PolicyRun) => Deciders);
  /** JSON Schema of an object. Default: the model makes the form. */
  readonly form?: JsonObject;
  /** Lets the model ask for files, which an answer has as references. Default: false. */
  readonly files?: boolean;
  /** Such as "3d". Default: for ever. */
  readonly expires?: string;
  /** The answer after `expires`. Default: the model hears of the silence. */
  readonly fallback?: Json;
  /** Times without an answer after which an event reminds people. */
  readonly remind?: readonly string[];
  /** More people who may answer after a time without an answer. */
  readonly escalate?: { readonly after: string; readonly to: Deciders };
}

/**
 * A tool with which the model asks a person.
 * @example
 * export const asks = askHuman({
 *   by: { roles: ['support'] },
 *   expires: '2d',
 *   fallback: 'Nobody was there.',
 * });
 */
export function askHuman(options: AskHumanOptions = {}): AgentMiddleware {
  checked(options);
  const { toolName = 'askHuman', description = usualDescription, form: fixed, files = false } = options;
  return withTraits(
    {
      name: toolName,
      tools: [
        {
          name: toolName,
          description,
          inputSchema: inputSchemaOf({ isFixed: fixed !== undefined, files }),
          execute: (input, ctx) => asked(input as JsonObject, ctx, options),
        },
      ],
    },
    { offersTools: [] },
  );
}

async function asked(input: JsonObject, ctx: ToolContext, options: AskHumanOptions): Promise<Json> {
  const { form: fixed, expires, fallback, remind, escalate } = options;
  const whole = askedForm(input, fixed);
  const { title, fields, schema } = whole;
  const { question, details } = input;
  const info = { question, ...defined({ details }), form: { ...defined({ title }), fields } };
  const answerSchema = whole.isObject ? withoutDefaulted(schema) : schema;
  const isFit = fallback !== undefined && misfitOfSchema(answerSchema, fallback) === undefined;
  const { users, roles } = whom(options, ctx);
  const { answer, expired = false } = await insideOf(ctx).ask(info as unknown as Json, {
    kind: 'question',
    answerSchema,
    ...defined({ by: users, roles, remind, deadline: expires }),
    ...(expires === undefined ? {} : { onDeadline: isFit ? fallback : null }),
    ...(escalate === undefined
      ? {}
      : { escalate: { after: escalate.after, ...defined({ by: escalate.to.users, roles: escalate.to.roles }) } }),
  });
  const said = expired ? fallback : answer;
  const value = whole.isObject && said !== undefined ? withDefaults(schema, said) : said;
  if (!expired) return value as Json;
  if (value === undefined) return 'Nobody answered in time.';
  return `Nobody answered in time. Go on with this answer: ${textOfJson(value)}`;
}

function whom({ by = {} }: AskHumanOptions, ctx: HookContext): Deciders {
  return typeof by === 'function' ? checkedDeciders(by(runOf(ctx)), 'askHuman', 'by') : by;
}

const usualDescription =
  'Asks a person and waits for the answer. Use it when only a person can know or decide something. Ask one clear question, with all that the person needs to answer it.';

const objectSchema = both(
  jsonSchema,
  form(
    (value) =>
      isRecord(value) && value['type'] === 'object' && isRecord(value['properties']) && Object.keys(value['properties']).length > 0,
    'the JSON Schema of an object with properties',
  ),
);

function checked(given: AskHumanOptions): void {
  const refuse = refusing('askHuman');
  const {
    form: fixed,
    fallback,
    expires,
    by,
    escalate,
  } = checkOptions<AskHumanOptions>('askHuman', given, {
    toolName: identifier,
    description: text,
    by: peopleOrFunction,
    form: objectSchema,
    files: flag,
    expires: duration,
    fallback: { wanted: 'JSON', problem: notJsonProblem },
    remind: listOf(duration, 'an array of durations, such as ["1d", "2d"]'),
    escalate: shape({ after: required(duration), to: required(peopleForm) }, 'an object with after and to'),
  });
  if (fallback !== undefined && expires === undefined)
    refuse(
      'fallback is the answer when the time is over, and there is no expires; write for example expires: "3d", or leave fallback out.',
    );
  if (escalate !== undefined && by === undefined) refuse('escalate names others than those of by, and there is no by: anybody may answer.');
  if (fixed === undefined || fallback === undefined) return;
  const misfit = misfitOfSchema(withoutDefaulted(fixed), fallback);
  if (misfit !== undefined) refuse(`fallback does not fit form: ${misfit}. Give an answer that fits.`);
}

function notJsonProblem(value: unknown, option: string): string | undefined {
  const problem = notJson(value);
  return problem === undefined ? undefined : `${option} must be JSON: ${problem}`;
}
