import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts';
import { announce } from './announce';
import { IconButton } from './button';

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
  return <IconButton label={label} icon={isCopied ? 'check' : 'copy'} onClick={copy} isSmall />;
}
