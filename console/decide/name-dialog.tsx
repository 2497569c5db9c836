import type { JSX } from 'preact';
import { identity } from '../data/identity';
import { IdentityDialog } from '../identity-dialog';
import { waitingForName } from './decide';

export function NameDialog(): JSX.Element | null {
  const act = waitingForName.value;
  if (act === undefined) return null;
  return (
    <IdentityDialog
      onClose={() => {
        waitingForName.value = undefined;
        if (identity.peek().name !== '') act();
      }}
    />
  );
}
