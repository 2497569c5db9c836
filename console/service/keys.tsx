import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey, MadeKey } from '../../client/http/index';
import { useKeys } from '../data/facts';
import { refreshPolls } from '../data/live';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { Dialog, FormDialog } from '../parts/dialog';
import { ErrorNote, NoAnswer } from '../parts/error-note';
import { TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Named, StrongName } from '../parts/said';
import { Tags } from '../parts/status-badge';
import { Time } from '../parts/time';
import { toast } from '../parts/toast';
import { useBusy } from '../parts/use-busy';
import { serviceTexts } from '../texts/service';
import { Table } from './table';

const words = serviceTexts.keys;

type Asked =
  { readonly act: 'make' } | { readonly act: 'rotate' | 'revoke'; readonly of: ApiKey } | { readonly act: 'show'; readonly made: MadeKey };

export function Keys() {
  const { value: keys, error } = useKeys();
  const [asked, setAsked] = useState<Asked>();
  if (keys === undefined) return <NoAnswer error={error} />;
  return (
    <section class="stack" aria-label={serviceTexts.tabs.keys}>
      <p>
        <Button kind="primary" onClick={() => setAsked({ act: 'make' })}>
          {words.make}
        </Button>
      </p>
      <KeyTable keys={keys} onAsk={setAsked} />
      {asked !== undefined && <KeyDialog key={asked.act} asked={asked} onAsk={setAsked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

function KeyTable({ keys, onAsk }: { readonly keys: readonly ApiKey[]; readonly onAsk: (asked: Asked) => void }) {
  const rows = keys.map((key) => {
    const { id, name, roles, created, expires, lastUsed } = key;
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
          <Button label={words.rotateOf(shown, id)} onClick={() => onAsk({ act: 'rotate', of: key })}>
            {words.rotate}…
          </Button>
          <Button kind="danger" label={words.revokeOf(shown, id)} onClick={() => onAsk({ act: 'revoke', of: key })}>
            {words.revoke}…
          </Button>
        </span>,
      ],
    };
  });
  const columns = [words.name, words.id, words.roles, words.created, words.expires, words.lastUsed, words.acts];
  return <Table label={serviceTexts.tabs.keys} columns={columns} rows={rows} empty={words.none} />;
}

interface KeyDialogProps {
  readonly asked: Asked;
  readonly onAsk: (asked: Asked) => void;
  readonly onClose: () => void;
}

function KeyDialog({ asked, onAsk, onClose }: KeyDialogProps) {
  const show = (made: MadeKey): void => onAsk({ act: 'show', made });
  if (asked.act === 'show') return <MadeDialog made={asked.made} onClose={onClose} />;
  if (asked.act === 'make') return <MakeDialog onMade={show} onClose={onClose} />;
  if (asked.act === 'rotate') return <RotateDialog of={asked.of} onMade={show} onClose={onClose} />;
  return <RevokeDialog of={asked.of} onClose={onClose} />;
}

function MadeDialog({ made: { name, key }, onClose }: Pick<KeyDialogProps, 'onClose'> & { readonly made: MadeKey }) {
  return (
    <Dialog title={words.made(visibleText(name))} onClose={onClose}>
      <p class="note panel warn">{words.once}</p>
      <p>
        <Copied text={key} />
      </p>
    </Dialog>
  );
}

interface ActDialogProps extends Pick<KeyDialogProps, 'onClose'> {
  readonly title: string;
  readonly submit: string;
  readonly kind?: 'danger';
  readonly isReady?: boolean;
  readonly act: () => Promise<void>;
  readonly children: ComponentChildren;
}

function ActDialog({ act, isReady = true, children, ...dialog }: ActDialogProps) {
  const { isBusy, error, start } = useBusy();
  return (
    <FormDialog {...dialog} isReady={isReady && !isBusy} onSubmit={() => start(() => act().finally(refreshPolls))}>
      {children}
      {error !== undefined && <ErrorNote error={error} />}
    </FormDialog>
  );
}

interface MakingProps extends Pick<KeyDialogProps, 'onClose'> {
  readonly onMade: (made: MadeKey) => void;
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
    onMade(await service.createKey({ name: name.trim(), roles: wanted, ...(expires.trim() === '' ? {} : { expires: expires.trim() }) }));
  return (
    <ActDialog title={words.make} submit={words.make} isReady={name.trim() !== ''} act={act} onClose={onClose}>
      <TextField label={words.name} value={name} onText={setName} hint={words.nameHint} maxLength={200} autofocus />
      <TextField label={words.roles} value={roles} onText={setRoles} hint={words.rolesHint} />
      <TextField label={words.expires} value={expires} onText={setExpires} hint={words.expiresHint} />
    </ActDialog>
  );
}

function RotateDialog({ of: { id, name }, onMade, onClose }: MakingProps & { readonly of: ApiKey }) {
  const [keep, setKeep] = useState('');
  const act = async (): Promise<void> => onMade(await service.rotateKey(id, keep.trim() === '' ? {} : { keep: keep.trim() }));
  return (
    <ActDialog title={words.rotateOf(visibleText(name), id)} submit={words.rotate} act={act} onClose={onClose}>
      <p>{words.rotateText}</p>
      <TextField label={words.keep} value={keep} onText={setKeep} hint={words.keepHint} />
    </ActDialog>
  );
}

function RevokeDialog({ of: { id, name }, onClose }: Pick<KeyDialogProps, 'onClose'> & { readonly of: ApiKey }) {
  const act = async (): Promise<void> => {
    await service.revokeKey(id);
    toast(words.revoked(id), { kind: 'good' });
    onClose();
  };
  return (
    <ActDialog title={words.revokeOf(visibleText(name), id)} submit={words.revoke} kind="danger" act={act} onClose={onClose}>
      <p>{words.revokeText}</p>
    </ActDialog>
  );
}
