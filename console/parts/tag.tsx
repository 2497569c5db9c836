import type { JSX } from 'preact';
import { Named } from './said';

/** What somebody wrote as a label, such as a tag of a run. */
export function Tag({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="tag">
      <Named text={text} />
    </span>
  );
}
