import { useState } from 'preact/hooks';
import { texts } from '../texts';
import { cutText, sizeText, visibleText } from './plain-text';
import type { ComponentChildren } from 'preact';

/** Words of a model, tool or user: isolated text, never markup. */
export function Said({ text, isMono = false }: NamedProps) {
  const [isWhole, setWhole] = useState(false);
  const cut = cutText(text);
  const isCut = cut !== text;
  return (
    <div class={isMono ? 'said mono' : 'said'}>
      <bdi class="said-text">{visibleText(isWhole ? text : cut)}</bdi>
      {isCut && (
        <button type="button" class="link bare" onClick={() => setWhole(!isWhole)}>
          {isWhole ? texts.parts.showLess : texts.parts.showAll(sizeText(text.length))}
        </button>
      )}
    </div>
  );
}

interface NamedProps {
  readonly text: string;
  readonly isMono?: boolean;
}

/** The layout may cut the end, and the title has the whole text. */
export function Named({ text, isMono = false }: NamedProps) {
  const shown = visibleText(text.length > 300 ? `${text.slice(0, 300)}…` : text);
  return (
    <bdi class={isMono ? 'named cut mono' : 'named cut'} title={shown}>
      {shown}
    </bdi>
  );
}

export function StrongName(props: NamedProps) {
  return (
    <strong>
      <Named {...props} />
    </strong>
  );
}

/** Separates words of a run from words of the console. */
export function SaidFrame({ who, children }: { readonly who: string; readonly children: ComponentChildren }) {
  return (
    <figure class="frame panel">
      <figcaption>
        <bdi>{visibleText(who)}</bdi>
      </figcaption>
      <div>{children}</div>
    </figure>
  );
}

/** The address comes from a run: other addresses than http and https become text. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  const isWebAddress = URL.canParse(href) && ['http:', 'https:'].includes(new URL(href).protocol);
  if (!isWebAddress) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
