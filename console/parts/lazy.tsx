import { signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts } from '../texts';

const scripts: (() => Promise<void>)[] = [];
let areAllAsked = false;

type LazyPart<Props> = FunctionComponent<Props> & {
  readonly ask: () => Promise<void>;
};

/** Loads a script when first shown, or after `loadParts`. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  meanwhile: JSX.Element = <p class="muted padded">{texts.parts.loading}</p>,
  failed = meanwhile,
): LazyPart<Props> {
  const loaded = signal<FunctionComponent<Props> | 'failed' | undefined>(undefined);
  let asked: Promise<void> | undefined;
  const ask = (): Promise<void> =>
    (asked ??= load().then(
      (part) => void (loaded.value = part),
      () => {
        // The service may be back later.
        asked = undefined;
        loaded.value = 'failed';
      },
    ));
  scripts.push(ask);
  if (areAllAsked) void ask();
  const Lazy = (props: Props) => {
    useEffect(() => void ask(), []);
    const Part = loaded.value;
    if (Part === undefined || Part === 'failed') return Part === undefined ? meanwhile : failed;
    return <Part {...props} />;
  };
  return Object.assign(Lazy, { ask });
}

/** Parts must also work during an outage. */
export function loadParts(): void {
  areAllAsked = true;
  for (const ask of scripts) void ask();
}
