import { HoldfastError } from '../../contract/errors';

export function closedClient(): HoldfastError {
  return new HoldfastError('client-closed', 'This client is closed.');
}

export class OpenWork {
  private readonly refusals = new Set<(error: HoldfastError) => void>();
  private isClosed = false;

  checkOpen(): void {
    if (this.isClosed) throw closedClient();
  }

  async wait<T>(begin: () => Promise<T>): Promise<T> {
    this.checkOpen();
    const work = begin();
    return new Promise<T>((resolve, reject) => {
      this.refusals.add(reject);
      const done = (): void => void this.refusals.delete(reject);
      work.then(resolve, reject).finally(done);
    });
  }

  close(): void {
    this.isClosed = true;
    for (const refuse of this.refusals) refuse(closedClient());
    this.refusals.clear();
  }
}
