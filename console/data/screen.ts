import { signal } from '@preact/signals';

const wide = matchMedia('(min-width: 900px)');

export const isWide = signal(wide.matches);

wide.addEventListener('change', ({ matches }) => (isWide.value = matches));
