import { useState } from 'preact/hooks';
import type { DecisionLink } from '../../client/http/index';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { Dialog, FormDialog } from '../parts/dialog';
import { ErrorNote } from '../parts/error-note';
import { TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Time } from '../parts/time';
import { useBusy } from '../parts/use-busy';
import { linkTexts as words } from '../texts/link';
import { filled } from './decide';

interface LinkOf {
  readonly runId: string;
  readonly interruptId: string;
}

export function MakeLink(props: LinkOf) {
  const [isOpen, setOpen] = useState(false);
  return (
    <p>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        {words.make}
      </Button>
      {isOpen && <LinkDialog {...props} onClose={() => setOpen(false)} />}
    </p>
  );
}

function LinkDialog({ runId, interruptId, onClose }: LinkOf & { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const [link, setLink] = useState<DecisionLink>();
  const { isBusy, error, start } = useBusy();
  const person = name.trim();
  const make = async (): Promise<void> =>
    setLink(await service.makeLink(runId, interruptId, { for: person, ...filled({ expires: expires.trim() }) }));
  if (link !== undefined)
    return (
      <Dialog key="made" title={words.made(visibleText(person))} onClose={onClose}>
        <p>
          <Copied text={link.url} />
        </p>
        <p class="muted">
          {words.works} <Time at={link.expires} />
        </p>
      </Dialog>
    );
  return (
    <FormDialog
      key="make"
      title={words.make}
      submit={words.make}
      isReady={person !== '' && !isBusy}
      onClose={onClose}
      onSubmit={() => start(make)}
    >
      <p class="muted">{words.explain}</p>
      <TextField label={words.for} value={name} onText={setName} maxLength={200} autofocus />
      <TextField label={words.expires} value={expires} onText={setExpires} hint={words.expiresHint} />
      {error !== undefined && <ErrorNote error={error} />}
    </FormDialog>
  );
}
