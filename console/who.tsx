import { useState } from 'preact/hooks';
import { askForName, caller, identity, storeClaim, waitingForName } from './data/identity';
import { Button } from './parts/button';
import { Dialog, FormDialog } from './parts/dialog';
import { TextField } from './parts/fields';
import { Facts } from './parts/json-view';
import { visibleText } from './parts/plain-text';
import { texts } from './texts';

const words = texts.identity;

export function Who() {
  const { name } = identity.value;
  const act = waitingForName.value;
  const shown = name === '' ? texts.shell.nobody : visibleText(name);
  const youAre = caller.value === undefined ? texts.shell.youAre : texts.shell.loggedIn;
  const label = name === '' ? undefined : youAre(shown);
  const close = (): void => {
    waitingForName.value = undefined;
    if (identity.peek().name !== '') act?.();
  };
  const WhoDialog = caller.value === undefined ? ClaimDialog : CallerDialog;
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
      {act !== undefined && <WhoDialog onClose={close} />}
    </>
  );
}

interface WhoDialogProps {
  readonly onClose: () => void;
}

function ClaimDialog({ onClose }: WhoDialogProps) {
  const [name, setName] = useState(identity.peek().name);
  const [roles, setRoles] = useState(identity.peek().roles.join(', '));
  const save = (): void => {
    storeClaim({ name, roles: roles.split(',') });
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

function CallerDialog({ onClose }: WhoDialogProps) {
  const { user = '', tenant, roles, proof } = caller.value ?? { roles: [] };
  return (
    <Dialog title={visibleText(user)} onClose={onClose}>
      <Facts
        facts={[
          [words.tenant, tenant],
          [words.roles, roles.length === 0 ? words.noRoles : roles.join(', ')],
          [words.proof, proof],
        ]}
      />
      {proof !== 'identify' && (
        <form class="actions flow wrap" method="post" action="/logout">
          <Button type="submit">{words.logOut}</Button>
        </form>
      )}
    </Dialog>
  );
}
