import type { LanguageModel } from '../../activities/models/language-model';
import type { Delta } from '../../contract/deltas';
import type { Json, Message } from '../../contract/messages/messages';
import type { Agent } from '../../kernel/define/agent-ref';
import type { Outcome } from '../../client/reading/outcome';
import type { ScriptedModel, ScriptedStep } from '../../testing/index';
import { scriptedModel } from '../../testing/index';
import { lineOf } from '../support/memory-bed';
import type { Engine, Play, Played } from './engines';

export interface AskedOn {
  readonly run: Played;
  readonly outcome: Outcome<unknown>;
  readonly requests: ScriptedModel['requests'];
  readonly lines: readonly string[];
  readonly transcript: readonly string[];
  readonly outputs: readonly Json[];
  readonly shown: readonly string[];
}

export interface AskingOn extends Partial<Omit<Play, 'input' | 'model' | 'onDelta'>> {
  readonly models?: Readonly<Record<string, LanguageModel>>;
  readonly steps?: readonly ScriptedStep[];
  readonly onPiece?: (piece: string) => void;
}

export async function askedOn(
  engine: Engine,
  agent: Agent<string, Json, unknown>,
  input: string | readonly Message[],
  { models = {}, steps = [{ text: 'Done.' }], onPiece = () => undefined, ...play }: AskingOn = {},
): Promise<AskedOn> {
  const main = scriptedModel(steps);
  const shown: string[] = [];
  const hear = (delta: Delta): void => {
    if (delta.type !== 'tool-output-delta') return;
    const piece = String((delta as { text?: string }).text);
    shown.push(piece);
    onPiece(piece);
  };
  const run = await engine.play(agent, {
    input: input as never,
    model: { model: (name) => models[name] ?? main },
    onDelta: hear,
    ...play,
  });
  const outcome = await run.outcome();
  const messages = await run.messages();
  return {
    run,
    outcome,
    requests: main.requests,
    lines: (main.requests[0]?.messages ?? []).map(lineOf),
    transcript: messages.map(lineOf),
    outputs: messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))),
    shown,
  };
}
