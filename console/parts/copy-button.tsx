import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts';
import { announce } from './announce';
import { Icon } from './icon';

export function CopyButton({ text, label = texts.parts.copy }: { readonly text: string; readonly label?: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        announce(texts.parts.copied);
        setTimeout(() => setCopied(false), 1_500);
      },
      () => undefined,
    );
  };
  return (
    <button type="button" class="copy" aria-label={label} title={label} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}
