import type { JSX } from 'preact';
import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import { changesOf } from './changes';
import { JsonView } from './json-view';
import { visibleText } from './plain-text';

export function Diff({ before, after }: { readonly before: Json; readonly after: Json | undefined }): JSX.Element {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p class="muted">{texts.parts.noChanges}</p>;
  return (
    <dl class="diff">
      {changes.map((change) => (
        <div key={change.path}>
          <dt>
            <bdi>{visibleText(change.path)}</bdi>
          </dt>
          <dd>
            {change.before !== undefined && (
              <del>
                <span class="unseen">{texts.parts.before} </span>
                <JsonView value={change.before} />
              </del>
            )}
            {change.after !== undefined && (
              <ins>
                <span class="unseen">{texts.parts.after} </span>
                <JsonView value={change.after} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
