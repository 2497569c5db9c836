import { createParser } from 'eventsource-parser';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import { addLine } from '../support/shown-lines';

type Shown = RunEvent | Delta;

/** Follows a run as a browser does: a new connection sends the last event id. */
export class HttpReader {
  readonly connections: string[][] = [];
  readonly offsets: number[] = [];
  private lastId: string | undefined;
  private open = false;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly url: string) {}

  /** Reads until the connection ends, and returns whether the connection was cut. */
  async connect(): Promise<'ended' | 'cut'> {
    const lines: string[] = [];
    this.connections.push(lines);
    this.open = true;
    try {
      const response = await fetch(this.url, { headers: this.lastId === undefined ? {} : { 'last-event-id': this.lastId } });
      if (response.status !== 200) throw new Error(`The service answered with ${response.status}.`);
      return await this.read(response.body as unknown as AsyncIterable<Uint8Array>, lines);
    } finally {
      this.open = false;
      this.wake();
    }
  }

  seen(wanted: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const lines = this.connections.at(-1) ?? [];
        if (!lines.includes(wanted) && this.open) return;
        this.waiting.delete(look);
        if (lines.includes(wanted)) resolve();
        else reject(new Error(`The connection ended without "${wanted}". It showed: ${lines.join(' | ')}`));
      };
      this.waiting.add(look);
      look();
    });
  }

  private async read(body: AsyncIterable<Uint8Array>, lines: string[]): Promise<'ended' | 'cut'> {
    const parser = createParser({
      onEvent: ({ id, data }) => {
        const event = JSON.parse(data) as Shown;
        if (event.offset !== undefined) this.offsets.push(event.offset);
        if (id !== undefined) this.lastId = id;
        addLine(lines, event);
        this.wake();
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
      return 'ended';
    } catch {
      return 'cut';
    }
  }

  private wake(): void {
    this.waiting.forEach((look) => look());
  }
}
