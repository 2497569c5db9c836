import type { Delta } from '../contract/deltas';
import type { RunEvent } from '../contract/events';
import { textOf } from '../contract/messages/messages';
import type { Terminal } from './terminal';

type ModelEnd = Extract<RunEvent, { type: 'model-end' }>;

interface Spoken {
  readonly address: string;
  readonly runPath: readonly string[];
  readonly attempt: number;
  heard: string;
  shown: string;
  /** The text is the last thing on the terminal. */
  open: boolean;
}

/** Streams one answer at a time. A simultaneous answer is shown when complete. */
export class LiveText {
  private spoken: Spoken | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly prefixOf: (runPath: readonly string[]) => string,
  ) {}

  take(delta: Delta): void {
    const { type, address, runPath, attempt } = delta;
    if (type === 'text-delta') this.spoken ??= { address, runPath, attempt, heard: '', shown: '', open: false };
    const { spoken } = this;
    if (spoken?.address !== address) return;
    if (type === 'text-delta' && attempt === spoken.attempt) {
      spoken.heard += delta.text;
      this.write(spoken, spoken.heard.trim());
    }
    // After a lost connection the attempt streams from its beginning.
    if (type === 'attempt-start' && attempt === spoken.attempt) spoken.heard = '';
    if (type === 'attempt-start' && attempt > spoken.attempt) this.void('does not count');
    if (type === 'attempt-void' && attempt >= spoken.attempt) this.void('does not count');
    if (type === 'message-replaced') this.void('was changed');
  }

  end(event: ModelEnd): boolean {
    const { spoken } = this;
    if (spoken === undefined || !isOf(spoken, event)) return false;
    const text = textOf(event.message).trim();
    if (spoken.shown !== '') this.write(spoken, text);
    const isWhole = text === spoken.shown;
    if (!isWhole) this.void('was changed');
    this.break();
    this.spoken = undefined;
    return isWhole;
  }

  /** The next call of an agent, or the end of the run, voids an open text. */
  over(runPath: readonly string[] | undefined): void {
    const { spoken } = this;
    if (spoken !== undefined && (runPath === undefined || isSame(runPath, spoken.runPath))) this.void('does not count');
  }

  break(): void {
    if (this.spoken?.open !== true) return;
    this.spoken.open = false;
    this.terminal.write();
  }

  private write(spoken: Spoken, text: string): void {
    const { shown } = spoken;
    if (text.length <= shown.length || !text.startsWith(shown)) return;
    const more = text.slice(shown.length);
    this.terminal.writePart(spoken.open ? more : `${this.prefixOf(spoken.runPath)}${more.trimStart()}`);
    spoken.shown = text;
    spoken.open = true;
  }

  private void(what: string): void {
    const { spoken } = this;
    this.break();
    this.spoken = undefined;
    if (spoken === undefined || spoken.shown === '') return;
    this.terminal.write(`${this.terminal.paint.yellow('!')} ${this.prefixOf(spoken.runPath)}what was said above ${what}`);
  }
}

function isOf({ address, runPath }: Spoken, event: ModelEnd): boolean {
  return event.address === undefined ? isSame(event.runPath, runPath) : event.address === address;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join('/') === other.join('/');
}
