import type { Command } from 'commander';
import { findService } from './find-service';
import type { FoundService } from './found-service';
import type { Terminal } from './terminal';

type Act<Args, Flags> = (service: FoundService, args: Args, flags: Flags) => Promise<number>;

export type ToService = (
  usage: string,
  description: string,
  options?: (command: Command) => Command,
) => <Args extends readonly unknown[], Flags>(act: Act<Args, Flags>) => void;

export function serviceCommands(program: Command, terminal: Terminal, exit: (code: number) => void): ToService {
  const say = (text: string): void => terminal.writeError(terminal.paint.dim(text));
  return (usage, description, options = (command) => command) =>
    <Args extends readonly unknown[], Flags>(act: Act<Args, Flags>): void => {
      const command = options(program.command(usage).description(description)).option('--url <url>', 'address of the service');
      command.action(async (...received: unknown[]) => {
        const { url, ...flags } = received.at(-2) as { url?: string; ids?: true; names?: true };
        // Completion in a shell does not wait for a service.
        const isAtOnce = flags.ids === true || flags.names === true;
        const service = await findService(url, process.env, isAtOnce ? { say } : { ms: 5_000, say });
        exit(await act(service, received.slice(0, -2) as unknown as Args, flags as Flags));
      });
    };
}
