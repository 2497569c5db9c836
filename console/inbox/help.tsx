import type { JSX } from 'preact';
import { Dialog } from '../parts/dialog';
import { inboxTexts } from '../texts/inbox';

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title={inboxTexts.help} onClose={onClose}>
      <dl class="keys">
        {inboxTexts.keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
