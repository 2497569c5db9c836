import type { FoundService } from '../found-service';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import type { Terminal } from '../terminal';
import { timeText } from '../times';

const mostShown = 1000;

export async function listNotices(service: FoundService, terminal: Terminal, { json }: JsonFlag): Promise<number> {
  const answer = await service.notices({ limit: mostShown });
  if (json === true) return writeJson(terminal, answer);
  if (answer.notices.length === 0) return told(terminal, 'No notice waits for its receiver.');
  const notices = [...answer.notices].sort((one, other) => one.at.localeCompare(other.at));
  const rows = notices.map(({ id, state, type, run, to, at, problem }) => [id, state, type, run, to, timeText(at), problem?.message ?? '']);
  writeTable(terminal, rows, ['NOTICE', 'STATE', 'TYPE', 'RUN', 'TO', 'AT', 'PROBLEM']);
  if (answer.more) terminal.write(terminal.paint.dim('There are more notices.'));
  return exitCodes.done;
}

export async function sendNotice(service: FoundService, terminal: Terminal, id: string): Promise<number> {
  await service.sendNotice(id);
  return told(terminal, 'The receiver has taken the notice.');
}

export async function dropNotice(service: FoundService, terminal: Terminal, id: string): Promise<number> {
  await service.dropNotice(id);
  return told(terminal, 'The notice is dropped.');
}
