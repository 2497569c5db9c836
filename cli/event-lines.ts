import { cancelRequestText, cancelStartText, reconcileText } from './cancel-words';
import { isDelta, type Delta } from '../contract/deltas';
import type { RunEvent } from '../contract/events';
import { isPolicyApplied, type AskingPolicy } from '../contract/decisions';
import { externalCallIn } from '../contract/external-calls';
import type { InDoubtInfo, Interrupt } from '../contract/interrupts';
import { askedAt, askedText } from '../contract/who-may-answer';
import { textOf, type Json, type StoredMessage, type Usage } from '../contract/messages/messages';
import { LiveText } from './live-text';
import { oneLine, type Terminal } from './terminal';
import { timeText } from './times';

const longestResult = 300;

export class EventLines {
  private lastText = '';
  private models = new Set<string>();
  private isConversation = false;
  private readonly live: LiveText;

  constructor(private readonly terminal: Terminal) {
    this.live = new LiveText(terminal, path);
  }

  break(): void {
    this.live.break();
  }

  show(event: RunEvent | Delta): void {
    if (isDelta(event)) return this.live.take(event);
    const { dim, cyan, red, green, yellow, bold } = this.terminal.paint;
    const write = (line: string): void => {
      this.live.break();
      this.terminal.write(line);
    };
    const writeText = (text: string): void => {
      this.live.break();
      this.terminal.writeText(text);
    };
    switch (event.type) {
      case 'model-start':
        return this.live.over(event.runPath);
      case 'model-end':
      case 'agent-message': {
        if (event.type === 'model-end') this.models.add(event.model);
        const isShown = event.type === 'model-end' && this.live.end(event);
        const text = textOf(event.message).trim();
        if (text === '') return;
        this.lastText = text;
        return isShown ? undefined : writeText(`${path(event.runPath)}${text}`);
      }
      case 'agent-end':
        if (event.error === undefined) return;
        return write(`${red('✗')} ${path(event.runPath)}${dim(oneLine(event.error.message, longestResult))}`);
      case 'model-retry': {
        this.live.over(event.runPath);
        const again = event.last === true ? 'the answer does not count' : 'the model is asked again';
        const next = event.failover === undefined ? again : `${oneLine(event.failover.model)} is asked`;
        return write(`${yellow('!')} ${path(event.runPath)}${next}: ${dim(oneLine(event.error.message, longestResult))}`);
      }
      case 'model-wait': {
        const waits = [
          ...(event.turnMs > 0 ? [`${seconds(event.turnMs)} for its turn`] : []),
          ...(event.busyMs > 0 ? [`${seconds(event.busyMs)} for the provider`] : []),
        ];
        return write(dim(`· ${path(event.runPath)}the model call waited ${waits.join(' and ')}`));
      }
      case 'tool-start':
        return write(`${cyan('→')} ${path(event.runPath)}${bold(event.tool)} ${oneLine(event.input)}`);
      case 'tool-end':
        return write(
          `${(event.error === undefined ? cyan : red)('←')} ${path(event.runPath)}${bold(event.tool)} ${dim(oneLine(resultOf(event.message), longestResult))}`,
        );
      case 'interrupt-end': {
        const how =
          event.reason === 'answer'
            ? `${isPolicyApplied(event.answer) ? 'asked again, as its policy was applied' : 'answered'}${who(event)}`
            : event.reason === 'deadline'
              ? 'nobody answered in time'
              : 'cancelled';
        return write(
          `${green('✓')} ${event.interruptId}: ${how}${event.reason === 'cancel' ? '' : ` ${dim(oneLine(event.answer, longestResult))}`}`,
        );
      }
      case 'interrupt-remind':
        return write(`${yellow('!')} ${event.interruptId}: nobody has answered yet`);
      case 'interrupt-escalate':
        return write(
          `${yellow('!')} ${event.interruptId}: nobody has answered yet, and ${oneLine(askedText(event))} may as well from now on`,
        );
      case 'resume-ignored':
        return write(`${yellow('!')} an answer to ${event.interruptId} was not taken: ${event.code}`);
      case 'custom':
        return write(dim(`· ${oneLine(event.name)} ${oneLine(event.data, longestResult)}`));
      case 'tool-reconcile':
        return write(`${yellow('?')} ${path(event.runPath)}${bold(event.tool)} was asked: ${oneLine(reconcileText(event), longestResult)}`);
      case 'cancel-request':
        return write(`${yellow('!')} the run is asked to stop ${oneLine(cancelRequestText(event), longestResult)}`);
      case 'cancel-start':
        return write(`${yellow('!')} the run stops ${oneLine(cancelStartText(event), longestResult)}`);
      case 'run-resume':
        return write(`${yellow('!')} the cancelled run goes on${who(event, ', by ')}`);
      case 'message':
        return writeText(`${dim('>')} ${event.by === undefined ? '' : `${bold(oneLine(event.by))}: `}${textOf(event.message)}`);
      case 'message-ignored':
        return write(`${yellow('!')} the message ${oneLine(event.id)} was not taken: ${event.code}`);
      case 'turn-end':
        if (event.status === 'failed')
          write(`${yellow('!')} turn ${event.turn} failed: ${oneLine(`${event.error?.code ?? ''}: ${event.error?.message ?? ''}`)}`);
        if (event.status === 'stopped') write(dim(`· turn ${event.turn} was stopped`));
        return;
      case 'conversation-change':
        this.isConversation = true;
        return write(dim(`· ${event.change === 'stopping' ? 'the turn' : 'the conversation'} is ${event.change}${who(event)}`));
      case 'run-retry':
        return write(`${yellow('!')} the failed run is tried again${who(event)}`);
      case 'run-end': {
        this.live.over(undefined);
        if (this.isConversation) return;
        const answer =
          typeof event.output === 'string' || event.output === undefined
            ? (event.text ?? event.output ?? '')
            : JSON.stringify(event.output, null, 2);
        if (event.status === 'completed' && answer.trim() !== this.lastText) writeText(answer.trim());
        for (const { id, name, input } of event.pendingToolCalls ?? [])
          write(`${yellow('→')} ${bold(name)} ${oneLine(input)} ${dim(`(${oneLine(id)}) is yours to make: no worker runs it`)}`);
        return;
      }
      // The ends of these steps or the command say the same.
      case 'run-start':
      case 'turn-start':
      case 'message-queued':
      case 'message-changed':
      case 'message-withdrawn':
      case 'agent-start':
      case 'interrupt-start':
        return;
      default:
        return unshown(event);
    }
  }

  usageLine(id: string, usage: Usage): string {
    const model = this.models.size === 0 ? '' : `${[...this.models].join(', ')} · `;
    return this.terminal.paint.dim(`${model}${usage.inputTokens} tokens in, ${usage.outputTokens} out · run ${id}`);
  }
}

function unshown(event: never): void {
  return void event;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function who({ by: name }: { readonly by?: string }, before = ' by '): string {
  return name === undefined ? '' : `${before}${oneLine(name)}`;
}

function path(runPath: readonly string[]): string {
  return runPath.length > 1 ? `[${oneLine(runPath.slice(1).join(' › '))}] ` : '';
}

function resultOf(message: StoredMessage): Json {
  const result = message.parts.find((part) => part.type === 'tool-result');
  return result === undefined ? textOf(message) : result.output;
}

/** Names the agent if the agent is not `root`. */
export function interruptLines(interrupt: Interrupt, terminal: Terminal, root = interrupt.address[0]): readonly string[] {
  const { yellow, bold, dim } = terminal.paint;
  const until = interrupt.deadline === undefined ? '' : dim(`  until ${timeText(interrupt.deadline)}`);
  const asked = askedAt(interrupt, Date.now());
  const isOpen = asked.by === undefined && asked.roles === undefined;
  const notBy = interrupt.notBy === undefined || interrupt.notBy.length === 0 ? '' : `, not ${interrupt.notBy.join(', ')}`;
  const whom = isOpen && notBy === '' ? '' : dim(`  for ${oneLine(`${askedText(asked)}${notBy}`)}`);
  const who = interrupt.agent === root ? '' : `[${oneLine(interrupt.agent)}] `;
  if (interrupt.kind === 'approval') {
    const options = interrupt.options === undefined ? [] : [dim(`  options: ${oneLine(interrupt.options)}`)];
    const why = interrupt.problem === undefined ? [] : [`  ${yellow(oneLine(interrupt.problem))}`];
    return [
      `${yellow('?')} ${who}${bold(interrupt.tool)} needs an approval${until}${whom}`,
      ...policyLines(interrupt.policy, dim),
      ...why,
      ...indented(interrupt.input),
      ...options,
    ];
  }
  const call = externalCallIn(interrupt);
  if (call !== undefined)
    return [`${yellow('?')} ${who}${bold(call.tool)} is called outside of the run, which waits for its result`, ...indented(call.input)];
  const what = interrupt.kind === 'in-doubt' ? 'Nobody knows whether this happened' : 'The run has a question';
  const schema = interrupt.answerSchema === undefined ? [] : [dim(`  answer: ${oneLine(interrupt.answerSchema)}`)];
  const info = interrupt.kind === 'in-doubt' ? withReadableTimes(interrupt.info) : interrupt.info;
  return [`${yellow('?')} ${who}${bold(what)}${until}${whom}`, ...indented(info), ...schema];
}

function withReadableTimes(info: Json): Json {
  const { firstAt, lastAt, ...facts } = info as InDoubtInfo;
  const times = {
    ...(firstAt === undefined ? {} : { firstAt: timeText(firstAt) }),
    ...(lastAt === undefined ? {} : { lastAt: timeText(lastAt) }),
  };
  return { ...facts, ...times };
}

function policyLines(policy: AskingPolicy | undefined, dim: (text: string) => string): readonly string[] {
  if (policy === undefined) return [];
  const { name, version, stage, given } = policy;
  const have = given.filter(({ stage: number, type }) => number === stage.number && type === 'approve').length;
  const title = stage.name === undefined ? '' : ` (${stage.name})`;
  const where = `policy ${name} @${version}, stage ${stage.number} of ${stage.of}${title}, ${have} of ${stage.need} approved`;
  return [
    dim(`  ${oneLine(where)}`),
    ...given.map(({ type, by = 'nobody', to, comment }) => {
      const what =
        type === 'expired' ? 'nobody decided in time' : type === 'delegate' ? `${by} handed it to ${to ?? ''}` : `${by} approved`;
      return dim(`  ${oneLine(what)}${comment === undefined ? '' : `: ${oneLine(comment)}`}`);
    }),
  ];
}

function indented(value: Json): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.split('\n').map((line) => `    ${line}`);
}
