import { signal } from '@preact/signals';

/** Whether the service answers. */
export const connection = signal<{ readonly state: 'up' | 'away'; readonly since: number }>({ state: 'up', since: Date.now() });

export function noteAnswer(isAnswered: boolean): void {
  const state = isAnswered ? 'up' : 'away';
  if (connection.peek().state !== state) connection.value = { state, since: Date.now() };
}
