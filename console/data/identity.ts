import { computed, signal } from '@preact/signals';
import { defined } from '../../contract/defined';
import { readStored, writeStored } from './theme';

/** The name is an unchecked claim. A login would only change this module. */
interface Identity {
  readonly name: string;
  readonly roles: readonly string[];
}

const key = 'holdfast.identity';

export const identity = signal<Identity>(stored());

export const claimed = computed((): { readonly by?: string; readonly roles?: readonly string[] } => {
  const { name, roles } = identity.value;
  return name === '' ? {} : defined({ by: name, roles: roles.length === 0 ? undefined : roles });
});

export function byNow(): { readonly by?: string } {
  return defined({ by: claimed.peek().by });
}

export function claim(next: Identity): void {
  identity.value = { name: next.name.trim(), roles: [...new Set(next.roles.map((role) => role.trim()).filter((role) => role !== ''))] };
  writeStored(key, JSON.stringify(identity.value));
}

/** Acts after a person has said a name. */
export const waitingForName = signal<(() => void) | undefined>(undefined);

export function askForName(act: () => void = () => undefined): void {
  waitingForName.value = act;
}

addEventListener('storage', (event) => {
  if (event.key === key) identity.value = stored();
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
