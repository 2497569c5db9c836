import { z } from 'zod';
import { pushSecretProblem } from '../../host/check-settings';
import type { NoticeType } from '../../contract/notices';
import { noticeTypes } from '../../contract/notices';
import type { MaybePromise } from '../../contract/maybe-promise';
import { messageOf } from '../../contract/errors';
import type { PushTarget } from '../outgoing/addresses';
import { allowedUrl } from '../outgoing/addresses';
import type { NoticeRun } from './outbox';

/** A question of a run, and who may answer. */
export interface AskedOfPeople {
  readonly tenant: string;
  readonly run: string;
  readonly agent: string;
  readonly tags: readonly string[];
  /** For an approval. */
  readonly tool?: string;
  /** Absent: anybody may answer. */
  readonly by?: readonly string[];
  readonly roles?: readonly string[];
}

export interface NotifiedPerson {
  readonly user: string;
  readonly roles?: readonly string[];
}

export interface NotifyOptions {
  /** An https URL. */
  readonly to: string;
  /** The secret of Standard Webhooks, or several with spaces between them while the receiver changes to another. */
  readonly secret: string | undefined;
  readonly on: readonly NoticeType[];
  /** Default: all tenants. */
  readonly tenants?: readonly string[];
  /** Default: all agents. */
  readonly agents?: readonly string[];
  /** Only runs with all of these tags. */
  readonly tags?: readonly string[];
  /** Allows http, and addresses that are not of the internet. */
  readonly private?: boolean;
  /** Who gets a link with which the person answers. Default: the people whom the question names. */
  readonly people?: (asked: AskedOfPeople) => MaybePromise<readonly NotifiedPerson[]>;
}

const texts = z.array(z.string().min(1)).min(1);

const receiver = z
  .strictObject({
    to: z.string(),
    secret: z.unknown(),
    on: z.array(z.enum(noticeTypes)).min(1),
    tenants: texts.optional(),
    agents: texts.optional(),
    tags: texts.optional(),
    private: z.boolean().optional(),
    people: z.custom((value) => typeof value === 'function', 'is no function').optional(),
  })
  .superRefine(({ to, secret, private: isPrivate = false }, context) => {
    const problems = {
      to: problemOfUrl({ to, private: isPrivate }),
      secret:
        typeof secret === 'string' && secret !== ''
          ? pushSecretProblem(secret)
          : 'It lacks a value. Set the environment variable from which the secret comes',
    };
    for (const [field, problem] of Object.entries(problems))
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [field], message: `is refused. ${problem.replace(/\.$/, '')}` });
  });

function problemOfUrl(given: Pick<NotifyOptions, 'to' | 'private'>): string | undefined {
  try {
    allowedUrl(given.to, targetsOf(given));
    return undefined;
  } catch (error) {
    const hint = given.private === true ? '' : ' It must be an https URL of the internet, unless the receiver has `private: true`.';
    return `${messageOf(error)}${hint}`;
  }
}

export const NotifySchema = z.array(receiver).max(100) as unknown as z.ZodType<readonly NotifyOptions[]>;

export function isFor(receiver: NotifyOptions, tenant: string, type: NoticeType, { agent, tags }: NoticeRun): boolean {
  const isAmong = (one: string, list: readonly string[] | undefined): boolean => list === undefined || list.includes(one);
  const isAsked = isAmong(tenant, receiver.tenants) && isAmong(agent, receiver.agents) && receiver.on.includes(type);
  return isAsked && (receiver.tags ?? []).every((tag) => tags.includes(tag));
}

export function targetsOf({ to, private: isPrivate = false }: Pick<NotifyOptions, 'to' | 'private'>): readonly PushTarget[] {
  return isPrivate && URL.canParse(to) ? [new URL(to).origin] : ['public'];
}
