import type { ComponentChildren, JSX } from 'preact';

/** What a run says, in a frame that says who says it: nothing in it is the console's own word. */
export function SaidFrame({ who, children }: { readonly who: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <figure class="frame">
      <figcaption>{who}</figcaption>
      <div class="frame-inside">{children}</div>
    </figure>
  );
}
