import { useState } from 'preact/hooks';
import type { DecisionLink } from '../../client/http/index';
import { service } from '../data/service';
import { Button } from '../parts/button';
import { Copied } from '../parts/copy-button';
import { ActDialog, Dialog } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { filled, visibleText } from '../parts/plain-text';
import { Time } from '../parts/time';
import { linkTexts as words } from '../texts/link';

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
  const person = name.trim();
  const make = async (): Promise<void> =>
    setLink(await service.makeLink(runId, interruptId, { for: person, ...filled({ expires: expires.trim() }) }));
  if (link !== undefined)
    return (
      <Dialog title={words.made(visibleText(person))} onClose={onClose}>
        <p>
          <Copied text={link.url} />
        </p>
        <p class="muted">
          {words.works} <Time at={link.expires} />
        </p>
      </Dialog>
    );
  return (
    <ActDialog title={words.make} submit={words.make} isReady={person !== ''} act={make} onClose={onClose}>
      <p class="muted">{words.explain}</p>
      <TextField label={words.for} value={name} onText={setName} maxLength={200} autofocus />
      <TextField label={words.expires} value={expires} onText={setExpires} hint={words.expiresHint} />
    </ActDialog>
  );
}
