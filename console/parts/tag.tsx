import type { JSX } from 'preact';
import { Named } from './said';

export function Tag({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="tag">
      <Named text={text} />
    </span>
  );
}
