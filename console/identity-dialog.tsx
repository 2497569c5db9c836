import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { claim, identity } from './data/identity';
import { FormDialog } from './parts/dialog';
import { TextField } from './parts/fields';
import { texts } from './texts';

export function IdentityDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState(identity.peek().name);
  const [roles, setRoles] = useState(identity.peek().roles.join(', '));
  const words = texts.identity;
  const save = (): void => {
    claim({ name, roles: roles.split(',') });
    onClose();
  };
  return (
    <FormDialog title={words.title} submit={words.save} onClose={onClose} onSubmit={save}>
      <p class="muted">{words.explain}</p>
      <TextField label={words.name} value={name} onText={setName} maxLength={200} autocomplete="username" autofocus />
      <TextField label={words.roles} value={roles} onText={setRoles} hint={words.rolesHint} />
    </FormDialog>
  );
}
