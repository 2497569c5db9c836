import type { JSX } from 'preact';

export function Fact({ name, children }: { readonly name: string; readonly children: JSX.Element | string | number }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
