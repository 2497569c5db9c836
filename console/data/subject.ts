import { signal } from '@preact/signals';

/** The beginning of the title of the page, such as a run and its status. Empty: the name of the page. */
export const subject = signal('');
