import type { BatchQuery, StopBatchRequest } from '../client/http/requests';
import type { BatchFlags } from './commands/batch-commands';
import { filled, json, several } from './option-values';
import type { JsonFlag } from './output';
import { serviceCommands, type ToService } from './service-command';
import type { Command } from 'commander';
import type { Terminal } from './terminal';

export function addBatchCommands(program: Command, toService: ToService, terminal: Terminal, exit: (code: number) => void): void {
  const load = () => import('./commands/batch-commands.js');
  toService('batch <file>', 'Starts a run for each JSON line of a file (- is stdin), and shows the progress.', (command) =>
    command
      .requiredOption('--agent <agent>', 'agent of the runs', filled('--agent'))
      .option('--id <id>', 'id of the batch (default: made of the agent and the lines)', filled('--id'))
      .option('--concurrency <count>', 'number of runs at work at once (default: 20)', filled('--concurrency'))
      .option('--per-minute <count>', 'number of starts in a minute (default: no limit)', filled('--per-minute'))
      .option('--out <file>', 'file for a line of result per line, at the end', filled('--out'))
      .option('--tag <tag>', 'a tag of the runs; repeatable', several())
      .option('--detach', 'do not wait for the end'),
  )(async (service, [file]: readonly [string], flags: BatchFlags) => (await load()).runBatch(service, terminal, file, flags));
  const toBatches = serviceCommands(program.command('batches').description('Batches of runs.'), terminal, exit);
  toBatches('list', 'Lists batches.', (command) =>
    command
      .option(...json)
      .option('--limit <count>', 'number of rows (default 50)', filled('--limit'))
      .option('--after <cursor>', 'continue after a page; the last line of the page has the cursor', filled('--after')),
  )(async (service, _, flags: BatchQuery & JsonFlag) => (await load()).listBatches(service, terminal, flags));
  toBatches('show <batch>', 'Shows the progress of a batch.', (command) => command.option(...json))(
    async (service, [id]: readonly [string], flags: JsonFlag) => (await load()).showBatch(service, terminal, id, flags),
  );
  toBatches('stop <batch>', 'Starts no more runs of a batch.', (command) =>
    command.option('--cancel-runs', 'also ask its open runs to stop'),
  )(async (service, [id]: readonly [string], flags: StopBatchRequest) => (await load()).stopBatch(service, terminal, id, flags));
}
