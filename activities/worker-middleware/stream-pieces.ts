import { same } from '../../contract/middleware-changes';

export class StreamPieces {
  private readonly known = new WeakSet<object>();
  private came = 0;
  private went = 0;
  private textIn = '';
  private textOut = '';
  private hasOwn = false;

  comes(piece: unknown): void {
    if (typeof piece === 'string') this.textIn += piece;
    else this.came += 1;
    if (typeof piece === 'object' && piece !== null) this.known.add(piece);
  }

  goes(piece: unknown, last: unknown): void {
    if (typeof piece === 'string') {
      this.textOut += piece;
      return;
    }
    this.went += 1;
    this.hasOwn ||= !(typeof piece === 'object' && piece !== null && this.known.has(piece)) && !same(piece, last);
  }

  get areOthers(): boolean {
    return this.hasOwn || this.went !== this.came || this.textIn !== this.textOut;
  }
}
