import { signal } from '@preact/signals';

export const isServiceUp = signal(true);
