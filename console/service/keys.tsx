import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey, MadeKey } from '../../client/http/index';
import { useKeys } from '../data/facts';
import { refreshPolls } from '../data/live';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { ActDialog, Dialog } from '../parts/dialog';
import { NoAnswer } from '../parts/error-note';
import { TextField } from '../parts/fields';
import { filled, visibleText } from '../parts/plain-text';
import { Named, StrongName } from '../parts/said';
import { Tags } from '../parts/status-badge';
import { Table } from '../parts/table';
import { Time } from '../parts/time';
import { toast } from '../parts/toast';
import { serviceTexts } from '../texts/service';

const words = serviceTexts.keys;
const columns = [words.name, words.id, words.roles, words.created, words.expires, words.lastUsed, words.acts];

export function Keys() {
  const { value: keys, error } = useKeys();
  const [dialog, setDialog] = useState<JSX.Element>();
  if (keys === undefined) return <NoAnswer error={error} />;
  const onClose = (): void => setDialog(undefined);
  const onMade = (made: MadeKey): void => setDialog(<MadeDialog {...{ made, onClose }} />);
  const rows = keys.map((of) => {
    const { id, name, roles, created, expires, lastUsed } = of;
    const shown = visibleText(name);
    return {
      key: id,
      cells: [
        <StrongName text={name} />,
        <Named isMono text={id} />,
        <Tags tags={roles} />,
        <Time at={created} />,
        expires === undefined ? words.never : <Time at={expires} />,
        lastUsed === undefined ? words.never : <Time at={lastUsed} />,
        <span class="flow wrap">
          <Button label={words.rotateOf(shown, id)} onClick={() => setDialog(<RotateDialog {...{ of, onMade, onClose }} />)}>
            {words.rotate}…
          </Button>
          <Button kind="danger" label={words.revokeOf(shown, id)} onClick={() => setDialog(<RevokeDialog {...{ of, onClose }} />)}>
            {words.revoke}…
          </Button>
        </span>,
      ],
    };
  });
  return (
    <section class="stack" aria-label={serviceTexts.tabs.keys}>
      <p>
        <Button kind="primary" onClick={() => setDialog(<MakeDialog {...{ onMade, onClose }} />)}>
          {words.make}
        </Button>
      </p>
      <Table label={serviceTexts.tabs.keys} columns={columns} rows={rows} empty={words.none} />
      {dialog}
    </section>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

interface MakingProps extends DialogProps {
  readonly onMade: (made: MadeKey) => void;
}

function MadeDialog({ made: { name, key }, onClose }: DialogProps & { readonly made: MadeKey }) {
  return (
    <Dialog title={words.made(visibleText(name))} onClose={onClose}>
      <p class="note panel warn">{words.once}</p>
      <p>
        <Copied text={key} />
      </p>
    </Dialog>
  );
}

function MakeDialog({ onMade, onClose }: MakingProps) {
  const [name, setName] = useState('');
  const [roles, setRoles] = useState('');
  const [expires, setExpires] = useState('');
  const wanted = roles
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '');
  const act = async (): Promise<void> =>
    onMade(await service.createKey({ name: name.trim(), roles: wanted, ...filled({ expires: expires.trim() }) }));
  return (
    <ActDialog
      title={words.make}
      submit={words.make}
      isReady={name.trim() !== ''}
      act={() => act().finally(refreshPolls)}
      onClose={onClose}
    >
      <TextField label={words.name} value={name} onText={setName} hint={words.nameHint} maxLength={200} autofocus />
      <TextField label={words.roles} value={roles} onText={setRoles} hint={words.rolesHint} />
      <TextField label={words.expires} value={expires} onText={setExpires} hint={words.expiresHint} />
    </ActDialog>
  );
}

function RotateDialog({ of: { id, name }, onMade, onClose }: MakingProps & { readonly of: ApiKey }) {
  const [keep, setKeep] = useState('');
  const act = async (): Promise<void> => onMade(await service.rotateKey(id, filled({ keep: keep.trim() })));
  return (
    <ActDialog
      title={words.rotateOf(visibleText(name), id)}
      submit={words.rotate}
      act={() => act().finally(refreshPolls)}
      onClose={onClose}
    >
      <p>{words.rotateText}</p>
      <TextField label={words.keep} value={keep} onText={setKeep} hint={words.keepHint} />
    </ActDialog>
  );
}

function RevokeDialog({ of: { id, name }, onClose }: DialogProps & { readonly of: ApiKey }) {
  const act = async (): Promise<void> => {
    await service.revokeKey(id);
    toast(words.revoked(id), { kind: 'good' });
    onClose();
  };
  return (
    <ActDialog
      title={words.revokeOf(visibleText(name), id)}
      submit={words.revoke}
      kind="danger"
      act={() => act().finally(refreshPolls)}
      onClose={onClose}
    >
      <p>{words.revokeText}</p>
    </ActDialog>
  );
}
