import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import type { ValueChange } from './changes';
import { changesOf } from './changes';
import { Facts, JsonView } from './json-view';

export function Diff({ before, after }: { readonly before: Json; readonly after: Json | undefined }) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p class="muted">{texts.parts.noChanges}</p>;
  return <Facts class="diff" facts={changes.map((change) => [change.path, <Change {...change} />])} />;
}

function Change({ before, after }: ValueChange) {
  return (
    <>
      {before !== undefined && (
        <del>
          <span class="unseen">{texts.parts.before} </span>
          <JsonView value={before} />
        </del>
      )}
      {after !== undefined && (
        <ins>
          <span class="unseen">{texts.parts.after} </span>
          <JsonView value={after} />
        </ins>
      )}
    </>
  );
}
