import { useState } from 'preact/hooks';
import { caller, identity, storeClaim } from './data/identity';
import { Button } from './parts/button';
import { Dialog, FormDialog } from './parts/dialog';
import { TextField } from './parts/fields';
import { Facts } from './parts/json-view';
import { visibleText } from './parts/plain-text';
import { texts } from './texts';
import { whoTexts as words } from './texts/who';

interface WhoDialogProps {
  readonly onClose: () => void;
}

export function WhoDialog(props: WhoDialogProps) {
  return caller.value === undefined ? <ClaimDialog {...props} /> : <CallerDialog {...props} />;
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
