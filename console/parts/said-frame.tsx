import type { ComponentChildren } from 'preact';
import { visibleText } from './plain-text';

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
