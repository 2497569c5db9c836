import { signal } from '@preact/signals';

/** What the page is about, such as a run and how it stands. Its title begins with it. Empty: the name of the page is enough. */
export const subject = signal('');
