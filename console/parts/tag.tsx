import { Named } from './said';

export function Tags({ tags }: { readonly tags: readonly string[] }) {
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
