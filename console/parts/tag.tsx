import type { JSX } from 'preact';
import { Named } from './said';

export function Tags({ tags }: { readonly tags: readonly string[] }): JSX.Element {
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="tag small muted">
          <Named text={tag} />
        </span>
      ))}
    </>
  );
}
