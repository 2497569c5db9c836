import { signal } from '@preact/signals';

/** Begins the page title. Empty: the name of the page. */
export const subject = signal('');
