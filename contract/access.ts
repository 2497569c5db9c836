/** What a caller may do through the service. Routes, the command line and the console share this table. */
export const actions = {
  'runs:read': 'Read runs, conversations, agents, builds and usage.',
  'runs:start': 'Start runs and write to conversations.',
  'runs:answer': 'Answer what runs ask.',
  'runs:control': 'Cancel, resume, retry, upgrade and terminate runs; pause, stop and end conversations.',
  'policies:apply': 'Apply a policy to waiting runs.',
  'links:make': 'Make links with which a named person decides without a login.',
  'keys:manage': 'Make, list and revoke API keys.',
  'audit:read': 'Read the audit log.',
} as const;
export type Action = keyof typeof actions;

export const allActions = Object.keys(actions) as readonly Action[];

export type RoleTable = Readonly<Record<string, readonly Action[]>>;

/** A role outside the table allows no action, but a policy can ask for that role. */
export const builtInRoles = {
  reader: ['runs:read'],
  operator: ['runs:read', 'runs:start', 'runs:control'],
  approver: ['runs:read', 'runs:answer'],
  admin: allActions,
} as const satisfies RoleTable;

export function actionsOf(roles: readonly string[], own: RoleTable = {}): ReadonlySet<Action> {
  const table: RoleTable = { ...builtInRoles, ...own };
  return new Set(roles.flatMap((role) => (Object.hasOwn(table, role) ? (table[role] ?? []) : [])));
}

/** Commands take roles with commas between them. */
export function isRole(name: string): boolean {
  return /^[^\s,\p{C}]{1,64}$/u.test(name);
}
export const roleForm = '1 to 64 characters without spaces and commas';

export interface Principal {
  readonly tenant: string;
  /** The name in records and policies: `by`. */
  readonly user: string;
  /** Roles for the table of actions and for policies. */
  readonly roles: readonly string[];
  /** How the name was proven: `key:ID`, `token:ISSUER`, `login:ISSUER`, `link:ID`, `trigger:NAME` or `identify`. */
  readonly proof: string;
}

/** A name in the record of a run, and how the name was proven. Without a proof the name is a claim. */
export interface Signed {
  readonly by?: string;
  readonly proof?: string;
}

export interface Author extends Signed {
  readonly roles?: readonly string[];
}

/** The answer of `GET /me`. */
export interface Me {
  readonly tenant: string;
  /** Absent: the service has no `access`, and names are claims. */
  readonly user?: string;
  readonly roles: readonly string[];
  readonly proof?: string;
  readonly may: readonly Action[];
}

export interface ApiKey {
  /** The part of the key that logs and proofs show. */
  readonly id: string;
  /** The name of whoever uses the key: `by`. */
  readonly name: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** Times are texts, as in `2026-11-22T08:00:00.000Z`. */
  readonly created: string;
  readonly expires?: string;
  /** Exact to the minute. */
  readonly lastUsed?: string;
}

/** The answer that makes a key has the key. Later answers do not. */
export interface MadeKey extends ApiKey {
  readonly key: string;
}

/** A link with which a named person decides one interrupt. */
export interface DecisionLink {
  readonly url: string;
  readonly expires: string;
}

/** A line of the audit log, without secrets. */
export interface AuditEntry {
  readonly at: string;
  /** `refusals-left-out`: `count` refusals of callers without an identity have no line. */
  readonly what: AuditedAct;
  readonly tenant?: string;
  readonly user?: string;
  readonly proof?: string;
  readonly route?: string;
  readonly action?: string;
  readonly run?: string;
  readonly interrupt?: string;
  /** What was decided, such as `approve`. */
  readonly decision?: string;
  /** The code of the refusal. */
  readonly code?: string;
  /** The id of the key that was made, rotated or revoked. */
  readonly key?: string;
  /** The name of whoever uses the key or the link. */
  readonly for?: string;
  readonly roles?: readonly string[];
  readonly count?: number;
}

export type AuditedAct =
  'decision' | 'refusal' | 'login' | 'logout' | 'key-made' | 'key-rotated' | 'key-revoked' | 'link-made' | 'refusals-left-out';

/** The last lines that fit, the oldest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Whether earlier lines fit, too. */
  readonly more: boolean;
}
