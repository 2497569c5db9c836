import type { ComponentChildren, JSX } from 'preact';
import { visibleText } from './plain-text';

/** Words of a run, in a frame with the name of the speaker, so that nobody takes the words for words of the console. */
export function SaidFrame({ who, children }: { readonly who: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <figure class="frame">
      <figcaption>
        <bdi>{visibleText(who)}</bdi>
      </figcaption>
      <div>{children}</div>
    </figure>
  );
}
