import { signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts } from '../texts';

const scripts: (() => void)[] = [];

export type LazyPart<Props> = FunctionComponent<Props> & {
  /** Loads it before it is shown. */
  readonly ask: () => void;
};

/** A part of a page whose script comes when it is first shown, or while nothing else is to be done. `meanwhile`: what stands in its place. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  meanwhile: JSX.Element = <p class="muted padded">{texts.parts.loading}</p>,
): LazyPart<Props> {
  const loaded = signal<FunctionComponent<Props> | undefined>(undefined);
  let isAsked = false;
  const ask = (): void => {
    if (isAsked) return;
    isAsked = true;
    load().then(
      (part) => (loaded.value = part),
      // The service may be back when it is shown again.
      () => (isAsked = false),
    );
  };
  scripts.push(ask);
  const Lazy = (props: Props): JSX.Element => {
    useEffect(ask, []);
    const Part = loaded.value;
    return Part === undefined ? meanwhile : <Part {...props} />;
  };
  return Object.assign(Lazy, { ask });
}

/** Loads all of them, so that they are there also while the service is away. */
export function loadParts(): void {
  for (const ask of scripts) ask();
}
