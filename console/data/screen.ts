import { signal } from '@preact/signals';

const wide = matchMedia('(min-width: 900px)');

/** Whether a list and what is chosen from it have room beside each other. */
export const isWide = signal(wide.matches);

wide.addEventListener('change', ({ matches }) => (isWide.value = matches));
