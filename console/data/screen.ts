import { signal } from '@preact/signals';

const wide = matchMedia('(min-width: 900px)');

/** Whether a list and the chosen item fit beside each other. */
export const isWide = signal(wide.matches);

wide.addEventListener('change', ({ matches }) => (isWide.value = matches));
