import type { Delta } from '../contract/deltas';
import type { RunEvent } from '../contract/events';
import { textOf } from '../contract/messages/messages';
import type { Terminal } from './terminal';

type ModelEnd = Extract<RunEvent, { type: 'model-end' }>;

/** The answer that is being written. */
interface Spoken {
  readonly address: string;
  readonly runPath: readonly string[];
  readonly attempt: number;
  heard: string;
  /** What of it stands on the terminal: all but the space around it. */
  shown: string;
  /** Whether the terminal stands at its end, and not behind something else. */
  open: boolean;
}

/**
 * What models say, as they say it. One answer is written at a time; one that comes beside it is shown when it is whole, as all are where
 * nothing streams.
 */
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
    // Somebody who comes back, after the service was gone, hears the attempt from its beginning.
    if (type === 'attempt-start' && attempt === spoken.attempt) spoken.heard = '';
    if (type === 'attempt-start' && attempt > spoken.attempt) this.void('does not count');
    if (type === 'attempt-void' && attempt >= spoken.attempt) this.void('does not count');
    if (type === 'message-replaced') this.void('was changed');
  }

  /** The message of a call has come. Returns whether it stands on the terminal already. */
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

  /** Another call of the same agent begins, or the run ends: what is still written has come to nothing while nobody listened. */
  over(runPath: readonly string[] | undefined): void {
    const { spoken } = this;
    if (spoken !== undefined && (runPath === undefined || isSame(runPath, spoken.runPath))) this.void('does not count');
  }

  /** Ends the line, before something else is written. */
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
