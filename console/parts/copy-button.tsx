import { useState } from 'preact/hooks';
import { texts } from '../texts';
import { announce } from './toast';
import { IconButton } from './button';
import { visibleText } from './plain-text';

export function useCopy() {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        announce(texts.parts.copied);
        setTimeout(() => setCopied(false), 1_500);
      },
      () => undefined,
    );
  };
  return { isCopied, copy };
}

export function CopyButton({ text, label = texts.parts.copy }: { readonly text: string; readonly label?: string }) {
  const { isCopied, copy } = useCopy();
  return <IconButton label={label} icon={isCopied ? 'check' : 'copy'} onClick={() => copy(text)} isSmall />;
}

export function Copied({ text }: { readonly text: string }) {
  return (
    <span class="copied">
      <bdi class="mono breaks">{visibleText(text)}</bdi> <CopyButton text={text} />
    </span>
  );
}
