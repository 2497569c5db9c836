import { computed, signal } from '@preact/signals';
import type { Action, Me } from '../../contract/access';
import { defined } from '../../contract/defined';
import type { Answerer } from '../../contract/who-may-answer';
import { texts } from '../texts';
import { usePoll } from './live';
import { isLoginNeeded, service } from './service';
import { readStored, writeStored } from './theme';

interface Identity {
  readonly name: string;
  readonly roles: readonly string[];
}

const key = 'holdfast.identity';

const claim = signal<Identity>(stored());

/** Undefined: the service has not answered. */
const me = signal<Me | undefined>(undefined);

/** The proven caller. Undefined: the service has no `access`, and a name is an unchecked claim. */
export const caller = computed(() => (me.value?.user === undefined ? undefined : { ...me.value, user: me.value.user }));

export const identity = computed((): Identity => {
  if (caller.value === undefined) return claim.value;
  return { name: caller.value.user, roles: caller.value.roles };
});

/** For lists, and for checks before a request. */
export const answerer = computed((): Answerer => {
  const { name, roles } = identity.value;
  return name === '' ? {} : defined({ by: name, roles: roles.length === 0 ? undefined : roles });
});

/** For bodies. The service refuses a claim beside a proof. */
export const claimed = computed((): Answerer => (caller.value === undefined ? answerer.value : {}));

export function byNow(): { readonly by?: string } {
  return defined({ by: claimed.peek().by });
}

export function storeClaim(next: Identity): void {
  claim.value = { name: next.name.trim(), roles: [...new Set(next.roles.map((role) => role.trim()).filter((role) => role !== ''))] };
  writeStored(key, JSON.stringify(claim.value));
}

export function may(action: Action): boolean {
  return me.value?.may.includes(action) ?? true;
}

/** Other actions need the role admin. The table of all roles would be a larger script. */
const roles: Readonly<Partial<Record<Action, string>>> = {
  'runs:read': 'reader',
  'runs:start': 'operator',
  'runs:control': 'operator',
  'runs:answer': 'approver',
};

/** Undefined: the caller may. */
export function whyMayNot(action: Action): string | undefined {
  return may(action) ? undefined : texts.shell.missing(action, roles[action] ?? 'admin');
}

/** Returns whether the service has said who asks, or cannot say. */
export function useMe(): boolean {
  const { value, error } = usePoll('me', async () => (me.value = await service.me()), 60_000);
  return value !== undefined || (error !== undefined && !isLoginNeeded.value);
}

/** Acts after a person has said a name. */
export const waitingForName = signal<(() => void) | undefined>(undefined);

export function askForName(act: () => void = () => undefined): void {
  waitingForName.value = act;
}

addEventListener('storage', (event) => {
  if (event.key === key) claim.value = stored();
});

function stored(): Identity {
  try {
    const { name, roles } = JSON.parse(readStored(key) ?? '{}') as { name?: unknown; roles?: unknown };
    return {
      name: typeof name === 'string' ? name : '',
      roles: Array.isArray(roles) ? roles.filter((role): role is string => typeof role === 'string') : [],
    };
  } catch {
    return { name: '', roles: [] };
  }
}
