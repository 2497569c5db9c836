import { useState } from 'preact/hooks';
import { askForName, claim, identity, waitingForName } from './data/identity';
import { FormDialog } from './parts/dialog';
import { TextField } from './parts/fields';
import { visibleText } from './parts/plain-text';
import { texts } from './texts';

export function Who() {
  const { name } = identity.value;
  const act = waitingForName.value;
  const shown = name === '' ? texts.shell.nobody : visibleText(name);
  const label = name === '' ? undefined : texts.shell.youAre(shown);
  const close = (): void => {
    waitingForName.value = undefined;
    if (identity.peek().name !== '') act?.();
  };
  return (
    <>
      <button
        type="button"
        class={name === '' ? 'who cut nobody' : 'who cut'}
        aria-label={label}
        title={label}
        onClick={() => askForName()}
      >
        <bdi>{shown}</bdi>
      </button>
      {act !== undefined && <IdentityDialog onClose={close} />}
    </>
  );
}

function IdentityDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState(identity.peek().name);
  const [roles, setRoles] = useState(identity.peek().roles.join(', '));
  const words = texts.identity;
  const save = (): void => {
    claim({ name, roles: roles.split(',') });
    onClose();
  };
  return (
    <FormDialog title={texts.shell.nobody} submit={texts.parts.save} onClose={onClose} onSubmit={save}>
      <p class="muted">{words.explain}</p>
      <TextField label={words.name} value={name} onText={setName} maxLength={200} autocomplete="username" autofocus />
      <TextField label={words.roles} value={roles} onText={setRoles} hint={words.rolesHint} />
    </FormDialog>
  );
}
