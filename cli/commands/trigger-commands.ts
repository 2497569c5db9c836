import type { FoundService } from '../found-service';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import type { Terminal } from '../terminal';
import { timeText } from '../times';

export async function listTriggers(service: FoundService, terminal: Terminal, { json }: JsonFlag): Promise<number> {
  const triggers = await service.triggers();
  if (json === true) return writeJson(terminal, { triggers });
  if (triggers.length === 0) return told(terminal, 'The configuration has no triggers.');
  const rows = triggers.map(({ name, from }) => [name, from, `${service.url}/v1/triggers/${name}`]);
  writeTable(terminal, rows, ['TRIGGER', 'FROM', 'URL']);
  return exitCodes.done;
}

export async function listDeliveries(service: FoundService, terminal: Terminal, trigger: string, { json }: JsonFlag): Promise<number> {
  const answer = await service.deliveries(trigger);
  if (json === true) return writeJson(terminal, answer);
  if (answer.deliveries.length === 0) return told(terminal, 'No delivery is kept.');
  const rows = answer.deliveries.map(({ id, at, problem }) => [
    id,
    timeText(at),
    problem === undefined ? 'the start broke off' : `${problem.code}: ${problem.message}`,
  ]);
  writeTable(terminal, rows, ['DELIVERY', 'AT', 'PROBLEM']);
  if (answer.more) terminal.write(terminal.paint.dim('Older deliveries are kept, too.'));
  return exitCodes.done;
}

/** Exit code 1: the delivery is still kept. */
export async function replayDelivery(service: FoundService, terminal: Terminal, trigger: string, id: string): Promise<number> {
  const outcome = await service.replayDelivery(trigger, id);
  if ('run' in outcome) return told(terminal, `The delivery started the run ${outcome.run}.`);
  if ('ignored' in outcome) return told(terminal, 'The trigger ignores the delivery.');
  terminal.write(`The delivery is still kept. Its problem: npx holdfast triggers deliveries ${trigger}`);
  return exitCodes.failed;
}
