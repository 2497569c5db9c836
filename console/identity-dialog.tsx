import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { claim, identity } from './data/identity';
import { Button } from './parts/button';
import { Dialog } from './parts/dialog';
import { texts } from './texts';

/** Asks for the name that decisions are kept with. */
export function IdentityDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState(identity.peek().name);
  const [roles, setRoles] = useState(identity.peek().roles.join(', '));
  const save = (event: Event): void => {
    event.preventDefault();
    claim({ name, roles: roles.split(',') });
    onClose();
  };
  return (
    <Dialog title={texts.identity.title} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <p class="muted">{texts.identity.explain}</p>
        <label class="field">
          <span>{texts.identity.name}</span>
          <input
            value={name}
            maxLength={200}
            autocomplete="username"
            autofocus
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>{texts.identity.roles}</span>
          <input value={roles} autocomplete="off" onInput={({ currentTarget }) => setRoles(currentTarget.value)} />
          <small class="muted">{texts.identity.rolesHint}</small>
        </label>
        <div class="actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button kind="primary" type="submit">
            {texts.identity.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
