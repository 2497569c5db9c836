import { z } from 'zod';
import type { AnswerOptions } from '../../client/index';
import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { defined } from '../../contract/defined';
import { parse } from '../http/parse-request';
import { absentOr, json, roles, shortText, unread } from '../http/schemas';
import { taskStates } from './wire';

const textOf = (most: number) => absentOr(z.string().max(most)).transform((value) => (value === '' ? undefined : value));
const text = textOf(500);
const formed = (given: typeof text, form: RegExp, problem: string) =>
  given.refine((value) => value === undefined || form.test(value), problem);
const record = absentOr(z.record(z.string(), json));
const count = absentOr(z.int().nonnegative());

const contents = ['text', 'raw', 'url', 'data'] as const;

const GivenPart = z
  .strictObject({
    text: absentOr(z.string()),
    raw: absentOr(z.base64('is not base64')),
    url: absentOr(z.string().min(1)),
    data: json.optional(),
    mediaType: text,
    metadata: unread,
    filename: unread,
  })
  .refine((part) => contents.filter((name) => part[name] !== undefined).length === 1, 'must have one of text, raw, url and data');

const GivenMessage = z.strictObject({
  messageId: z.string().min(1).max(500),
  contextId: text,
  taskId: text,
  role: z.union([z.literal('ROLE_USER'), z.literal(1)], 'must be ROLE_USER'),
  parts: z.array(GivenPart).min(1).max(1000),
  metadata: record,
  extensions: unread,
  referenceTaskIds: unread,
});
export type GivenMessage = z.infer<typeof GivenMessage>;

const GivenPushConfig = z.strictObject({
  id: text.refine((value) => value === undefined || isMessageId(value), 'must be 1 to 100 letters, digits and . _ : -'),
  url: z.string().min(1).max(5000),
  token: formed(text, /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'must be visible ASCII characters'),
  authentication: absentOr(
    z.strictObject({
      scheme: formed(text, /^[!#$%&'*+.^_`|~\w-]+$/, 'must be the name of a scheme, such as Bearer'),
      credentials: formed(textOf(4000), /^[\x20-\x7e]+$/, 'must be visible ASCII characters'),
    }),
  ),
  tenant: unread,
  taskId: unread,
});
export type GivenPushConfig = z.infer<typeof GivenPushConfig>;

export const SetPushParams = GivenPushConfig.extend({ taskId: z.string() });
export const PushParams = z.strictObject({ taskId: z.string(), id: z.string().max(500), tenant: unread });
export const ListPushParams = z.strictObject({ taskId: z.string(), tenant: unread, pageSize: unread, pageToken: unread });

const taskStateNumbers = z
  .int()
  .min(0)
  .max(7)
  .transform((number) => (['', ...taskStates] as const)[number]);

export const SendParams = z.strictObject({
  message: GivenMessage,
  configuration: absentOr(
    z.strictObject({
      returnImmediately: absentOr(z.boolean()),
      historyLength: count,
      taskPushNotificationConfig: absentOr(GivenPushConfig),
      acceptedOutputModes: unread,
    }),
  ),
  metadata: record,
  tenant: unread,
});
export type SendParams = z.infer<typeof SendParams>;

export const GetParams = z.strictObject({ id: z.string(), historyLength: count, tenant: unread });
export const CancelParams = z.strictObject({ id: z.string(), metadata: record, tenant: unread });
export const SubscribeParams = z.strictObject({ id: z.string(), tenant: unread });

export const ListParams = z.strictObject({
  contextId: text,
  // A2A's SDK writes `UNRECOGNIZED` for an absent status.
  status: absentOr(
    z.union([z.enum(['UNRECOGNIZED', 'TASK_STATE_UNSPECIFIED', 'TASK_STATE_AUTH_REQUIRED', ...taskStates]), taskStateNumbers]),
  ),
  pageSize: absentOr(z.int().min(1).max(100)),
  pageToken: text,
  historyLength: count,
  statusTimestampAfter: absentOr(z.iso.datetime({ offset: true })),
  includeArtifacts: absentOr(z.boolean()),
  tenant: unread,
});
export type ListParams = z.infer<typeof ListParams>;

const Envelope = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(500), z.number(), z.null()]).optional(),
  method: z.string().max(200),
  params: z.record(z.string(), z.unknown()).nullish(),
});

export interface RpcRequest {
  readonly id: string | number | null;
  readonly method: string;
  readonly params: unknown;
}

export function rpcRequestOf(body: unknown): RpcRequest {
  if (Array.isArray(body)) throw new HoldfastError('request-invalid', 'The body is a list. Send one request at a time.');
  const { id = null, method, params } = parse(Envelope, body, 'The body');
  return { id, method, params: params ?? {} };
}

export function rpcIdOf(body: unknown): string | number | null {
  const { id } = (body ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

const Who = z.looseObject({ by: shortText.optional(), roles: roles.optional() });

export function speakerIn(metadata: unknown = {}): Pick<AnswerOptions, 'by' | 'roles'> {
  const { by, roles: has } = parse(Who, metadata, 'metadata');
  return defined({ by, roles: has });
}
